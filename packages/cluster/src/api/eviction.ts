import { deepClone, matchesLabels, parseLabelSelector, SelectorError } from "@lotse/client/meta";
import {
  type ApiObject,
  admitPosted,
  badRequest,
  type DeleteOptions,
  forbidden,
  fromStore,
  isRecord,
  listAt,
  objectAt,
  remove,
  StatusError,
  type Target,
  timestamp,
  update,
} from "../registry/index.ts";
import type { ApiResponse } from "./exchange.ts";
import { writeOptions } from "./options.ts";
import { findObject, type ResourceCall, readBody, respondRaw } from "./resource-call.ts";

const BUDGETS = "poddisruptionbudgets.policy";
const EVICTION = { apiVersion: "policy/v1", kind: "Eviction" } as const;
const MOST_DISRUPTED = 2_000;
const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";

/** `POST …/pods/NAME/eviction`: a deletion that asks the pod's disruption budget first. */
export async function handleEviction(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target, request } = call;
  const body = await readBody(call);
  if (objectAt(body.value, "metadata").name !== target.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const options = writeOptions(request.query, "CreateOptions", scope.defaultManager);
  const posted = { ...(isRecord(body.value) ? body.value : {}), ...EVICTION };
  const admitted = await admitPosted(backend, scope, target, {
    operation: "CREATE",
    object: { ...posted, metadata: { ...objectAt(posted, "metadata"), namespace: target.namespace } },
    dryRun: options.dryRun,
    options: options.given ?? {},
  });
  const asked = objectAt(admitted, "deleteOptions");
  const dryRun = options.dryRun || (Array.isArray(asked.dryRun) && asked.dryRun.includes("All"));
  const pod = findObject(call);
  if (!isBeyondBudgets(pod)) await takeFromBudget(call, pod, dryRun);
  if (!dryRun) await markDisrupted(call);
  const grace = asked.gracePeriodSeconds;
  const preconditions = isRecord(asked.preconditions)
    ? (asked.preconditions as NonNullable<DeleteOptions["preconditions"]>)
    : undefined;
  await remove(
    backend,
    scope,
    { ...target, subresource: undefined },
    { gracePeriodSeconds: typeof grace === "number" ? grace : undefined, preconditions, dryRun, admitted: true },
  );
  return respondRaw(call, 201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

/** A pod that does no work cannot be missed. */
function isBeyondBudgets(pod: ApiObject): boolean {
  const { phase } = objectAt(pod, "status");
  return phase !== "Running" || pod.metadata.deletionTimestamp !== undefined;
}

async function takeFromBudget(call: ResourceCall, pod: ApiObject, dryRun: boolean): Promise<void> {
  const budgets = budgetsOf(call, pod);
  const [budget] = budgets;
  if (budget === undefined) return;
  if (budgets.length > 1) {
    throw new StatusError({
      code: 500,
      message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    });
  }
  if (!isReady(pod) && mayLoseUnready(budget)) return;
  const { backend, scope } = call;
  const endpoint = backend.catalog.storage("policy", "poddisruptionbudgets");
  if (!endpoint) return;
  const { namespace, name } = budget.metadata;
  const where: Target = { endpoint, namespace, name, subresource: "status" };
  const options = { dryRun, fieldManager: scope.defaultManager, fieldValidation: "Ignore" } as const;
  await update(backend, scope, where, options, {
    by: "patch",
    tracked: false,
    next: (current) => spend(current, pod.metadata.name, backend.clock.now()),
  });
}

function budgetsOf({ backend }: ResourceCall, pod: ApiObject): ApiObject[] {
  return backend.store
    .list(BUDGETS, `${pod.metadata.namespace}/`)
    .map((entry) => fromStore(entry.object))
    .filter((budget) => {
      const { selector } = objectAt(budget, "spec");
      try {
        return isRecord(selector) && matchesLabels(parseLabelSelector(selector), pod.metadata.labels);
      } catch (error) {
        // A selector that makes no sense selects nothing.
        if (error instanceof SelectorError) return false;
        throw error;
      }
    });
}

function isReady(pod: ApiObject): boolean {
  return listAt(pod, "status", "conditions").some(({ type, status }) => type === "Ready" && status === "True");
}

function mayLoseUnready(budget: ApiObject): boolean {
  if (objectAt(budget, "spec").unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = numbersOf(budget);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function numbersOf(budget: ApiObject) {
  const status = objectAt(budget, "status");
  const number = (key: string) => (typeof status[key] === "number" ? (status[key] as number) : 0);
  return {
    observed: number("observedGeneration"),
    allowed: number("disruptionsAllowed"),
    currentHealthy: number("currentHealthy"),
    desiredHealthy: number("desiredHealthy"),
  };
}

/** The budget with one disruption less; refuses when there is none left. */
function spend(current: ApiObject, pod: string, now: number): ApiObject {
  const budget = deepClone(current);
  const { name, generation = 0 } = budget.metadata;
  const { observed, allowed, currentHealthy, desiredHealthy } = numbersOf(budget);
  const resource = { group: "policy", plural: "poddisruptionbudget" };
  if (observed < generation) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (allowed < 0) throw forbidden(resource, name, "pdb disruptions allowed is negative");
  const status = objectAt(budget, "status");
  const disrupted = objectAt(status, "disruptedPods");
  if (Object.keys(disrupted).length > MOST_DISRUPTED) {
    const text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
    throw forbidden(resource, name, text);
  }
  if (allowed === 0) {
    throw tooMany(
      currentHealthy <= desiredHealthy
        ? `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
        : `The disruption budget ${name} does not allow evicting pods currently`,
    );
  }
  budget.status = {
    ...status,
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...disrupted, [pod]: timestamp(now) },
  };
  return budget;
}

function tooMany(cause: string, retryAfterSeconds?: number): StatusError {
  return new StatusError({
    code: 429,
    reason: "TooManyRequests",
    message: REFUSAL,
    details: {
      causes: [{ reason: "DisruptionBudget", message: cause }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
}

async function markDisrupted({ backend, scope, target }: ResourceCall): Promise<void> {
  const options = { dryRun: false, fieldManager: scope.defaultManager, fieldValidation: "Ignore" } as const;
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: timestamp(backend.clock.now()),
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  await update(backend, scope, { ...target, subresource: "status" }, options, {
    by: "patch",
    tracked: false,
    next: (current) => {
      const pod = deepClone(current);
      const others = listAt(pod, "status", "conditions").filter(({ type }) => type !== condition.type);
      pod.status = { ...objectAt(pod, "status"), conditions: [...others, condition] };
      return pod;
    },
  });
}
