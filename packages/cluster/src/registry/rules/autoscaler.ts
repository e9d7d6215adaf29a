import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { notNegative, recordOf, textOf } from "./common.ts";
import { containerResourceErrors, nanosOf, notNegativeAmount } from "./resources.ts";
import { given, labelErrors, oneOf, requiredSegment } from "./values.ts";

type Fields = Record<string, unknown>;

/** How strict the version of a reference is looked at. */
interface Reference {
  readonly anyVersion: boolean;
  readonly coreGroup: boolean;
}

const METRIC: Reference = { anyVersion: false, coreGroup: true };

/** What is wrong with a new HorizontalPodAutoscaler. */
export const autoscalerCreate = (object: ApiObject): FieldError[] => autoscalerErrors(object, undefined);

/** What is wrong with a changed one; what was tolerated before still is. */
export function autoscalerUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource !== "status") return autoscalerErrors(object, old);
  const status = objectAt(object, "status");
  return ["currentReplicas", "desiredReplicas"].flatMap((key) => notNegative(status[key], `status.${key}`));
}

function autoscalerErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = objectAt(object, "spec");
  const before = old && objectAt(old, "spec");
  const errors: FieldError[] = [];
  const least = spec.minReplicas;
  const most = Number(spec.maxReplicas ?? 0);
  const lowest = before?.minReplicas === 0 ? 0 : 1;
  if (typeof least === "number" && least < lowest) {
    errors.push(invalidValue("spec.minReplicas", least, `must be greater than or equal to ${lowest}`));
  }
  if (most === 0) errors.push(required("spec.maxReplicas", "must be set and greater than 0"));
  else if (most < 0) errors.push(invalidValue("spec.maxReplicas", most, "must be greater than or equal to 1"));
  if (typeof least === "number" && most < least) {
    errors.push(invalidValue("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"));
  }
  const target = objectAt(spec, "scaleTargetRef");
  const known = before && objectAt(before, "scaleTargetRef");
  const same =
    known !== undefined &&
    textOf(known.apiVersion) === textOf(target.apiVersion) &&
    textOf(known.kind) === textOf(target.kind);
  // The core group has nothing to scale but replication controllers, which no user means who leaves it out.
  const rule = { anyVersion: same, coreGroup: target.kind === "ReplicationController" };
  errors.push(...referenceErrors(target, "spec.scaleTargetRef", rule));
  errors.push(...metricsErrors(spec, before));
  // What the older version says in one number is a metric to the server.
  const part = spec.targetCPUUtilizationPercentage;
  if (typeof part === "number" && part < 1) {
    const field = "spec.metrics[0].resource.target.averageUtilization";
    errors.push(invalidValue(field, part, "must be greater than 0"));
  }
  for (const way of ["scaleUp", "scaleDown"]) {
    const rules = objectAt(spec, "behavior")[way];
    if (given(rules)) errors.push(...scalingErrors(recordOf(rules), `spec.behavior.${way}`));
  }
  return errors;
}

function referenceErrors(ref: Fields, path: string, rule: Reference): FieldError[] {
  const errors = [
    ...requiredSegment(textOf(ref.kind), `${path}.kind`),
    ...requiredSegment(textOf(ref.name), `${path}.name`),
  ];
  const version = textOf(ref.apiVersion);
  const wrong = versionComplaint(version, rule);
  if (wrong !== undefined) errors.push(invalidValue(`${path}.apiVersion`, version, wrong));
  return errors;
}

function versionComplaint(version: string, { anyVersion, coreGroup }: Reference): string | undefined {
  if (anyVersion) return undefined;
  const slashes = version.split("/").length - 1;
  if (slashes > 1) return `unexpected GroupVersion string: ${version}`;
  const group = slashes === 1 ? version.slice(0, version.indexOf("/")) : "";
  return !coreGroup && group === "" ? "apiVersion must specify API group" : undefined;
}

function metricsErrors(spec: Fields, before: Fields | undefined): FieldError[] {
  const wrongBefore = listAt(before, "metrics").some(
    ({ type, object }) =>
      type === "Object" &&
      versionComplaint(textOf(objectAt(object, "describedObject").apiVersion), METRIC) !== undefined,
  );
  const rule = { ...METRIC, anyVersion: wrongBefore };
  const metrics = listAt(spec, "metrics");
  const errors = metrics.flatMap((metric, i) => metricErrors(metric, `spec.metrics[${i}]`, rule));
  if (spec.minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External")) {
    const text = "must specify at least one Object or External metric to support scaling to zero replicas";
    errors.push(forbiddenField("spec.metrics", text));
  }
  return errors;
}

/** Each type of metric, the field that holds it, and how that is checked, in the order of the checks. */
const SOURCES: readonly (readonly [type: string, key: string, check: Source])[] = [
  ["Object", "object", objectSource],
  ["External", "external", externalSource],
  ["Pods", "pods", podsSource],
  ["Resource", "resource", (source, path) => resourceSource(source, path)],
  ["ContainerResource", "containerResource", (source, path) => containerSource(source, path)],
];

type Source = (source: Fields, path: string, rule: Reference) => FieldError[];

const METRIC_TYPES = ["ContainerResource", "External", "Object", "Pods", "Resource"];

function metricErrors(metric: Fields, path: string, rule: Reference): FieldError[] {
  const type = textOf(metric.type);
  const errors: FieldError[] = [];
  if (type === "") errors.push(required(`${path}.type`, "must specify a metric source type"));
  const unknown = oneOf(type, `${path}.type`, METRIC_TYPES);
  errors.push(...unknown);
  const present = SOURCES.filter(([, key]) => given(metric[key]));
  const [first] = present;
  if (first) errors.push(...first[2](recordOf(metric[first[1]]), `${path}.${first[1]}`, rule));
  const expected = SOURCES.find(([name]) => name === type)?.[1];
  if (expected === undefined) errors.push(...unknown);
  else if (!given(metric[expected])) {
    errors.push(required(`${path}.${expected}`, "must populate information for the given metric source"));
  }
  if (present.length === 1) return errors;
  for (const [, key] of present) {
    if (key === expected) continue;
    errors.push(forbiddenField(`${path}.${key}`, "must populate the given metric source only"));
  }
  return errors;
}

function objectSource(source: Fields, path: string, rule: Reference): FieldError[] {
  const target = objectAt(source, "target");
  const errors = [
    ...referenceErrors(objectAt(source, "describedObject"), `${path}.describedObject`, rule),
    ...identifierErrors(source, path),
    ...targetErrors(target, `${path}.target`),
  ];
  if (given(target.value) || given(target.averageValue)) return errors;
  return [...errors, required(`${path}.target.averageValue`, "must set either a target value or averageValue")];
}

function externalSource(source: Fields, path: string): FieldError[] {
  const target = objectAt(source, "target");
  const errors = [...identifierErrors(source, path), ...targetErrors(target, `${path}.target`)];
  const [value, average] = [given(target.value), given(target.averageValue)];
  if (!value && !average) {
    const text = "must set either a target value for metric or a per-pod target";
    errors.push(required(`${path}.target.averageValue`, text));
  }
  if (value && average) {
    const text = "may not set both a target value for metric and a per-pod target";
    errors.push(forbiddenField(`${path}.target.value`, text));
  }
  return errors;
}

function podsSource(source: Fields, path: string): FieldError[] {
  const target = objectAt(source, "target");
  const errors = [...identifierErrors(source, path), ...targetErrors(target, `${path}.target`)];
  if (given(target.averageValue)) return errors;
  return [...errors, required(`${path}.target.averageValue`, "must specify a positive target averageValue")];
}

function resourceSource(source: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (textOf(source.name) === "") errors.push(required(`${path}.name`, "must specify a resource name"));
  return [...errors, ...resourceTargetErrors(source, path)];
}

function containerSource(source: Fields, path: string): FieldError[] {
  const [name, container] = [textOf(source.name), textOf(source.container)];
  return [
    ...(name === ""
      ? [required(`${path}.name`, "must specify a resource name")]
      : containerResourceErrors(name, `${path}.name`)),
    ...(container === ""
      ? [required(`${path}.container`, "must specify a container")]
      : labelErrors(container, `${path}.container`)),
    ...resourceTargetErrors(source, path),
  ];
}

function resourceTargetErrors(source: Fields, path: string): FieldError[] {
  const target = objectAt(source, "target");
  const errors = targetErrors(target, `${path}.target`);
  const [part, value] = [given(target.averageUtilization), given(target.averageValue)];
  if (!part && !value) {
    const text = "must set either a target raw value or a target utilization";
    errors.push(required(`${path}.target.averageUtilization`, text));
  }
  if (part && value) {
    const text = "may not set both a target raw value and a target utilization";
    errors.push(forbiddenField(`${path}.target.averageValue`, text));
  }
  return errors;
}

const TARGET_TYPES = ["Utilization", "Value", "AverageValue"];

function targetErrors(target: Fields, path: string): FieldError[] {
  const type = textOf(target.type);
  const errors: FieldError[] = [];
  if (type === "") errors.push(required(`${path}.type`, "must specify a metric target type"));
  if (!TARGET_TYPES.includes(type)) {
    errors.push(invalidValue(`${path}.type`, type, "must be either Utilization, Value, or AverageValue"));
  }
  for (const key of ["value", "averageValue"]) {
    const value = target[key];
    if (given(value) && nanosOf(value) <= 0n) errors.push(invalidValue(`${path}.${key}`, value, "must be positive"));
  }
  const part = target.averageUtilization;
  if (typeof part === "number" && part < 1) {
    errors.push(invalidValue(`${path}.averageUtilization`, part, "must be greater than 0"));
  }
  return errors;
}

function identifierErrors(source: Fields, path: string): FieldError[] {
  const name = textOf(objectAt(source, "metric").name);
  if (name === "") return [required(`${path}.metric.name`, "must specify a metric name")];
  return requiredSegment(name, `${path}.metric.name`);
}

const SELECT_POLICIES = ["Disabled", "Max", "Min"];
const LONGEST_WINDOW = 3_600;
const LONGEST_PERIOD = 1_800;

function scalingErrors(rules: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const window = rules.stabilizationWindowSeconds;
  const field = `${path}.stabilizationWindowSeconds`;
  if (typeof window === "number" && window < 0) {
    errors.push(invalidValue(field, window, "must be greater than or equal to zero"));
  }
  if (typeof window === "number" && window > LONGEST_WINDOW) {
    errors.push(invalidValue(field, window, `must be less than or equal to ${LONGEST_WINDOW}`));
  }
  const select = rules.selectPolicy;
  if (given(select) && !SELECT_POLICIES.includes(textOf(select))) {
    errors.push(notSupported(`${path}.selectPolicy`, select, SELECT_POLICIES));
  }
  const policies = listAt(rules, "policies");
  if (policies.length === 0) errors.push(required(`${path}.policies`, "must specify at least one Policy"));
  for (const [i, policy] of policies.entries()) errors.push(...scalingPolicyErrors(policy, `${path}.policies[${i}]`));
  if (given(rules.tolerance)) errors.push(...notNegativeAmount(rules.tolerance, `${path}.tolerance`));
  return errors;
}

function scalingPolicyErrors(policy: Fields, path: string): FieldError[] {
  const errors = oneOf(policy.type, `${path}.type`, ["Percent", "Pods"]);
  const value = Number(policy.value ?? 0);
  const period = Number(policy.periodSeconds ?? 0);
  if (value <= 0) errors.push(invalidValue(`${path}.value`, value, "must be greater than zero"));
  if (period <= 0) errors.push(invalidValue(`${path}.periodSeconds`, period, "must be greater than zero"));
  if (period > LONGEST_PERIOD) {
    errors.push(invalidValue(`${path}.periodSeconds`, period, `must be less than or equal to ${LONGEST_PERIOD}`));
  }
  return errors;
}
