import { ensureObject, fromStore } from "../registry/index.ts";
import type { AdmissionPlugin } from "./chain.ts";
import type { AdmissionBackend } from "./request.ts";

const CLASSES = "storageclasses.storage.k8s.io";
const DEFAULT = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
const OLD_CLASS = "volume.beta.kubernetes.io/storage-class";

/** Gives claims that name no class the default one. An empty name is a name: no class at all is wanted. */
export function defaultStorageClass({ store }: AdmissionBackend): AdmissionPlugin {
  return {
    mutate({ endpoint, operation, subresource, object }) {
      if (endpoint.resource.table !== "persistentvolumeclaims" || operation !== "CREATE") return object;
      if (!object || subresource !== undefined || store.count(CLASSES) === 0) return object;
      const spec = ensureObject(object, "spec");
      const named = typeof spec.storageClassName === "string" || object.metadata.annotations?.[OLD_CLASS] !== undefined;
      if (named) return object;
      const defaults = store
        .list(CLASSES)
        .map((entry) => fromStore(entry.object).metadata)
        .filter(({ annotations }) => DEFAULT.some((key) => annotations?.[key] === "true"))
        // The newest one, should there be several.
        .sort(
          (a, b) => (b.creationTimestamp ?? "").localeCompare(a.creationTimestamp ?? "") || (a.name < b.name ? -1 : 1),
        );
      if (defaults[0]) spec.storageClassName = defaults[0].name;
      return object;
    },
  };
}
