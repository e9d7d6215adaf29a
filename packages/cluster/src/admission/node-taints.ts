import { ensureObject, listAt } from "../registry/index.ts";
import type { AdmissionPlugin } from "./chain.ts";

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
/** Whom this cluster's own kubelet and controllers write as. */
const ITSELF = "system:apiserver";

/**
 * A new node takes no pods until a controller has seen that it is ready. That of this cluster's own kubelet is ready when
 * it appears.
 */
export function nodeTaints(): AdmissionPlugin {
  return {
    mutate({ endpoint, operation, subresource, object, user }) {
      if (endpoint.resource.table !== "nodes" || operation !== "CREATE" || subresource !== undefined) return object;
      if (!object || user.username === ITSELF) return object;
      const spec = ensureObject(object, "spec");
      const taints = listAt(spec, "taints");
      const known = taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect);
      if (!known) spec.taints = [...taints, { ...NOT_READY }];
      return object;
    },
  };
}
