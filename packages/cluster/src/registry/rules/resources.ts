import { parseQuantity, qualifiedNameErrors } from "@lotse/client/meta";
import { type FieldError, invalidValue } from "../fields.ts";
import { complain } from "./values.ts";

/** Resources that a quota may count, and most of those that anything else may name. */
const QUOTA_RESOURCES: ReadonlySet<string> = new Set([
  "cpu",
  "memory",
  "ephemeral-storage",
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "persistentvolumeclaims",
  "configmaps",
  "services.nodeports",
  "services.loadbalancers",
]);
const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
const WHOLE_RESOURCES: ReadonlySet<string> = new Set([
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);

const isHugePages = (name: string): boolean => name.startsWith("hugepages-");
const isCountedPages = (name: string): boolean => isHugePages(name) || name.startsWith("requests.hugepages-");
/** Whether a quota can limit a resource of this name. */
export const isQuotaResource = (name: string): boolean => QUOTA_RESOURCES.has(name) || isCountedPages(name);

/** A resource of Kubernetes itself: without a prefix, or with its own. */
export const isNativeResource = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");

/** A resource that is not Kubernetes' own: a device of a vendor. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith("requests.")) return false;
  return qualifiedNameErrors(`requests.${name}`).length === 0;
}

/** More of it may be promised than there is. */
export const mayOvercommit = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

/** What is wrong with the name of a resource, wherever it stands. */
export function resourceNameErrors(name: string, field: string): FieldError[] {
  const wrong = complain(qualifiedNameErrors(name), field, name);
  if (wrong.length > 0 || name.includes("/") || isQuotaResource(name) || name === "storage") return wrong;
  return [invalidValue(field, name, "must be a standard resource type or fully qualified")];
}

/** What is wrong with the name of a resource that a container asks for. */
export function containerResourceErrors(name: string, field: string): FieldError[] {
  const errors = resourceNameErrors(name, field);
  if (!name.includes("/")) {
    if (CONTAINER_RESOURCES.has(name) || isHugePages(name)) return errors;
    return [...errors, invalidValue(field, name, "must be a standard resource for containers")];
  }
  if (isNativeResource(name) || isExtendedResource(name)) return errors;
  return [...errors, invalidValue(field, name, "doesn't follow extended resource name standard")];
}

/** What is wrong with the name of a resource that a quota limits. */
export function quotaResourceErrors(name: string, field: string): FieldError[] {
  const errors = resourceNameErrors(name, field);
  if (name.includes("/") || isQuotaResource(name)) return errors;
  return [...errors, invalidValue(field, name, "must be a standard resource for quota")];
}

const NANOS = 1_000_000_000n;

/** An amount in billionths; the codec has read it before, so that it is one. */
export const nanosOf = (value: unknown): bigint => parseQuantity(String(value)).nanos;

/** The error about a quantity below zero. */
export function notNegativeAmount(value: unknown, field: string): FieldError[] {
  return nanosOf(value) < 0n ? [invalidValue(field, value, "must be greater than or equal to 0")] : [];
}

/** The error about a quantity that is not above zero. */
export function positiveAmount(value: unknown, field: string): FieldError[] {
  return nanosOf(value) <= 0n ? [invalidValue(field, value, "must be greater than zero")] : [];
}

/** The next whole number away from zero, as the server rounds. */
export function wholeAmount(value: unknown): bigint {
  const nanos = nanosOf(value);
  const whole = nanos / NANOS;
  if (nanos % NANOS === 0n) return whole;
  return nanos > 0n ? whole + 1n : whole;
}

/** An amount that can be had at all. */
export function basicAmount(value: unknown, field: string): FieldError[] {
  const whole = wholeAmount(value);
  return whole < 0n ? [invalidValue(field, whole, "must be a valid resource quantity")] : [];
}

/** How much of a resource there may be: no less than nothing, and no halves of what is counted. */
export function amountErrors(name: string, value: unknown, field: string): FieldError[] {
  const errors = notNegativeAmount(value, field);
  const counted = WHOLE_RESOURCES.has(name) || isExtendedResource(name);
  // Thousandths are rounded up before the rest is looked for.
  const nanos = nanosOf(value);
  const thousandths = nanos % 1_000_000n === 0n ? nanos / 1_000_000n : nanos / 1_000_000n + (nanos > 0n ? 1n : 0n);
  if (counted && thousandths % 1_000n !== 0n) errors.push(invalidValue(field, value, "must be an integer"));
  return errors;
}

/** What pods of a kind cost besides their containers. */
export function overheadErrors(amounts: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  const errors: FieldError[] = [];
  let pages = false;
  let compute = false;
  for (const [name, value] of Object.entries(amounts)) {
    const at = `${field}.limits[${name}]`;
    errors.push(...containerResourceErrors(name, at), ...amountErrors(name, value, at));
    compute ||= name === "cpu" || name === "memory";
    if (!isHugePages(name)) continue;
    pages = true;
    if (!isMultiple(name.slice("hugepages-".length), value)) {
      errors.push(invalidValue(at, value, `${value} is not positive integer multiple of ${name}`));
    }
  }
  if (pages && !compute) errors.push({ type: "Forbidden", field, detail: "HugePages require cpu or memory" });
  return errors;
}

function isMultiple(size: string, value: unknown): boolean {
  try {
    const page = nanosOf(size);
    return page > 0n && page % NANOS === 0n && wholeAmount(value) % (page / NANOS) === 0n;
  } catch {
    return false;
  }
}
