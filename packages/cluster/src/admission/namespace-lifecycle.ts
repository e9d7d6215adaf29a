import { forbidden, fromStore, notFound } from "../registry/index.ts";
import type { Store } from "../store/index.ts";
import type { AdmissionPlugin } from "./chain.ts";

const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

/** Nothing is created in a namespace that is not there or is going, and some namespaces never go. */
export function namespaceLifecycle(store: Store): AdmissionPlugin {
  return {
    mutate({ operation, endpoint, namespace, name, object }) {
      const { resource } = endpoint;
      if (operation === "DELETE" && resource.group === "" && resource.plural === "namespaces" && IMMORTAL.has(name)) {
        throw forbidden(resource, name, "this namespace may not be deleted");
      }
      if (operation !== "CREATE" || namespace === undefined) return object;
      const entry = store.get("namespaces", namespace);
      if (!entry) throw notFound({ group: "", plural: "namespaces" }, namespace);
      if (fromStore(entry.object).metadata.deletionTimestamp !== undefined) {
        const text = `unable to create new content in namespace ${namespace} because it is being terminated`;
        throw forbidden(resource, name, text, [
          {
            reason: "NamespaceTerminating",
            message: `namespace ${namespace} is being terminated`,
            field: "metadata.namespace",
          },
        ]);
      }
      return object;
    },
  };
}
