import { labelValueErrors } from "@lotse/client/meta";
import { duplicateValue, type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { recordOf, textOf, unchanged } from "./common.ts";
import { overheadErrors } from "./resources.ts";
import { given, labelErrors, labelsErrors, qualifiedErrors } from "./values.ts";

type Fields = Record<string, unknown>;

const HIGHEST_PRIORITY = 1_000_000_000;
/** Classes that the system keeps for itself. */
const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ["system-node-critical", 2_000_001_000],
  ["system-cluster-critical", 2_000_000_000],
]);
const PREEMPTION = ["PreemptLowerPriority", "Never"];

/** What is wrong with a PriorityClass. */
export function priorityCreate(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const name = object.metadata.name ?? "";
  const value = Number(object.value ?? 0);
  if (name.startsWith("system-")) {
    const wrong = systemComplaint(name, value, object.globalDefault === true);
    if (wrong !== undefined) {
      const text = `priority class names with 'system-' prefix are reserved for system use only. error: ${wrong}`;
      errors.push(forbiddenField("metadata.name", text));
    }
  } else if (value > HIGHEST_PRIORITY) {
    const text = `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`;
    errors.push(forbiddenField("value", text));
  }
  const policy = object.preemptionPolicy;
  if (policy === "") errors.push(required("preemptionPolicy"));
  else if (given(policy) && !PREEMPTION.includes(textOf(policy))) {
    errors.push(notSupported("preemptionPolicy", policy, PREEMPTION));
  }
  return errors;
}

function systemComplaint(name: string, value: number, globalDefault: boolean): string | undefined {
  const known = SYSTEM_CLASSES.get(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known !== value) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

/** What a PriorityClass must not change: pods have copied it. */
export function priorityUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  if ((object.value ?? 0) !== (old.value ?? 0)) {
    errors.push(forbiddenField("value", "may not be changed in an update."));
  }
  return [...errors, ...unchanged(object.preemptionPolicy, old.preemptionPolicy, "preemptionPolicy")];
}

/** What is wrong with a RuntimeClass. */
export function runtimeCreate(object: ApiObject): FieldError[] {
  const handler = textOf(object.handler);
  const errors = handler === "" ? [required("handler")] : labelErrors(handler, "handler");
  if (given(object.overhead)) {
    errors.push(...overheadErrors(recordOf(objectAt(object, "overhead").podFixed), "overhead"));
  }
  if (!given(object.scheduling)) return errors;
  const { nodeSelector } = objectAt(object, "scheduling");
  errors.push(...labelsErrors(nodeSelector, "scheduling.nodeSelector"));
  return [...errors, ...tolerationsErrors(listAt(object, "scheduling", "tolerations"), "scheduling.tolerations")];
}

/** What is wrong with a changed RuntimeClass: its handler stays. */
export const runtimeUpdate = (object: ApiObject, old: ApiObject): FieldError[] => [
  ...runtimeCreate(object),
  ...unchanged(object.handler ?? "", old.handler ?? "", "handler"),
];

function tolerationsErrors(tolerations: readonly Fields[], field: string): FieldError[] {
  const errors = tolerations.flatMap((item, i) => tolerationErrors(item, `${field}[${i}]`));
  const seen = new Set<string>();
  for (const [i, item] of tolerations.entries()) {
    const { key = "", operator = "", value = "", effect = "", tolerationSeconds = null } = item;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) {
      const shown = {
        Key: key,
        Operator: operator,
        Value: value,
        Effect: effect,
        TolerationSeconds: tolerationSeconds,
      };
      errors.push(duplicateValue(`${field}[${i}]`, new Verbatim(JSON.stringify(shown))));
    }
    seen.add(identity);
  }
  return errors;
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function tolerationErrors(item: Fields, path: string): FieldError[] {
  const [key, operator, value, effect] = [item.key, item.operator, item.value, item.effect].map(textOf) as [
    string,
    string,
    string,
    string,
  ];
  const errors = key === "" ? [] : qualifiedErrors(key, `${path}.key`);
  const at = `${path}.operator`;
  if (key === "" && operator !== "Exists") {
    const text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalidValue(at, operator, text));
  }
  if (given(item.tolerationSeconds) && effect !== "NoExecute") {
    const text = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(invalidValue(`${path}.effect`, effect, text));
  }
  if (operator === "" || operator === "Equal") {
    const wrong = labelValueErrors(value);
    if (wrong.length > 0) errors.push(invalidValue(at, value, wrong.join(";")));
  } else if (operator === "Exists") {
    if (value !== "") errors.push(invalidValue(at, value, "value must be empty when `operator` is 'Exists'"));
  } else {
    const compares = operator === "Lt" || operator === "Gt" ? ["Lt", "Gt"] : [];
    errors.push(notSupported(at, operator, ["Equal", "Exists", ...compares]));
  }
  if (effect !== "" && !EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS));
  return errors;
}

/** What keeps pods away from a node. */
export function taintsErrors(taints: readonly Fields[], field: string): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, i) => {
    const path = `${field}[${i}]`;
    const [key, value, effect] = [taint.key, taint.value, taint.effect].map(textOf) as [string, string, string];
    const errors = qualifiedErrors(key, `${path}.key`);
    const wrong = labelValueErrors(value);
    if (wrong.length > 0) errors.push(invalidValue(`${path}.value`, value, wrong.join(";")));
    if (effect === "") errors.push(required(`${path}.effect`));
    else if (!EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS));
    const identity = `${effect}\n${key}`;
    if (seen.has(identity)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded ?? null };
      const detail = "taints must be unique by key and effect pair";
      errors.push({ ...duplicateValue(path, new Verbatim(JSON.stringify(shown))), detail } as FieldError);
    }
    seen.add(identity);
    return errors;
  });
}
