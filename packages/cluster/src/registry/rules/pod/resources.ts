/** What containers and pods ask for, and how much of it they may have. */
import { isQualifiedName, qualifiedNameErrors } from "@lotse/client/meta";
import {
  duplicateValue,
  forbiddenField,
  invalidValue,
  missingReference,
  notSupported,
  required,
} from "../../fields.ts";
import { type Amount, canonicalQuantity, formatAmount, readAmount } from "../../quantity-form.ts";
import { checkLabel, type Errors, entries, type Fields, struct, structs, text } from "./check.ts";

const HUGE_PAGES = "hugepages-";
const BILLION = 1_000_000_000n;
const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
const STANDARD: ReadonlySet<string> = new Set([
  ...CONTAINER_RESOURCES,
  ...[...CONTAINER_RESOURCES].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...["pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"],
  ...["persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers"],
]);
const COUNTED: ReadonlySet<string> = new Set([
  ...["pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"],
  ...["persistentvolumeclaims", "services.nodeports", "services.loadbalancers"],
]);

const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);
/** Kubernetes' own: without a prefix, or with one of its own. */
const isNative = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");
/** Whether more of it may be promised than there is. */
const overcommits = (name: string): boolean => isNative(name) && !isHugePages(name);
/** A resource that is not Kubernetes' own; its name must fit behind `requests.`. */
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith("requests.") && isQualifiedName(`requests.${name}`);

type NameCheck = (name: string, path: string, errors: Errors) => void;

function checkResourceName(name: string, path: string, errors: Errors): boolean {
  // What almost everybody asks for needs no grammar.
  if (CONTAINER_RESOURCES.has(name)) return true;
  const messages = qualifiedNameErrors(name);
  for (const message of messages) errors.push(invalidValue(path, name, message));
  if (messages.length > 0) return false;
  if (name.includes("/") || STANDARD.has(name) || /^(?:requests\.)?hugepages-/.test(name)) return true;
  errors.push(invalidValue(path, name, "must be a standard resource type or fully qualified"));
  return false;
}

const checkContainerResourceName: NameCheck = (name, path, errors) => {
  checkResourceName(name, path, errors);
  if (!name.includes("/")) {
    if (CONTAINER_RESOURCES.has(name) || isHugePages(name)) return;
    errors.push(invalidValue(path, name, "must be a standard resource for containers"));
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"));
  }
};

const POD_RESOURCES = ["cpu", HUGE_PAGES, "memory"];

const checkPodResourceName: NameCheck = (name, path, errors) => {
  if (!checkResourceName(name, path, errors)) return;
  if (name !== "cpu" && name !== "memory" && !isHugePages(name)) errors.push(notSupported(path, name, POD_RESOURCES));
};

/** Requests and limits of a container. */
export function checkContainerResources(
  resources: Fields | undefined,
  claims: ReadonlySet<string>,
  path: string,
  errors: Errors,
): void {
  if (resources !== undefined) checkRequirements(resources, checkContainerResourceName, claims, path, errors);
}

/** What a pod needs for itself; told as if it were the limits of a container. */
export function checkOverhead(overhead: Fields, path: string, errors: Errors): void {
  checkRequirements({ limits: overhead }, checkContainerResourceName, new Set(), path, errors);
}

function checkAmount(name: string, value: unknown, path: string, errors: Errors): void {
  const { nanos } = readAmount(value);
  if (nanos < 0n) errors.push(invalidValue(path, value, "must be greater than or equal to 0"));
  if (nanos % BILLION !== 0n && (COUNTED.has(name) || isExtended(name))) {
    errors.push(invalidValue(path, value, "must be an integer"));
  }
}

/** Pages are not divided. */
function checkPages(name: string, value: unknown, path: string, errors: Errors): void {
  const size = pageSize(name);
  if (size !== undefined && units(readAmount(value).nanos) % size === 0n) return;
  errors.push(invalidValue(path, value, `${String(value)} is not positive integer multiple of ${name}`));
}

/** Whole units, a begun one counted. */
const units = (nanos: bigint): bigint => (nanos > 0n ? (nanos + BILLION - 1n) / BILLION : nanos / BILLION);

function pageSize(name: string): bigint | undefined {
  try {
    const { nanos } = readAmount(name.slice(HUGE_PAGES.length));
    return nanos > 0n && nanos % BILLION === 0n ? nanos / BILLION : undefined;
  } catch {
    return undefined;
  }
}

function checkRequirements(
  resources: Fields,
  checkName: NameCheck,
  claims: ReadonlySet<string>,
  path: string,
  errors: Errors,
): void {
  const limits = struct(resources.limits) ?? {};
  let basic = false;
  let pages = false;
  const note = (name: string): void => {
    basic ||= name === "cpu" || name === "memory";
    pages ||= isHugePages(name);
  };
  for (const [name, value] of entries(limits)) {
    const here = `${path}.limits[${name}]`;
    checkName(name, here, errors);
    checkAmount(name, value, here, errors);
    if (isHugePages(name)) checkPages(name, value, here, errors);
    note(name);
  }
  for (const [name, value] of entries(resources.requests)) {
    const here = `${path}.requests[${name}]`;
    checkName(name, here, errors);
    checkAmount(name, value, here, errors);
    checkAgainstLimit(name, value, Object.hasOwn(limits, name) ? limits[name] : undefined, path, errors);
    if (isHugePages(name)) checkPages(name, value, here, errors);
    note(name);
  }
  if (pages && !basic) errors.push(forbiddenField(path, "HugePages require cpu or memory"));
  checkClaimNames(structs(resources.claims), claims, `${path}.claims`, errors);
}

function checkAgainstLimit(name: string, value: unknown, limit: unknown, path: string, errors: Errors): void {
  if (limit === undefined) {
    if (overcommits(name)) return;
    errors.push(required(`${path}.limits`, "Limit must be set for non overcommitable resources"));
    return;
  }
  if (value === limit) return;
  const difference = readAmount(value).nanos - readAmount(limit).nanos;
  const rule = overcommits(name) ? "less than or equal to" : "equal to";
  if (difference > 0n || (difference < 0n && !overcommits(name))) {
    errors.push(invalidValue(`${path}.requests`, value, `must be ${rule} ${name} limit of ${String(limit)}`));
  }
}

function checkClaimNames(list: readonly Fields[], known: ReadonlySet<string>, path: string, errors: Errors): void {
  const names = new Set<string>();
  for (const [i, claim] of list.entries()) {
    const here = `${path}[${i}]`;
    const name = text(claim.name);
    if (name === "") {
      errors.push(required(here));
      continue;
    }
    if (names.has(name)) errors.push(duplicateValue(here, name));
    else {
      const request = text(claim.request);
      if (request !== "") checkLabel(request, `${here}.request`, errors);
      const key = request === "" ? name : `${name}/${request}`;
      if (names.has(key)) errors.push(duplicateValue(here, key));
      else if (request === "") {
        for (const other of names) if (other.startsWith(`${name}/`)) errors.push(duplicateValue(here, name));
      }
      names.add(key);
    }
    if (known.has(name)) continue;
    const others = known.size === 0 ? " which is empty" : `: ${[...known].sort().join(", ")}`;
    errors.push(missingReference(here, name, `must be one of the names in pod.spec.resourceClaims${others}`));
  }
}

/** Requests and limits of the pod as a whole, and that its containers fit into them. */
export function checkPodResources(spec: Fields, claims: ReadonlySet<string>, path: string, errors: Errors): void {
  const resources = struct(spec.resources);
  if (resources === undefined) return;
  const here = `${path}.resources`;
  if (struct(spec.os)?.name === "windows") {
    errors.push(forbiddenField(here, "may not be set for a windows pod"));
    return;
  }
  if (structs(resources.claims).length > 0) {
    errors.push(forbiddenField(`${here}.claims`, "claims may not be set for Resources at pod-level"));
  }
  checkRequirements(resources, checkPodResourceName, claims, here, errors);
  const requests = struct(resources.requests) ?? {};
  for (const [name, amount] of totals(spec, "requests")) {
    if (!Object.hasOwn(requests, name) || amount.nanos <= readAmount(requests[name]).nanos) continue;
    const detail = `must be greater than or equal to aggregate container requests of ${formatAmount(amount)}`;
    errors.push(invalidValue(`${here}.requests[${name}]`, requests[name], detail));
  }
  const limits = struct(resources.limits) ?? {};
  for (const [name, amount] of totals(spec, "limits")) {
    if (!isHugePages(name) || !Object.hasOwn(limits, name) || amount.nanos <= readAmount(limits[name]).nanos) continue;
    const detail = `must be greater than or equal to aggregate container limits of ${formatAmount(amount)}`;
    errors.push(invalidValue(`${here}.limits[${name}]`, limits[name], detail));
  }
  for (const [i, container] of structs(spec.containers).entries()) {
    for (const [name, value] of entries(struct(container.resources)?.limits)) {
      if (!Object.hasOwn(limits, name) || readAmount(value).nanos <= readAmount(limits[name]).nanos) continue;
      const detail = `must be less than or equal to pod limits of ${String(limits[name])}`;
      errors.push(invalidValue(`${here}.containers[${i}][${name}].limits`, value, detail));
    }
  }
}

/** What the containers of a pod need together: those at work, sidecars included, or the hungriest one at the start. */
export function totals(spec: Fields, kind: "requests" | "limits"): Map<string, Amount> {
  const sum = new Map<string, Amount>();
  const add = (into: Map<string, Amount>, list: unknown): void => {
    for (const [name, value] of entries(list)) {
      const amount = readAmount(value);
      const before = into.get(name);
      into.set(name, before ? { nanos: before.nanos + amount.nanos, binary: before.binary } : amount);
    }
  };
  const raise = (peak: ReadonlyMap<string, Amount>, into: Map<string, Amount>): void => {
    for (const [name, amount] of peak) if ((into.get(name)?.nanos ?? -1n) < amount.nanos) into.set(name, amount);
  };
  for (const container of structs(spec.containers)) add(sum, struct(container.resources)?.[kind]);
  const sidecars = new Map<string, Amount>();
  const peaks = new Map<string, Amount>();
  for (const container of structs(spec.initContainers)) {
    const list = struct(container.resources)?.[kind];
    if (container.restartPolicy === "Always") {
      add(sum, list);
      add(sidecars, list);
      raise(sidecars, peaks);
    } else {
      const now = new Map(sidecars);
      add(now, list);
      raise(now, peaks);
    }
  }
  raise(peaks, sum);
  return sum;
}

/** Amounts are kept to the thousandth, rounded up; changes `list`. */
export function roundResources(list: unknown): void {
  if (struct(list) === undefined) return;
  const amounts = list as Record<string, unknown>;
  for (const [name, value] of Object.entries(amounts)) {
    // Only these suffixes, and fractions, can be smaller than a thousandth.
    if (typeof value !== "string" || !/[nu]$/.test(value)) continue;
    const { nanos } = readAmount(value);
    const milli = 1_000_000n;
    const rest = ((nanos % milli) + milli) % milli;
    if (rest !== 0n) amounts[name] = canonicalQuantity(`${(nanos - rest) / milli + 1n}m`);
  }
}
