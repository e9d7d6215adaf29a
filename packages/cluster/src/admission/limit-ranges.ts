import {
  type AdmissionAttributes,
  type Amounts,
  type ApiObject,
  ensureObject,
  formatAmount,
  fromStore,
  isRecord,
  listAt,
  objectAt,
  podAmounts,
  readAmounts,
} from "../registry/index.ts";
import type { AdmissionPlugin } from "./chain.ts";
import { type AdmissionBackend, refused } from "./request.ts";

const LIMIT_RANGES = "limitranges";
const ANNOTATION = "kubernetes.io/limit-ranger";

/** Gives containers the defaults of the LimitRanges in their namespace, and refuses what is out of range. */
export function limitRanges(backend: AdmissionBackend): AdmissionPlugin {
  const rangesOf = (attributes: AdmissionAttributes) =>
    concerns(attributes)
      ? backend.store.list(LIMIT_RANGES, `${attributes.namespace}/`).map((entry) => fromStore(entry.object))
      : [];
  return {
    mutate(attributes) {
      const { object } = attributes;
      if (object && attributes.endpoint.resource.plural === "pods") {
        for (const range of rangesOf(attributes)) fillIn(object, range);
      }
      return object;
    },
    validate(attributes) {
      const { object } = attributes;
      if (!object) return;
      for (const range of rangesOf(attributes)) {
        const errors = violations(object, range);
        if (errors.length === 0) continue;
        throw refused(attributes, errors.length === 1 ? (errors[0] as string) : `[${errors.join(", ")}]`);
      }
    },
  };
}

/** The containers of a pod cannot change, so that only new pods are looked at. */
function concerns({ endpoint: { resource }, operation, subresource, oldObject }: AdmissionAttributes): boolean {
  if (resource.group !== "" || subresource !== undefined || operation === "DELETE") return false;
  if (resource.plural === "pods") return operation === "CREATE";
  return resource.plural === "persistentvolumeclaims" && oldObject?.metadata.deletionTimestamp === undefined;
}

function fillIn(pod: ApiObject, range: ApiObject): void {
  const limits: Record<string, unknown> = {};
  const requests: Record<string, unknown> = {};
  for (const limit of listAt(range, "spec", "limits")) {
    if (limit.type !== "Container") continue;
    Object.assign(limits, limit.default);
    Object.assign(requests, limit.defaultRequest);
  }
  const notes: string[] = [];
  for (const [list, title] of [
    ["containers", "container"],
    ["initContainers", "init container"],
  ] as const) {
    for (const container of listAt(pod, "spec", list)) {
      const resources = ensureObject(container, "resources");
      for (const [key, word, defaults] of [
        ["requests", "request", requests],
        ["limits", "limit", limits],
      ] as const) {
        const given = isRecord(resources[key]) ? resources[key] : {};
        const missing = Object.keys(defaults).filter((name) => !Object.hasOwn(given, name));
        if (missing.length === 0) continue;
        resources[key] = { ...given, ...Object.fromEntries(missing.map((name) => [name, defaults[name]])) };
        notes.push(`${missing.sort().join(", ")} ${word} for ${title} ${container.name}`);
      }
    }
  }
  if (notes.length === 0) return;
  const text = `LimitRanger plugin set: ${notes.join("; ")}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [ANNOTATION]: text };
}

function violations(object: ApiObject, range: ApiObject): string[] {
  const errors: string[] = [];
  for (const limit of listAt(range, "spec", "limits")) {
    const type = String(limit.type);
    if (object.kind === "PersistentVolumeClaim") {
      if (type !== "PersistentVolumeClaim") continue;
      const requests = readAmounts(objectAt(object, "spec", "resources").requests);
      check(limit, "min", (name, enforced) => errors.push(...below(type, name, enforced, requests, NONE)));
      check(limit, "max", (name, enforced) => errors.push(...requestAbove(type, name, enforced, requests)));
    } else if (type === "Container") {
      for (const container of [...listAt(object, "spec", "containers"), ...listAt(object, "spec", "initContainers")]) {
        const resources = objectAt(container, "resources");
        errors.push(...bounds(type, limit, readAmounts(resources.requests), readAmounts(resources.limits)));
      }
    } else if (type === "Pod") {
      errors.push(...bounds(type, limit, podAmounts(object, "requests"), podAmounts(object, "limits")));
    }
  }
  return errors;
}

const NONE: Amounts = new Map();

type Enforced = { readonly nanos: bigint; readonly text: string };

function check(limit: Record<string, unknown>, key: string, visit: (name: string, enforced: Enforced) => void): void {
  for (const [name, amount] of readAmounts(limit[key])) {
    visit(name, { nanos: amount.nanos, text: formatAmount(amount) });
  }
}

function bounds(type: string, limit: Record<string, unknown>, requests: Amounts, limits: Amounts): string[] {
  const errors: string[] = [];
  check(limit, "min", (name, enforced) => errors.push(...below(type, name, enforced, requests, limits)));
  check(limit, "max", (name, enforced) => errors.push(...above(type, name, enforced, requests, limits)));
  check(limit, "maxLimitRequestRatio", (name, enforced) =>
    errors.push(...overRatio(type, name, enforced, requests, limits)),
  );
  return errors;
}

function below(type: string, name: string, enforced: Enforced, requests: Amounts, limits: Amounts): string[] {
  const text = `minimum ${name} usage per ${type} is ${enforced.text}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (!request) return [`${text}.  No request is specified`];
  if (request.nanos < enforced.nanos) return [`${text}, but request is ${formatAmount(request)}`];
  return limit && limit.nanos < enforced.nanos ? [`${text}, but limit is ${formatAmount(limit)}`] : [];
}

function above(type: string, name: string, enforced: Enforced, requests: Amounts, limits: Amounts): string[] {
  const text = `maximum ${name} usage per ${type} is ${enforced.text}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (!limit) return [`${text}.  No limit is specified`];
  if (limit.nanos > enforced.nanos) return [`${text}, but limit is ${formatAmount(limit)}`];
  return request && request.nanos > enforced.nanos ? [`${text}, but request is ${formatAmount(request)}`] : [];
}

function requestAbove(type: string, name: string, enforced: Enforced, requests: Amounts): string[] {
  const text = `maximum ${name} usage per ${type} is ${enforced.text}`;
  const request = requests.get(name);
  if (!request) return [`${text}.  No request is specified`];
  return request.nanos > enforced.nanos ? [`${text}, but request is ${formatAmount(request)}`] : [];
}

function overRatio(type: string, name: string, enforced: Enforced, requests: Amounts, limits: Amounts): string[] {
  const text = `${name} max limit to request ratio per ${type} is ${enforced.text}`;
  const request = requests.get(name)?.nanos ?? 0n;
  const limit = limits.get(name)?.nanos ?? 0n;
  if (request === 0n) return [`${text}, but no request is specified or request is 0`];
  if (limit === 0n) return [`${text}, but no limit is specified or limit is 0`];
  const ratio = Number(limit) / Number(request);
  return ratio * 1e9 > Number(enforced.nanos) ? [`${text}, but provided ratio is ${ratio.toFixed(6)}`] : [];
}
