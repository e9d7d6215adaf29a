import { deepClone, deepEqual } from "@lotse/client/meta";
import { type FieldError, forbiddenField, invalidValue } from "./fields.ts";
import { type ApiObject, listAt, objectAt } from "./object.ts";

/** Guaranteed: every container's limits equal its requests for both cpu and memory. BestEffort: nobody asks for any. */
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
    for (const list of ["containers", "initContainers"]) resizeContainers(listAt(spec, list), listAt(wanted, list));
  } else if (wanted.ephemeralContainers === undefined) delete spec.ephemeralContainers;
  else spec.ephemeralContainers = wanted.ephemeralContainers;
  fresh.spec = spec;
  const { resourceVersion, managedFields } = metadata;
  for (const key of Object.keys(metadata)) delete (metadata as Partial<typeof metadata>)[key as keyof typeof metadata];
  Object.assign(metadata, deepClone(old.metadata), { resourceVersion }, managedFields && { managedFields });
  return true;
}

function resizeContainers(containers: readonly Record<string, unknown>[], wanted: readonly Record<string, unknown>[]) {
  for (const container of containers) {
    const asked = wanted.find(({ name }) => name === container.name);
    if (!asked) continue;
    for (const key of ["resources", "resizePolicy"]) if (asked[key] !== undefined) container[key] = asked[key];
  }
}

/** Ephemeral containers are there for good: more may come, none may go or change. */
export function validateEphemeralContainers(object: ApiObject, old: ApiObject): FieldError[] {
  const field = "spec.ephemeralContainers";
  const now = listAt(object, "spec", "ephemeralContainers");
  const errors: FieldError[] = [];
  for (const before of listAt(old, "spec", "ephemeralContainers")) {
    const same = now.find(({ name }) => name === before.name);
    const who = JSON.stringify(before.name);
    if (!same) errors.push(forbiddenField(field, `existing ephemeral containers ${who} may not be removed\n`));
    else if (!deepEqual(same, before)) {
      errors.push(forbiddenField(field, `existing ephemeral containers ${who} may not be changed\n`));
    }
  }
  return errors;
}

export function validateResize(object: ApiObject, old: ApiObject): FieldError[] {
  const before = qosClass(old);
  if (qosClass(object) === before) return [];
  return [invalidValue("spec", before, "Pod QOS Class may not change as a result of resizing")];
}
