import { deepEqual } from "@lotse/client/meta";
import {
  type AdmissionAttributes,
  type Amount,
  fromStore,
  NOTHING,
  objectAt,
  podAmounts,
  readAmounts,
  StatusError,
} from "../registry/index.ts";
import type { AdmissionPlugin } from "./chain.ts";
import { type AdmissionBackend, refused } from "./request.ts";

/** Refuses to resize a pod beyond what its node could ever give it. */
export function podResize({ store }: AdmissionBackend): AdmissionPlugin {
  return {
    validate(attributes) {
      const { endpoint, operation, subresource, object, oldObject } = attributes;
      if (endpoint.resource.table !== "pods" || subresource !== "resize" || operation !== "UPDATE") return;
      const { nodeName } = objectAt(object, "spec");
      if (typeof nodeName !== "string" || nodeName === "" || !object || deepEqual(object.spec, oldObject?.spec)) return;
      const entry = store.get("nodes", nodeName);
      if (!entry) throw refused(attributes, `node ${JSON.stringify(nodeName)} not found`);
      const node = fromStore(entry.object);
      const system = node.metadata.labels?.["kubernetes.io/os"];
      if (system !== undefined && system !== "linux") {
        const text = `pod resize is only supported on linux nodes, node ${JSON.stringify(nodeName)} is ${JSON.stringify(system)}`;
        throw because(attributes, text, "UnsupportedPlatform");
      }
      const lacking = lackingOf(podAmounts(object, "requests"), readAmounts(objectAt(node, "status").allocatable));
      if (lacking.length > 0) {
        const text = `node didn't have enough allocatable resources: ${lacking.join("; ")}`;
        throw because(attributes, text, "NodeCapacity");
      }
    },
  };
}

function lackingOf(requests: ReadonlyMap<string, Amount>, allocatable: ReadonlyMap<string, Amount>): string[] {
  return (["cpu", "memory"] as const).flatMap((name) => {
    const wanted = requests.get(name) ?? NOTHING;
    const all = allocatable.get(name) ?? NOTHING;
    if (wanted.nanos <= all.nanos) return [];
    const size = name === "cpu" ? 1_000_000n : 1_000_000_000n;
    const units = ({ nanos }: Amount) => (nanos + size - 1n) / size;
    return [`${name}, requested: ${units(wanted)}, allocatable: ${units(all)}`];
  });
}

function because(attributes: AdmissionAttributes, message: string, reason: string): StatusError {
  const { code, reason: kind, details, message: told } = refused(attributes, message);
  return new StatusError({ code, reason: kind, message: told, details: { ...details, causes: [{ reason }] } });
}
