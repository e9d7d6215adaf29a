/** What may become of a pod that is there: little of its spec may change. */
import { deepEqual } from "@lotse/client/meta";
import { forbiddenField, invalidValue, required, Verbatim } from "../../fields.ts";
import { goPodSpec } from "../go-pod.ts";
import { diffOf } from "../line-diff.ts";
import { checkAnnotationUpdates, checkPodAnnotations, isMirror } from "./annotations.ts";
import { checkRange, type Errors, type Fields, isSet, number, struct, structs, text } from "./check.ts";
import { checkImageSpaces } from "./containers.ts";
import { checkTolerations } from "./scheduling.ts";
import { checkPod } from "./spec.ts";

const LARGEST_DEADLINE = 2_147_483_647;
const POD_UPDATES =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const annotationsOf = (pod: Fields): Fields => struct(struct(pod.metadata)?.annotations) ?? {};
const specOf = (pod: Fields): Fields => struct(pod.spec) ?? {};

/** What every change of a pod must comply with: its annotations are looked at once with it, and once as a change. */
export function checkChangedPod(pod: Fields, old: Fields, errors: Errors): void {
  checkPod(pod, errors);
  checkAnnotationUpdates(annotationsOf(pod), annotationsOf(old), "metadata.annotations", errors);
  checkPodAnnotations(annotationsOf(pod), specOf(pod), "metadata.annotations", errors);
}

/** An update by any client; `binding` when a scheduler puts the pod on its node. */
export function checkPodUpdate(pod: Fields, old: Fields, binding: boolean, errors: Errors): void {
  checkChangedPod(pod, old, errors);
  const spec = specOf(pod);
  const before = specOf(old);
  for (const list of ["containers", "initContainers"]) {
    const containers = structs(spec[list]);
    if (containers.length !== structs(before[list]).length) {
      errors.push(forbiddenField(`spec.${list}`, "pod updates may not add or remove containers"));
      return;
    }
    for (const [i, container] of containers.entries()) {
      if (text(container.image) === "") errors.push(required(`spec.${list}[${i}].image`));
      checkImageSpaces(container, `spec.${list}[${i}]`, errors);
    }
  }
  if (!checkDeadline(spec, before, errors)) return;
  checkAddedTolerations(spec, before, errors);
  checkGates(spec, before, errors);
  checkRest(spec, before, binding, errors);
}

/** The time that a pod has may only become shorter. False when nothing else is worth a look. */
function checkDeadline(spec: Fields, before: Fields, errors: Errors): boolean {
  const field = "spec.activeDeadlineSeconds";
  if (!isSet(spec.activeDeadlineSeconds)) {
    if (!isSet(before.activeDeadlineSeconds)) return true;
    errors.push(invalidValue(field, null, "must not update from a positive integer to nil value"));
    return true;
  }
  const now = number(spec.activeDeadlineSeconds);
  const found = errors.length;
  checkRange(now, 0, LARGEST_DEADLINE, field, errors);
  if (errors.length > found) return false;
  if (!isSet(before.activeDeadlineSeconds) || now <= number(before.activeDeadlineSeconds)) return true;
  errors.push(invalidValue(field, now, "must be less than or equal to previous value"));
  return false;
}

function checkAddedTolerations(spec: Fields, before: Fields, errors: Errors): void {
  const now = structs(spec.tolerations);
  const kept = structs(before.tolerations).every((old) => now.some((item) => isSameToleration(item, old)));
  if (kept) checkTolerations(now, "spec.tolerations", errors);
  else {
    const detail = "existing toleration can not be modified except its tolerationSeconds";
    errors.push(forbiddenField("spec.tolerations", detail));
  }
}

const isSameToleration = (a: Fields, b: Fields): boolean =>
  ["key", "operator", "value", "effect"].every((field) => text(a[field]) === text(b[field]));

function checkGates(spec: Fields, before: Fields, errors: Errors): void {
  const added = new Map(structs(spec.schedulingGates).map(({ name }, i) => [text(name), i]));
  for (const { name } of structs(before.schedulingGates)) added.delete(text(name));
  for (const [name, i] of added) {
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.push(forbiddenField(`spec.schedulingGates[${i}].name`, detail));
  }
}

/** Everything that has no rule of its own stays as it is. */
function checkRest(spec: Fields, before: Fields, binding: boolean, errors: Errors): void {
  if (spec === before) return;
  const masked: Record<string, unknown> = { ...spec };
  for (const field of ["activeDeadlineSeconds", "schedulingGates", "tolerations"]) masked[field] = before[field];
  // Only a binding puts a pod on a node.
  if (binding) masked.nodeName = before.nodeName;
  for (const list of ["containers", "initContainers"]) {
    if (!Array.isArray(spec[list])) continue;
    const old = structs(before[list]);
    masked[list] = structs(spec[list]).map((container, i) => ({ ...container, image: old[i]?.image }));
  }
  if (number(before.terminationGracePeriodSeconds) < 0 && masked.terminationGracePeriodSeconds === 1) {
    masked.terminationGracePeriodSeconds = before.terminationGracePeriodSeconds;
  }
  if (structs(before.schedulingGates).length > 0) allowGated(masked, before, errors);
  if (sameFields(masked, before)) return;
  errors.push(forbiddenField("spec", `${POD_UPDATES}\n${diffOf(goPodSpec(before), goPodSpec(masked))}`));
}

/** Whether two structs are the same, where a field that is absent is the same as an empty one. */
function sameFields(a: Fields, b: Fields): boolean {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (!deepEqual(a[key], b[key]) && !(isEmpty(a[key]) && isEmpty(b[key]))) return false;
  }
  return true;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** A pod that waits for its gates may still be told more about where it may run. */
function allowGated(masked: Record<string, unknown>, before: Fields, errors: Errors): void {
  const selector = struct(masked.nodeSelector) ?? {};
  const kept = Object.entries(struct(before.nodeSelector) ?? {}).every(([key, value]) => selector[key] === value);
  if (!kept) {
    const detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    errors.push(invalidValue("spec.nodeSelector", masked.nodeSelector ?? null, detail));
  }
  masked.nodeSelector = before.nodeSelector;
  const now = struct(struct(masked.affinity)?.nodeAffinity);
  const then = struct(struct(before.affinity)?.nodeAffinity);
  if (deepEqual(now, then)) return;
  checkNodeAffinityChange(now, then, "spec.affinity.nodeAffinity", errors);
  const { nodeAffinity: _, ...others } = struct(masked.affinity) ?? {};
  const affinity = then === undefined ? others : { ...others, nodeAffinity: then };
  masked.affinity = Object.keys(affinity).length === 0 && !isSet(before.affinity) ? undefined : affinity;
}

function checkNodeAffinityChange(
  now: Fields | undefined,
  then: Fields | undefined,
  path: string,
  errors: Errors,
): void {
  const needed = "requiredDuringSchedulingIgnoredDuringExecution";
  const oldTerms = structs(struct(then?.[needed])?.nodeSelectorTerms);
  const terms = structs(struct(now?.[needed])?.nodeSelectorTerms);
  const here = `${path}.${needed}.nodeSelectorTerms`;
  if (oldTerms.length === 0) return;
  if (oldTerms.length !== terms.length) {
    const detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    const shown = struct(now?.[needed]) === undefined ? "null" : `[${terms.map(termText).join(",")}]`;
    errors.push(invalidValue(here, new Verbatim(shown), detail));
    return;
  }
  for (const [i, old] of oldTerms.entries()) {
    const term = terms[i] as Fields;
    if (onlyAdds(term, old)) continue;
    const detail = "only additions are allowed (no mutations or deletions)";
    errors.push(invalidValue(`${here}[${i}]`, new Verbatim(termText(term)), detail));
  }
}

function onlyAdds(term: Fields, old: Fields): boolean {
  const lists = ["matchExpressions", "matchFields"];
  // A term without anything matches nothing, and goes on doing so.
  if (lists.every((list) => structs(old[list]).length === 0)) {
    return lists.every((list) => structs(term[list]).length === 0);
  }
  return lists.every((list) => {
    const before = structs(old[list]);
    return deepEqual(structs(term[list]).slice(0, before.length), before);
  });
}

/** A term as errors print it: with the names of the server's own fields. */
function termText(term: Fields): string {
  const own = (list: unknown) =>
    Array.isArray(list)
      ? structs(list).map(({ key, operator, values }) => ({
          Key: text(key),
          Operator: text(operator),
          Values: values ?? null,
        }))
      : null;
  return JSON.stringify({ MatchExpressions: own(term.matchExpressions), MatchFields: own(term.matchFields) });
}

/** Ephemeral containers are there for good: more may come, none may go or change. */
export function checkVisitors(pod: Fields, old: Fields, errors: Errors): void {
  checkChangedPod(pod, old, errors);
  if (isMirror(annotationsOf(old))) {
    errors.splice(0, errors.length, forbiddenField("", "static pods do not support ephemeral containers"));
    return;
  }
  const field = "spec.ephemeralContainers";
  const now = new Map(structs(specOf(pod).ephemeralContainers).map((item) => [text(item.name), item]));
  for (const before of structs(specOf(old).ephemeralContainers)) {
    const same = now.get(text(before.name));
    const who = JSON.stringify(text(before.name));
    if (!same) errors.push(forbiddenField(field, `existing ephemeral containers ${who} may not be removed\n`));
    else if (!deepEqual(same, before)) {
      errors.push(forbiddenField(field, `existing ephemeral containers ${who} may not be changed\n`));
    }
  }
}
