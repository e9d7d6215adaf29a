import { deepClone } from "@lotse/client/meta";
import { type ApiObject, listAt, objectAt } from "../object.ts";

/**
 * Guaranteed: every container's limits equal its requests for both cpu and memory. BestEffort: no container asks for
 * any.
 */
export function qosClass(pod: ApiObject): string {
  const containers = [...listAt(pod, "spec", "containers"), ...listAt(pod, "spec", "initContainers")];
  const parts = containers.flatMap((container) =>
    ["cpu", "memory"].map((name) => ({
      limit: objectAt(container, "resources", "limits")[name],
      request: objectAt(container, "resources", "requests")[name],
    })),
  );
  if (parts.every(({ limit, request }) => limit === undefined && request === undefined)) return "BestEffort";
  return parts.every(({ limit, request }) => limit !== undefined && (request ?? limit) === limit)
    ? "Guaranteed"
    : "Burstable";
}

/**
 * Puts back what a subresource of pods does not change; changes `fresh`. False for other subresources, which say
 * themselves what they write.
 */
export function narrowPod(subresource: string, fresh: ApiObject, old: ApiObject): boolean {
  if (subresource !== "ephemeralcontainers" && subresource !== "resize") return false;
  const { metadata } = fresh;
  const wanted = objectAt(fresh, "spec");
  const spec: Record<string, unknown> = deepClone(objectAt(old, "spec"));
  if (subresource === "resize") {
    const lists = ["containers", "initContainers"];
    // Containers that come or go are left for validation to refuse.
    if (lists.some((list) => listAt(spec, list).length !== listAt(wanted, list).length)) return true;
    for (const list of lists) resizeContainers(spec, list, listAt(wanted, list));
    if (wanted.resources === undefined) delete spec.resources;
    else spec.resources = wanted.resources;
  } else if (wanted.ephemeralContainers === undefined) delete spec.ephemeralContainers;
  else spec.ephemeralContainers = wanted.ephemeralContainers;
  fresh.spec = spec;
  const { resourceVersion, managedFields } = metadata;
  for (const key of Object.keys(metadata)) delete (metadata as Partial<typeof metadata>)[key as keyof typeof metadata];
  Object.assign(metadata, deepClone(old.metadata), { resourceVersion }, managedFields && { managedFields });
  return true;
}

function resizeContainers(spec: Record<string, unknown>, list: string, wanted: readonly Record<string, unknown>[]) {
  const containers = listAt(spec, list);
  // Other names, or another order, are left for validation to refuse.
  if (containers.some(({ name }, i) => wanted[i]?.name !== name)) spec[list] = wanted;
  else {
    for (const [i, container] of containers.entries()) {
      for (const key of ["resources", "resizePolicy"]) {
        if (wanted[i]?.[key] === undefined) delete container[key];
        else container[key] = wanted[i]?.[key];
      }
    }
  }
}
