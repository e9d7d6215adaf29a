/** Pods that get more or less of what they have, while they run. */
import { deepEqual } from "@lotse/client/meta";
import { forbiddenField, invalidValue } from "../../fields.ts";
import { isMirror } from "./annotations.ts";
import { type Errors, type Fields, isSet, struct, structs, text } from "./check.ts";
import { checkPod } from "./spec.ts";

const BASIC = ["cpu", "memory"];
const specOf = (pod: Fields): Fields => struct(pod.spec) ?? {};

/** A change of what containers ask for; `qos` tells the class of a pod. */
export function checkResize(pod: Fields, old: Fields, qos: (pod: Fields) => string, errors: Errors): void {
  checkPod(pod, errors);
  if (isMirror(struct(struct(old.metadata)?.annotations) ?? {})) {
    errors.splice(0, errors.length, forbiddenField("", "static pods cannot be resized"));
    return;
  }
  const spec = specOf(pod);
  const before = specOf(old);
  if (struct(before.os)?.name === "windows") {
    errors.splice(0, errors.length, forbiddenField("", "windows pods cannot be resized"));
    return;
  }
  const then = text(struct(old.status)?.qosClass) || qos(old);
  if (qos(pod) !== then)
    errors.push(invalidValue("spec", then, "Pod QOS Class may not change as a result of resizing"));
  const running = structs(struct(old.status)?.containerStatuses).find((status) => isSet(struct(status.state)?.running));
  if (running !== undefined && !isSet(running.resources)) {
    errors.push(forbiddenField("spec", "Pod running on node without support for resize"));
  }
  checkPodLevel(spec, before, errors);
  if (!checkOrder(spec, before, errors)) return;
  for (const list of ["initContainers", "containers"]) {
    for (const [i, container] of structs(spec[list]).entries()) {
      checkRemoved(container, structs(before[list])[i] as Fields, `spec.${list}[${i}].resources`, errors);
    }
  }
  checkOthers(spec, before, errors);
}

/** Amounts of the pod as a whole. */
function checkPodLevel(spec: Fields, before: Fields, errors: Errors): void {
  const now = struct(spec.resources);
  const then = struct(before.resources);
  const path = "spec.resources";
  if (then === undefined) return;
  if (now === undefined) {
    errors.push(forbiddenField(path, "pod-level resources cannot be removed"));
    return;
  }
  for (const kind of ["requests", "limits"]) {
    if (removed(now[kind], then[kind])) {
      errors.push(forbiddenField(`${path}.${kind}`, `pod-level resource ${kind} cannot be removed`));
    }
  }
  if (!deepEqual(withoutBasics(now), withoutBasics(then))) {
    errors.push(forbiddenField("spec", "only cpu and memory resources are mutable at pod-level"));
  }
}

function checkOrder(spec: Fields, before: Fields, errors: Errors): boolean {
  const found = errors.length;
  for (const list of ["containers", "initContainers"]) {
    const now = structs(spec[list]);
    const then = structs(before[list]);
    if (now.length !== then.length) {
      errors.push(forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`));
      continue;
    }
    for (const [i, { name }] of then.entries()) {
      if (now[i]?.name === name) continue;
      errors.push(forbiddenField(`spec.${list}[${i}].name`, `${list} may not be renamed or reordered on resize`));
    }
  }
  return errors.length === found;
}

function checkRemoved(container: Fields, old: Fields, path: string, errors: Errors): void {
  for (const kind of ["requests", "limits"]) {
    if (!removed(struct(container.resources)?.[kind], struct(old.resources)?.[kind])) continue;
    errors.push(forbiddenField(`${path}.${kind}`, `resource ${kind} cannot be removed`));
  }
}

function removed(now: unknown, then: unknown): boolean {
  const left = struct(now) ?? {};
  return Object.keys(struct(then) ?? {}).some((name) => !Object.hasOwn(left, name));
}

/** Anything else that a container asks for stays. */
function checkOthers(spec: Fields, before: Fields, errors: Errors): void {
  for (const [i, container] of structs(spec.containers).entries()) {
    if (sameButBasics(container, structs(before.containers)[i] as Fields)) continue;
    errors.push(forbiddenField("spec", "only cpu and memory resources are mutable"));
  }
  for (const [i, container] of structs(spec.initContainers).entries()) {
    const old = structs(before.initContainers)[i] as Fields;
    const here = `spec.initContainers[${i}]`;
    if (!sameButBasics(container, old)) {
      errors.push(forbiddenField(here, "only cpu and memory resources for init or sidecar containers are mutable"));
    }
    if (container.restartPolicy === "Always" || deepEqual(container, old)) continue;
    for (const policy of structs(container.resizePolicy)) {
      if (policy.restartPolicy !== "RestartContainer") continue;
      const detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
      errors.push(forbiddenField(here, detail));
    }
  }
}

function sameButBasics(a: Fields, b: Fields): boolean {
  return (
    deepEqual({ ...a, resources: undefined }, { ...b, resources: undefined }) &&
    deepEqual(withoutBasics(struct(a.resources) ?? {}), withoutBasics(struct(b.resources) ?? {}))
  );
}

function withoutBasics(resources: Fields): Record<string, unknown> {
  const rest = (list: unknown) =>
    Object.fromEntries(Object.entries(struct(list) ?? {}).filter(([name]) => !BASIC.includes(name)));
  return { requests: rest(resources.requests), limits: rest(resources.limits) };
}
