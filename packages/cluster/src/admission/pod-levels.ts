import type { AdmissionAttributes } from "../registry/index.ts";
import { type AdmissionBackend, isNamespaces, storedNamespace } from "./request.ts";

/** What the labels of a namespace that are about its pods begin with. */
export const PREFIX = "pod-security.kubernetes.io/";

/** Where the template of pods is, by table. */
export const TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ["replicationcontrollers", ["spec", "template"]],
  ["podtemplates", ["template"]],
  ["replicasets.apps", ["spec", "template"]],
  ["deployments.apps", ["spec", "template"]],
  ["statefulsets.apps", ["spec", "template"]],
  ["daemonsets.apps", ["spec", "template"]],
  ["jobs.batch", ["spec", "template"]],
  ["cronjobs.batch", ["spec", "jobTemplate", "spec", "template"]],
]);

/** Whether a write has to do with the levels of namespaces. Quick: it is asked about every write. */
export function concernsPodSecurity(backend: AdmissionBackend) {
  return ({ endpoint, operation, namespace, object, oldObject }: AdmissionAttributes): boolean => {
    if (operation !== "CREATE" && operation !== "UPDATE") return false;
    if (isNamespaces(endpoint)) {
      return setsPodLevels(object?.metadata?.labels) || setsPodLevels(oldObject?.metadata?.labels);
    }
    const { table } = endpoint.resource;
    if (table !== "pods" && !TEMPLATES.has(table)) return false;
    return setsPodLevels(storedNamespace(backend, namespace ?? "")?.metadata.labels);
  };
}

/** Whether labels say anything about pods at all. */
function setsPodLevels(labels: Readonly<Record<string, string>> | undefined): boolean {
  if (labels === undefined) return false;
  for (const key in labels) if (key.startsWith(PREFIX)) return true;
  return false;
}
