/**
 * Whether an object is what its spec wants, as `kubectl rollout`, Helm and kstatus tell it: the generation has been
 * observed, and the numbers or conditions of its kind say so. Kinds that say nothing are ready when they are there. Pure.
 */
import { type KubeBody, parseApiVersion } from "@lotse/client";

/** What is the case, and what is missing. */
export interface Readiness {
  readonly ready: boolean;
  /** There is no use in waiting. */
  readonly failed?: boolean;
  /** What is missing; what is there. */
  readonly message: string;
}

interface Loose {
  readonly spec: Record<string, unknown>;
  readonly status: Record<string, unknown>;
}

type Rule = (parts: Loose) => Readiness | undefined;

const YES: Readiness = { ready: true, message: "it is there" };

/** See the module comment. */
export function readinessOf(body: KubeBody): Readiness {
  const { metadata } = body;
  if (metadata?.deletionTimestamp !== undefined) return no("it is being deleted");
  const parts: Loose = { spec: recordOf(body.spec), status: recordOf(body.status) };
  const observed = parts.status.observedGeneration;
  if (typeof observed === "number" && metadata?.generation !== undefined && observed < metadata.generation) {
    return no(`generation ${metadata.generation} has not been observed yet`);
  }
  const { group } = parseApiVersion(body.apiVersion ?? "v1");
  const rule = RULES[`${group}/${body.kind}`];
  return rule?.(parts) ?? byConditions(parts) ?? YES;
}

const RULES: Readonly<Record<string, Rule>> = {
  "apps/Deployment": ({ spec, status }) => {
    const wanted = count(spec.replicas, 1);
    if (condition(status, "Progressing")?.reason === "ProgressDeadlineExceeded") {
      return { ready: false, failed: true, message: "its progress deadline is over" };
    }
    if (count(status.replicas) > count(status.updatedReplicas)) return no("old replicas are still there");
    return (
      enough(count(status.updatedReplicas), wanted, "updated") ??
      enough(count(status.availableReplicas), wanted, "available")
    );
  },
  "apps/ReplicaSet": ({ spec, status }) =>
    enough(count(status.availableReplicas), count(spec.replicas, 1), "available"),
  "apps/StatefulSet": ({ spec, status }) => {
    const wanted = count(spec.replicas, 1);
    return (
      enough(count(status.readyReplicas), wanted, "ready") ??
      enough(count(status.updatedReplicas, wanted), wanted, "updated")
    );
  },
  "apps/DaemonSet": ({ status }) => {
    if (typeof status.observedGeneration !== "number") return no("it has not been observed yet");
    const wanted = count(status.desiredNumberScheduled);
    return (
      enough(count(status.updatedNumberScheduled), wanted, "updated") ??
      enough(count(status.numberAvailable), wanted, "available")
    );
  },
  "batch/Job": ({ status }) => {
    const failed = condition(status, "Failed");
    if (failed?.status === "True")
      return { ready: false, failed: true, message: `it failed: ${failed.message || failed.reason}` };
    return condition(status, "Complete")?.status === "True" ? yes("it is complete") : no("it is not complete");
  },
  "/Pod": ({ status }) => {
    if (status.phase === "Succeeded") return yes("it has succeeded");
    if (status.phase === "Failed") return { ready: false, failed: true, message: "it has failed" };
    return condition(status, "Ready")?.status === "True" ? yes("it is ready") : no("it is not ready");
  },
  "/PersistentVolumeClaim": ({ status }) => (status.phase === "Bound" ? yes("it is bound") : no("it is not bound")),
  "/Service": ({ spec, status }) => {
    if (spec.type !== "LoadBalancer") return yes("it is there");
    const ingress = recordOf(status.loadBalancer).ingress;
    return Array.isArray(ingress) && ingress.length > 0 ? yes("it has an address") : no("it has no address yet");
  },
  "apiextensions.k8s.io/CustomResourceDefinition": ({ status }) =>
    condition(status, "Established")?.status === "True" ? yes("it is established") : no("it is not established"),
};

/** What kstatus reads in any kind. */
function byConditions({ status }: Loose): Readiness | undefined {
  const stalled = condition(status, "Stalled");
  if (stalled?.status === "True") return { ready: false, failed: true, message: stalled.message || stalled.reason };
  const busy = condition(status, "Reconciling");
  if (busy?.status === "True") return no(busy.message || busy.reason);
  const ready = condition(status, "Ready");
  if (!ready) return undefined;
  return ready.status === "True" ? yes(ready.message || "it is ready") : no(ready.message || ready.reason);
}

interface LooseCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

function condition(status: Record<string, unknown>, type: string): LooseCondition | undefined {
  const { conditions } = status;
  if (!Array.isArray(conditions)) return undefined;
  const found: unknown = conditions.find((one: unknown) => recordOf(one).type === type);
  if (found === undefined) return undefined;
  const { status: is, reason, message } = recordOf(found);
  return { status: String(is), reason: String(reason ?? ""), message: String(message ?? "") };
}

function enough(has: number, wanted: number, what: string): Readiness | undefined {
  return has < wanted
    ? no(`${has} of ${wanted} ${what}`)
    : has > wanted
      ? no(`${has} ${what}, ${wanted} wanted`)
      : undefined;
}

function count(value: unknown, otherwise = 0): number {
  return typeof value === "number" ? value : otherwise;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function yes(message: string): Readiness {
  return { ready: true, message };
}

function no(message: string): Readiness {
  return { ready: false, message };
}
