import { lookup, matchesLabels } from "@lotse/client/meta";
import {
  type AdmissionAttributes,
  type Amount,
  type Amounts,
  type ApiObject,
  addAll,
  isRecord,
  listAt,
  objectAt,
  podAmounts,
  type Resource,
  readAmount,
  readAmounts,
  readSelector,
} from "../../registry/index.ts";

/** How the objects of one kind count against quotas. Kinds without a row of their own are only counted. */
export interface Evaluator {
  /** Which of these names of a quota are about this kind. */
  readonly tracks: (name: string) => boolean;
  readonly usage: (object: ApiObject, now: number) => Amounts;
  /** Whether a write may change what is used. */
  readonly handles: (attributes: AdmissionAttributes) => boolean;
  /** Whether an object is in a scope of a quota; kinds without scopes are in none. */
  readonly inScope?: (object: ApiObject, scope: Scope) => boolean;
  /** What an object must say for itself when the quota limits these names; undefined when it does. */
  readonly missing?: (object: ApiObject, names: readonly string[]) => string | undefined;
}

/** One condition of a quota about the objects that it counts, such as `Terminating` or a priority class. */
export interface Scope {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const ONE: Amount = readAmount("1");

const countName = ({ group, plural }: Pick<Resource, "group" | "plural">): string =>
  group === "" ? `count/${plural}` : `count/${plural}.${group}`;

const isMain = ({ subresource }: AdmissionAttributes): boolean => subresource === undefined;

/** Kinds that a quota can name without `count/`. */
const ALIASES: ReadonlySet<string> = new Set(["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]);

function counter(resource: Resource): Evaluator {
  const names = [countName(resource)];
  if (resource.group === "" && ALIASES.has(resource.plural)) names.push(resource.plural);
  const usage = new Map(names.map((name) => [name, ONE]));
  return {
    tracks: (name) => usage.has(name),
    usage: () => usage,
    handles: (attributes) => isMain(attributes) && attributes.operation === "CREATE",
  };
}

const POD_NAMES: ReadonlySet<string> = new Set([
  "count/pods",
  "pods",
  ...["cpu", "memory", "ephemeral-storage"].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);

/** Names that a pod must set when they are limited: an old mistake that everybody depends on now. */
const DEMANDED: ReadonlySet<string> = new Set(
  ["cpu", "memory"].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);

/** `requests.example.com/gpu`, `hugepages-2Mi`. */
const isExtended = (name: string): boolean =>
  /^(?:requests\.)?hugepages-/.test(name) || (name.startsWith("requests.") && name.includes("/") && !isStorage(name));

const isStorage = (name: string): boolean => name.includes(".storageclass.storage.k8s.io/");

function computeNames(requests: Amounts, limits: Amounts): Map<string, Amount> {
  const used = new Map<string, Amount>([["pods", ONE]]);
  for (const name of ["cpu", "memory", "ephemeral-storage"]) {
    const request = requests.get(name);
    const limit = limits.get(name);
    if (request) used.set(name, request).set(`requests.${name}`, request);
    if (limit) used.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith("hugepages-")) used.set(name, request).set(`requests.${name}`, request);
    else if (name.includes("/")) used.set(`requests.${name}`, request);
  }
  return used;
}

/** A pod that is over does not use anything any more, but is still there to be counted. */
function isOver(pod: ApiObject, now: number): boolean {
  const { phase } = objectAt(pod, "status");
  if (phase === "Failed" || phase === "Succeeded") return true;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  if (deletionTimestamp === undefined) return false;
  return now > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1_000;
}

const isTerminating = (pod: unknown): boolean => typeof objectAt(pod, "spec").activeDeadlineSeconds === "number";

function podInScope(pod: ApiObject, { scopeName, operator, values }: Scope): boolean {
  switch (scopeName) {
    case "Terminating":
      return isTerminating(pod);
    case "NotTerminating":
      return !isTerminating(pod);
    case "BestEffort":
      return isBestEffort(pod);
    case "NotBestEffort":
      return !isBestEffort(pod);
    case "PriorityClass": {
      const { priorityClassName } = objectAt(pod, "spec");
      const labels = priorityClassName ? { PriorityClass: String(priorityClassName) } : {};
      const selector = readSelector({ matchExpressions: [{ key: "PriorityClass", operator, values }] });
      return selector !== undefined && matchesLabels(selector, labels as Record<string, string>);
    }
    case "CrossNamespacePodAffinity":
      return reachesOut(pod);
    default:
      return false;
  }
}

function isBestEffort(pod: ApiObject): boolean {
  const containers = [...listAt(pod, "spec", "containers"), ...listAt(pod, "spec", "initContainers")];
  return containers.every((container) =>
    ["requests", "limits"].every((key) => {
      const amounts = readAmounts(objectAt(container, "resources")[key]);
      return ["cpu", "memory"].every((name) => (amounts.get(name)?.nanos ?? 0n) === 0n);
    }),
  );
}

function reachesOut(pod: ApiObject): boolean {
  const terms = ["podAffinity", "podAntiAffinity"].flatMap((kind) => {
    const affinity = objectAt(pod, "spec", "affinity", kind);
    const preferred = listAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    return [
      ...listAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
      ...preferred.map((term) => objectAt(term, "podAffinityTerm")),
    ];
  });
  return terms.some(
    (term) => (Array.isArray(term.namespaces) && term.namespaces.length > 0) || isRecord(term.namespaceSelector),
  );
}

function missingFromPod(pod: ApiObject, names: readonly string[]): string | undefined {
  if (isRecord(objectAt(pod, "spec").resources)) return undefined;
  const demanded = names.filter((name) => DEMANDED.has(name)).sort();
  const complaints: string[] = [];
  const containers = [...listAt(pod, "spec", "containers"), ...listAt(pod, "spec", "initContainers")];
  for (const name of demanded) {
    const without = containers.filter((container) => {
      const resources = objectAt(container, "resources");
      return !computeNames(readAmounts(resources.requests), readAmounts(resources.limits)).has(name);
    });
    if (without.length === 0) continue;
    const list = [...new Set(without.map((container) => String(container.name)))].sort();
    complaints.push(`${name} for: ${list.join(",")}`);
  }
  return complaints.length === 0 ? undefined : `must specify ${complaints.join("; ")}`;
}

const pods: Evaluator = {
  tracks: (name) => POD_NAMES.has(name) || isExtended(name),
  usage(pod, now) {
    const counted = new Map([["count/pods", ONE]]);
    if (isOver(pod, now)) return counted;
    return addAll(counted, computeNames(podAmounts(pod, "requests"), podAmounts(pod, "limits")));
  },
  handles({ operation, subresource, object, oldObject }) {
    if (subresource !== undefined) return false;
    return operation === "CREATE" || (operation === "UPDATE" && isTerminating(object) !== isTerminating(oldObject));
  },
  inScope: podInScope,
  missing: missingFromPod,
};

const SERVICE_NAMES: ReadonlySet<string> = new Set([
  "count/services",
  "services",
  "services.nodeports",
  "services.loadbalancers",
]);

const services: Evaluator = {
  tracks: (name) => SERVICE_NAMES.has(name),
  usage(service) {
    const { type, allocateLoadBalancerNodePorts } = objectAt(service, "spec");
    const ports = listAt(service, "spec", "ports");
    const balanced = type === "LoadBalancer";
    const named = ports.filter(({ nodePort }) => nodePort !== undefined && nodePort !== 0).length;
    const open = balanced && allocateLoadBalancerNodePorts === false ? named : ports.length;
    return new Map([
      ["count/services", ONE],
      ["services", ONE],
      ["services.nodeports", readAmount(type === "NodePort" || balanced ? open : 0)],
      ["services.loadbalancers", readAmount(balanced ? 1 : 0)],
    ]);
  },
  handles: (attributes) => isMain(attributes) && attributes.operation !== "DELETE",
};

const CLAIM_NAMES = ["persistentvolumeclaims", "requests.storage"] as const;
const CLASS_SUFFIX = ".storageclass.storage.k8s.io/";

const claims: Evaluator = {
  tracks: (name) =>
    name === "count/persistentvolumeclaims" ||
    CLAIM_NAMES.some((known) => name === known || name.endsWith(`${CLASS_SUFFIX}${known}`)),
  usage(claim) {
    const used = new Map([
      ["persistentvolumeclaims", ONE],
      ["count/persistentvolumeclaims", ONE],
    ]);
    const { storageClassName } = objectAt(claim, "spec");
    const byClass = storageClassName ? `${storageClassName}${CLASS_SUFFIX}` : undefined;
    if (byClass) used.set(`${byClass}persistentvolumeclaims`, ONE);
    const { storage } = objectAt(claim, "spec", "resources", "requests");
    if (storage !== undefined) {
      used.set("requests.storage", readAmount(storage));
      if (byClass) used.set(`${byClass}requests.storage`, readAmount(storage));
    }
    return used;
  },
  handles: (attributes) => isMain(attributes) && attributes.operation !== "DELETE",
};

const SPECIAL: Readonly<Record<string, Evaluator>> = { pods, services, persistentvolumeclaims: claims };

/** How objects of a resource count; undefined for those that no quota is about. */
export function evaluatorOf(resource: Resource): Evaluator | undefined {
  if (!resource.namespaced || resource.table === "") return undefined;
  if (resource.group === "events.k8s.io" || resource.table === "events") return undefined;
  return lookup(SPECIAL, resource.table) ?? counter(resource);
}
