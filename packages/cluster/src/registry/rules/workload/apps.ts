/** Kinds that keep pods alive: what they must say, and what of them stays as it is. */

import { deepEqual } from "@lotse/client/meta";
import { type FieldError, forbiddenField, IMMUTABLE, invalidValue, required } from "../../fields.ts";
import type { ApiObject } from "../../object.ts";
import {
  checkAnnotations,
  checkClaimSpec,
  checkLabel,
  checkLabels,
  checkNotNegative,
  checkOneOf,
  checkPodAnnotations,
  checkPodTemplate,
  type Errors,
  type Fields,
  isEmptySelector,
  isSet,
  number,
  selectorText,
  selects,
  struct,
  structs,
  text,
} from "../pod/index.ts";
import { checkCounts, checkDecremented } from "./counts.ts";
import { checkDaemonStrategy, checkDeploymentStrategy, checkStatefulStrategy } from "./rolling.ts";
import {
  checkLasting,
  checkLastingTemplate,
  checkMatch,
  checkOwnSelector,
  labelsOf,
  NO_MATCH,
  templateOf,
} from "./template.ts";

const specOf = (object: ApiObject): Fields => struct(object.spec) ?? {};

/** Selector and template of a Deployment or a ReplicaSet. */
function checkReplicated(spec: Fields, errors: Errors): void {
  const selector = struct(spec.selector);
  if (selector === undefined) errors.push(required("spec.selector"));
  else checkOwnSelector(selector, "deployment", "spec.selector", errors);
  const template = templateOf(spec);
  if (selector !== undefined && !checkMatch(selector, template, "spec.template", errors)) {
    errors.push(invalidValue("spec.selector", selectorText(selector), "invalid label selector"));
    return;
  }
  if (selector === undefined) errors.push(invalidValue("spec.template.metadata.labels", labelsOf(template), NO_MATCH));
  checkLastingTemplate(template, "ReplicaSet", "spec.template", errors);
}

/** A new Deployment. */
export function deployment(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  checkNotNegative(spec.replicas, "spec.replicas", errors);
  checkReplicated(spec, errors);
  checkDeploymentStrategy(struct(spec.strategy) ?? {}, "spec.strategy", errors);
  checkNotNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  checkNotNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit", errors);
  if (isSet(spec.progressDeadlineSeconds)) {
    const field = "spec.progressDeadlineSeconds";
    checkNotNegative(spec.progressDeadlineSeconds, field, errors);
    if (number(spec.progressDeadlineSeconds) <= number(spec.minReadySeconds)) {
      errors.push(invalidValue(field, spec.progressDeadlineSeconds, "must be greater than minReadySeconds"));
    }
  }
  return errors;
}

function checkFixedSelector(object: ApiObject, old: ApiObject, errors: Errors): void {
  const now = struct(specOf(object).selector);
  if (deepEqual(now, specOf(old).selector)) return;
  errors.push(invalidValue("spec.selector", selectorText(now), IMMUTABLE));
}

/** A changed Deployment. */
export function deploymentUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") {
    const errors: FieldError[] = [];
    checkCounts(object, ["updatedReplicas", "readyReplicas", "availableReplicas"], DEPLOYMENT_COUNTS, errors);
    checkDecremented(object, old, errors);
    return errors;
  }
  const errors = deployment(object);
  checkFixedSelector(object, old, errors);
  return errors;
}

const DEPLOYMENT_COUNTS = [
  "observedGeneration",
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "unavailableReplicas",
  "terminatingReplicas",
  "collisionCount",
];

/** A new ReplicaSet. */
export function replicaSet(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  checkNotNegative(spec.replicas, "spec.replicas", errors);
  checkNotNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  checkReplicated(spec, errors);
  return errors;
}

const REPLICA_COUNTS = [
  "replicas",
  "fullyLabeledReplicas",
  "readyReplicas",
  "availableReplicas",
  "observedGeneration",
  "terminatingReplicas",
];
const REPLICA_LIMITED = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];

/** A changed ReplicaSet. */
export function replicaSetUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") {
    const errors: FieldError[] = [];
    checkCounts(object, REPLICA_LIMITED, REPLICA_COUNTS, errors);
    return errors;
  }
  const errors = replicaSet(object);
  checkFixedSelector(object, old, errors);
  return errors;
}

/** A new ReplicationController. */
export function replicationController(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  checkNotNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  const labels = struct(spec.selector) ?? {};
  const empty = Object.keys(labels).length === 0;
  if (empty) errors.push(required("spec.selector"));
  checkNotNegative(spec.replicas, "spec.replicas", errors);
  const template = struct(spec.template);
  if (template === undefined) {
    errors.push(required("spec.template"));
    return errors;
  }
  const own = labelsOf(template);
  if (!Object.entries(labels).every(([key, value]) => own?.[key] === value)) {
    errors.push(invalidValue("spec.template.metadata.labels", own, NO_MATCH));
  }
  checkLastingTemplate(template, "ReplicationController", "spec.template", errors);
  return errors;
}

/** A changed ReplicationController. */
export function replicationControllerUpdate(object: ApiObject, _old: ApiObject, subresource?: string): FieldError[] {
  if (subresource !== "status") return replicationController(object);
  const errors: FieldError[] = [];
  checkCounts(object, REPLICA_LIMITED, REPLICA_COUNTS.slice(0, -1), errors);
  return errors;
}

/** A new DaemonSet. */
export function daemonSet(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  const selector = struct(spec.selector);
  const template = templateOf(spec);
  if (selector === undefined) errors.push(invalidValue("spec.template.metadata.labels", labelsOf(template), NO_MATCH));
  else {
    checkOwnSelectorLast(selector, template, errors);
  }
  checkLastingTemplate(template, "DaemonSet", "spec.template", errors);
  checkNotNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  checkDaemonStrategy(struct(spec.updateStrategy) ?? {}, "spec.updateStrategy", errors);
  checkNotNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit", errors);
  return errors;
}

/** A DaemonSet's selector is told to be empty only after it was tried. */
function checkOwnSelectorLast(selector: Fields, template: Fields, errors: Errors): void {
  const told: Errors = [];
  checkOwnSelector(selector, "daemonset", "spec.selector", told);
  const empty = isEmptySelector(selector) ? told.splice(-1) : [];
  errors.push(...told);
  if (selects(selector, labelsOf(template)) === false) {
    errors.push(invalidValue("spec.template.metadata.labels", labelsOf(template), NO_MATCH));
  }
  errors.push(...empty);
}

const DAEMON_COUNTS = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
];

/** A changed DaemonSet; what may not change is told first. */
export function daemonSetUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  const errors: FieldError[] = [];
  if (subresource === "status") {
    checkCounts(object, [], DAEMON_COUNTS, errors);
    checkDecremented(object, old, errors);
    return errors;
  }
  checkFixedSelector(object, old, errors);
  errors.push(...daemonSet(object));
  return errors;
}

const KEPT = ["Retain", "Delete"];

/** A StatefulSet; what cannot change is looked at only when it is new. */
function checkStatefulSet(spec: Fields, isNew: boolean, errors: Errors): void {
  const policy = text(spec.podManagementPolicy);
  if (policy === "") errors.push(required("spec.podManagementPolicy"));
  else if (policy !== "OrderedReady" && policy !== "Parallel") {
    errors.push(invalidValue("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  checkStatefulStrategy(struct(spec.updateStrategy) ?? {}, "spec.updateStrategy", errors);
  const retention = struct(spec.persistentVolumeClaimRetentionPolicy);
  for (const field of retention === undefined ? [] : ["whenDeleted", "whenScaled"]) {
    checkOneOf(retention?.[field], KEPT, `spec.persistentVolumeClaimRetentionPolicy.${field}`, errors);
  }
  const claims = structs(spec.volumeClaimTemplates);
  if (isNew) {
    for (const [i, claim] of claims.entries()) {
      checkClaimSpec(struct(claim.spec) ?? {}, `spec.volumeClaimTemplates[${i}].spec`, errors);
    }
  }
  checkNotNegative(spec.replicas, "spec.replicas", errors);
  checkNotNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  checkNotNegative(struct(spec.ordinals)?.start, "spec.ordinals.start", errors);
  if (isNew && text(spec.serviceName) !== "") checkLabel(text(spec.serviceName), "spec.serviceName", errors);
  const selector = struct(spec.selector);
  if (selector === undefined) errors.push(required("spec.selector"));
  else checkOwnSelector(selector, "statefulset", "spec.selector", errors);
  const template = withClaims(templateOf(spec), claims);
  if (selector === undefined) errors.push(invalidValue("spec.template.metadata.labels", labelsOf(template), NO_MATCH));
  if (selector !== undefined && !checkMatch(selector, template, "spec.template", errors)) {
    errors.push(invalidValue("spec.selector", selectorText(selector), ""));
  } else {
    checkPodTemplate(template, "spec.template", errors);
    checkTemplateAgain(template, errors);
  }
  checkLasting(template, "StatefulSet", "spec.template", errors);
}

/** The metadata of a StatefulSet's template is looked at twice. */
function checkTemplateAgain(template: Fields, errors: Errors): void {
  const meta = struct(template.metadata) ?? {};
  checkLabels(meta.labels, "spec.template.labels", errors);
  checkAnnotations(meta.annotations, "spec.template.annotations", errors);
  checkPodAnnotations(struct(meta.annotations) ?? {}, struct(template.spec) ?? {}, "spec.template.annotations", errors);
}

/** The template as its pods will be: with a volume for each claim, and with host names of their own. */
function withClaims(template: Fields, claims: readonly Fields[]): Fields {
  const spec = struct(template.spec) ?? {};
  if (claims.length === 0 && text(spec.hostname) === "" && text(spec.subdomain) === "") return template;
  const names = new Map(claims.map((claim) => [text(struct(claim.metadata)?.name), claim]));
  const made = [...names.keys()].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const others = structs(spec.volumes).filter((volume) => !names.has(text(volume.name)));
  return { ...template, spec: { ...spec, hostname: "", subdomain: "", volumes: [...made, ...others] } };
}

/** A new StatefulSet. */
export function statefulSet(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  checkStatefulSet(specOf(object), true, errors);
  return errors;
}

const STATEFUL_SET_MUTABLE: ReadonlySet<string> = new Set([
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
]);
const STATEFUL_SET_RULE =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const STATEFUL_COUNTS = [
  "replicas",
  "readyReplicas",
  "currentReplicas",
  "updatedReplicas",
  "availableReplicas",
  "observedGeneration",
  "collisionCount",
];

/** A changed StatefulSet. */
export function statefulSetUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  const errors: FieldError[] = [];
  if (subresource === "status") {
    const limited = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    checkCounts(object, limited, STATEFUL_COUNTS, errors, "status.readyReplicas");
    checkDecremented(object, old, errors);
    return errors;
  }
  const spec = specOf(object);
  checkStatefulSet(spec, false, errors);
  const before = specOf(old);
  const keys = new Set([...Object.keys(spec), ...Object.keys(before)]);
  for (const key of keys) {
    if (STATEFUL_SET_MUTABLE.has(key) || deepEqual(spec[key], before[key])) continue;
    errors.push(forbiddenField("spec", STATEFUL_SET_RULE));
    break;
  }
  return errors;
}

/** A new ControllerRevision. */
export function controllerRevision(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  checkNotNegative(object.revision, "revision", errors);
  if (!isSet(object.data)) errors.push(required("data", "data is mandatory"));
  else if (struct(object.data) === undefined) errors.push(required("data", "data must be a valid JSON object"));
  return errors;
}

/** A changed ControllerRevision: what it remembers stays. */
export function controllerRevisionUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  checkNotNegative(object.revision, "revision", errors);
  if (!deepEqual(object.data, old.data)) errors.push(invalidValue("data", object.data ?? null, IMMUTABLE));
  return errors;
}
