import { duplicateValue, type FieldError, forbiddenField, IMMUTABLE, invalidValue, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { exceeds, recordOf, textOf, textsOf } from "./common.ts";
import {
  amountErrors,
  containerResourceErrors,
  isQuotaResource,
  mayOvercommit,
  nanosOf,
  quotaResourceErrors,
  resourceNameErrors,
} from "./resources.ts";
import { given, qualifiedErrors } from "./values.ts";

type Fields = Record<string, unknown>;

/** What is wrong with a new ResourceQuota. */
export function quotaCreate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  return [
    ...amountsErrors(spec, "spec.hard", "hard"),
    ...scopesErrors(spec),
    ...(given(spec.scopeSelector) ? scopeSelectorErrors(spec) : []),
  ];
}

/** What is wrong with a changed one, or with its status: its scopes stay. */
export function quotaUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") {
    const status = objectAt(object, "status");
    return [...amountsErrors(status, "status.hard", "hard"), ...amountsErrors(status, "status.used", "used")];
  }
  const errors = quotaCreate(object);
  const sorted = (quota: ApiObject) => [...new Set(textsOf(objectAt(quota, "spec").scopes))].sort().join(" ");
  if (sorted(object) === sorted(old)) return errors;
  return [...errors, invalidValue("spec.scopes", objectAt(object, "spec").scopes ?? null, IMMUTABLE)];
}

function amountsErrors(of: Fields, field: string, key: string): FieldError[] {
  return Object.entries(recordOf(of[key])).flatMap(([name, value]) => [
    ...quotaResourceErrors(name, `${field}[${name}]`),
    ...amountErrors(name, value, `${field}[${name}]`),
  ]);
}

const POD_RESOURCES: ReadonlySet<string> = new Set([
  "pods",
  "cpu",
  "memory",
  "limits.cpu",
  "limits.memory",
  "requests.cpu",
  "requests.memory",
]);
const CLAIM_RESOURCES: ReadonlySet<string> = new Set(["persistentvolumeclaims", "requests.storage"]);

/** What each scope can count. */
const SCOPES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Terminating", POD_RESOURCES],
  ["NotTerminating", POD_RESOURCES],
  ["BestEffort", new Set(["pods"])],
  ["NotBestEffort", POD_RESOURCES],
  ["PriorityClass", POD_RESOURCES],
  ["CrossNamespacePodAffinity", POD_RESOURCES],
  ["VolumeAttributesClass", CLAIM_RESOURCES],
]);

/** Resources of the quota that a scope cannot count. */
function misfits(spec: Fields, scope: string): string[] {
  const fit = SCOPES.get(scope);
  if (!fit) return [];
  return Object.keys(recordOf(spec.hard)).filter((name) => isQuotaResource(name) && !fit.has(name));
}

const CONFLICTS = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;

function scopesErrors(spec: Fields): FieldError[] {
  const scopes = textsOf(spec.scopes);
  const field = "spec.scopes";
  const errors: FieldError[] = [];
  for (const scope of scopes) {
    if (!SCOPES.has(scope)) errors.push(invalidValue(field, scopes, "unsupported scope"));
    for (const _ of misfits(spec, scope)) {
      errors.push(invalidValue(field, scopes, "unsupported scope applied to resource"));
    }
  }
  for (const [a, b] of CONFLICTS) {
    if (scopes.includes(a) && scopes.includes(b)) errors.push(invalidValue(field, scopes, "conflicting scopes"));
  }
  return errors;
}

const MUST_EXIST = ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];

function scopeSelectorErrors(spec: Fields): FieldError[] {
  const path = "spec.scopeSelector.matchExpressions";
  const items = listAt(spec, "scopeSelector", "matchExpressions");
  const errors: FieldError[] = [];
  for (const item of items) {
    const scope = textOf(item.scopeName);
    const operator = textOf(item.operator);
    const values = textsOf(item.values);
    if (!SCOPES.has(scope)) errors.push(invalidValue(`${path}.scopeName`, scope, "unsupported scope"));
    for (const _ of misfits(spec, scope)) {
      errors.push(invalidValue(path, shownSelector(items), "unsupported scope applied to resource"));
    }
    if (MUST_EXIST.includes(scope) && operator !== "Exists") {
      const text =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
      errors.push(invalidValue(`${path}.operator`, operator, text));
    }
    if (operator === "In" || operator === "NotIn") {
      const text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (values.length === 0) errors.push(required(`${path}.values`, text));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      const text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (values.length > 0) errors.push(invalidValue(`${path}.values`, values, text));
    } else errors.push(invalidValue(`${path}.operator`, operator, "not a valid selector operator"));
  }
  const scopes = items.map(({ scopeName }) => textOf(scopeName));
  for (const [a, b] of CONFLICTS) {
    if (!scopes.includes(a) || !scopes.includes(b)) continue;
    errors.push(invalidValue(path, spec.scopes ?? null, "conflicting scopes"));
  }
  return errors;
}

function shownSelector(items: readonly Fields[]): Verbatim {
  const shown = items.map((item) => ({
    ScopeName: textOf(item.scopeName),
    Operator: textOf(item.operator),
    Values: item.values ?? null,
  }));
  return new Verbatim(JSON.stringify({ MatchExpressions: shown }));
}

const LIMIT_TYPES = ["Pod", "Container", "PersistentVolumeClaim"];

/** What is wrong with a LimitRange. */
export function limitsErrors(object: ApiObject): FieldError[] {
  const types = new Set<string>();
  return listAt(object, "spec", "limits").flatMap((limit, i) => {
    const path = `spec.limits[${i}]`;
    const type = textOf(limit.type);
    const errors = typeErrors(type, `${path}.type`);
    if (types.has(type)) errors.push(duplicateValue(`${path}.type`, type));
    types.add(type);
    return [...errors, ...limitErrors(limit, type, path)];
  });
}

function typeErrors(type: string, field: string): FieldError[] {
  const wrong = qualifiedErrors(type, field);
  if (wrong.length > 0 || type.includes("/") || LIMIT_TYPES.includes(type)) return wrong;
  return [invalidValue(field, type, "must be a standard limit type or fully qualified")];
}

type Amounts = Readonly<Record<string, unknown>>;

function limitErrors(limit: Fields, type: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const nameErrors = type === "Pod" || type === "Container" ? containerResourceErrors : resourceNameErrors;
  const named = (key: string): Amounts => {
    const amounts = recordOf(limit[key]);
    for (const name of Object.keys(amounts)) errors.push(...nameErrors(name, `${path}.${key}[${name}]`));
    return amounts;
  };
  const max = named("max");
  const min = named("min");
  let preset: Amounts = {};
  let request: Amounts = {};
  if (type === "Pod") {
    for (const key of ["default", "defaultRequest"]) {
      if (Object.keys(recordOf(limit[key])).length === 0) continue;
      errors.push(forbiddenField(`${path}.${key}`, "may not be specified when `type` is 'Pod'"));
    }
  } else {
    preset = named("default");
    request = named("defaultRequest");
  }
  if (type === "PersistentVolumeClaim" && min.storage === undefined && max.storage === undefined) {
    const text = "either minimum or maximum storage value is required, but neither was provided";
    errors.push(required(`${path}.limits`, text));
  }
  const ratio = named("maxLimitRequestRatio");
  const names = new Set([max, min, preset, request, ratio].flatMap((part) => Object.keys(part)));
  for (const name of [...names].sort()) {
    const of = { min: min[name], max: max[name], preset: preset[name], request: request[name], ratio: ratio[name] };
    errors.push(...relationErrors(name, of, path));
  }
  return errors;
}

interface Limits {
  readonly min: unknown;
  readonly max: unknown;
  readonly preset: unknown;
  readonly request: unknown;
  readonly ratio: unknown;
}

function relationErrors(name: string, { min, max, preset, request, ratio }: Limits, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (key: string, shown: unknown, low: unknown, high: unknown, words: readonly [string, string]) => {
    if (low === undefined || high === undefined || !exceeds(low, high)) return;
    const text = `${words[0]} value ${low} is greater than ${words[1]} value ${high}`;
    errors.push(invalidValue(`${path}.${key}[${name}]`, shown, text));
  };
  check("min", min, min, max, ["min", "max"]);
  check("defaultRequest", request, min, request, ["min", "default request"]);
  check("defaultRequest", request, request, max, ["default request", "max"]);
  check("defaultRequest", request, request, preset, ["default request", "default limit"]);
  check("default", min, min, preset, ["min", "default"]);
  check("default", max, preset, max, ["default", "max"]);
  const field = `${path}.maxLimitRequestRatio[${name}]`;
  if (ratio !== undefined && exceeds(1, ratio))
    errors.push(invalidValue(field, ratio, `ratio ${ratio} is less than 1`));
  if (ratio !== undefined && min !== undefined && max !== undefined) {
    const limit = Number(nanosOf(max)) / Number(nanosOf(min));
    if (Number(nanosOf(ratio)) / 1e9 > limit) {
      errors.push(invalidValue(field, ratio, `ratio ${ratio} is greater than max/min = ${limit.toFixed(6)}`));
    }
  }
  const both = preset !== undefined && request !== undefined;
  if (both && !mayOvercommit(name) && nanosOf(preset) !== nanosOf(request)) {
    const text = `default value ${preset} must equal to defaultRequest value ${request} in ${name}`;
    errors.push(invalidValue(`${path}.defaultRequest[${name}]`, request, text));
  }
  return errors;
}
