import { deepClone, matchesLabels, parseLabelSelector, SelectorError } from "@lotse/client/meta";
import {
  type ApiObject,
  admitPosted,
  badRequest,
  bareInternal,
  conflict,
  type DeleteOptions,
  decodeBody,
  type FieldValidation,
  forbidden,
  fromStore,
  invalid,
  invalidValue,
  isRecord,
  listAt,
  matchNamespace,
  objectAt,
  remove,
  StatusError,
  subresourceEndpoint,
  type Target,
  timestamp,
  unknownResource,
  update,
  type WriteOptions,
} from "../../registry/index.ts";
import type { ApiResponse } from "../exchange.ts";
import { deleteOptions, writeOptions } from "../resources/options.ts";
import { findObject, type ResourceCall, readBody, respondRaw } from "../resources/resource-call.ts";

const BUDGETS = "poddisruptionbudgets.policy";
const OLDER = "policy/v1beta1";
const DANGER = "ignoreStoreReadErrorWithClusterBreakingPotential";
const MOST_DISRUPTED = 2_000;
const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";

/** `POST …/pods/NAME/eviction`: a deletion that asks the pod's disruption budget first. */
export async function handleEviction(call: ResourceCall): Promise<ApiResponse> {
  const { backend, requester, target, request } = call;
  const options = writeOptions(request.query, "CreateOptions", requester.defaultManager);
  const eviction = await readEviction(call, options.fieldValidation);
  const dryRun = agreedDryRun(eviction, options);
  const admitted = await admitPosted(backend, requester, target, {
    operation: "CREATE",
    object: eviction,
    dryRun: options.dryRun,
    options: options.given ?? {},
  });
  const asked = objectAt(admitted, "deleteOptions");
  const deletion = deleteOptions(new URLSearchParams(dryRun ? { dryRun: "All" } : {}), asked);
  const pod = findObject(call);
  if (!isBeyondBudgets(pod)) await takeFromBudget(call, pod, dryRun);
  const wanted = objectAt(asked, "preconditions") as Preconditions;
  const { resourceVersion, ...others } = wanted;
  if (!dryRun) await markDisrupted(call, wanted);
  // The version that was asked for is the one before the mark.
  const preconditions = dryRun || resourceVersion === undefined ? deletion.preconditions : others;
  await remove(
    backend,
    requester,
    { ...target, subresource: undefined },
    { ...deletion, preconditions, admitted: true },
  );
  return respondRaw(call, 201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

type Preconditions = NonNullable<DeleteOptions["preconditions"]>;

/** The body as an Eviction about the pod of the path. The older version of the kind says the same. */
async function readEviction(call: ResourceCall, validation: FieldValidation): Promise<ApiObject> {
  const { target, requester, tables } = call;
  const endpoint = subresourceEndpoint(target.endpoint, "eviction", tables);
  if (endpoint === undefined) throw unknownResource();
  const body = await readBody(call, "Eviction");
  const older = isRecord(body.value) && body.value.apiVersion === OLDER && body.value.kind === "Eviction";
  const value = older ? { ...(body.value as object), apiVersion: "policy/v1" } : body.value;
  const eviction = decodeBody(endpoint, { ...body, value }, validation, requester);
  matchNamespace(eviction, target.namespace);
  if (eviction.metadata.name !== target.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  if (objectAt(eviction, "deleteOptions")[DANGER] === true) {
    const detail = "can not be set for pod eviction, try after removing the option";
    const error = invalidValue(`deleteOptions.${DANGER}`, true, detail);
    throw invalid({ group: "policy", kind: "Eviction" }, target.name ?? "", [error]);
  }
  return eviction;
}

/** Whether nothing is to happen; the request and the options in its body must not contradict each other. */
function agreedDryRun(eviction: ApiObject, { dryRun, given = {} }: WriteOptions): boolean {
  const inBody = textList(objectAt(eviction, "deleteOptions").dryRun);
  const inQuery = textList(given.dryRun);
  if (inBody.length === 0) return dryRun;
  if (inQuery.length > 0 && inQuery.join() !== inBody.join()) {
    const lists = `[${inQuery.join(" ")}] and [${inBody.join(" ")}]`;
    throw bareInternal(`Non-matching dry-run options in request and content: ${lists}`);
  }
  return inBody.includes("All");
}

const textList = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** Phases in which a pod does no work, so that it cannot be missed. */
const IDLE: ReadonlySet<unknown> = new Set(["Pending", "Succeeded", "Failed"]);

function isBeyondBudgets(pod: ApiObject): boolean {
  return IDLE.has(objectAt(pod, "status").phase) || pod.metadata.deletionTimestamp !== undefined;
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
  const { backend, requester } = call;
  const endpoint = backend.catalog.storage("policy", "poddisruptionbudgets");
  if (!endpoint) return;
  const { namespace, name } = budget.metadata;
  const where: Target = { endpoint, namespace, name, subresource: "status" };
  const options = { dryRun, fieldManager: requester.defaultManager, fieldValidation: "Ignore" } as const;
  await update(backend, requester, where, options, {
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
    throw tooMany(`The disruption budget ${name} ${whyNone(budget, currentHealthy, desiredHealthy)}`);
  }
  const left = allowed - 1;
  budget.status = {
    ...status,
    disruptionsAllowed: left,
    disruptedPods: { ...disrupted, [pod]: timestamp(now) },
    ...(left === 0 && { conditions: withSpent(budget, timestamp(now)) }),
  };
  return budget;
}

const ALLOWED = "DisruptionAllowed";

/** Why a budget lets no pod go. What it counts is not to be trusted when the last count failed. */
function whyNone(budget: ApiObject, healthy: number, desired: number): string {
  const known = listAt(budget, "status", "conditions").find(({ type }) => type === ALLOWED);
  const { reason, message } = known?.status === "False" ? known : { reason: "", message: "" };
  const silent = "does not allow evicting pods currently";
  if (reason === "SyncFailed" && message) return `${silent} because it failed sync: ${message}`;
  if (healthy <= desired) return `needs ${desired} healthy pods and has ${healthy} currently`;
  return message ? `${silent} (${reason}): ${message}` : silent;
}

/** The conditions of a budget of which nothing is left; the time is that of the change. */
function withSpent(budget: ApiObject, now: string): Record<string, unknown>[] {
  const conditions = listAt(budget, "status", "conditions");
  const before = conditions.find(({ type }) => type === ALLOWED);
  const spent = {
    type: ALLOWED,
    status: "False",
    observedGeneration: objectAt(budget, "status").observedGeneration,
    lastTransitionTime: before?.status === "False" ? before.lastTransitionTime : now,
    reason: "InsufficientPods",
    message: "",
  };
  return before === undefined ? [...conditions, spent] : conditions.map((one) => (one === before ? spent : one));
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

/** Refuses a pod that is not, or no longer, the one that was meant. */
function checkPreconditions({ metadata }: ApiObject, { uid, resourceVersion }: Preconditions): void {
  const resource = { group: "", plural: "Pod" };
  if (uid && uid !== metadata.uid) {
    const text = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(resource, metadata.name, text);
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    const text = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(resource, metadata.name, text);
  }
}

async function markDisrupted(
  { backend, requester, target }: ResourceCall,
  preconditions: Preconditions,
): Promise<void> {
  const options = { dryRun: false, fieldManager: requester.defaultManager, fieldValidation: "Ignore" } as const;
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: timestamp(backend.clock.now()),
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  await update(backend, requester, { ...target, subresource: "status" }, options, {
    by: "patch",
    tracked: false,
    next: (current) => {
      checkPreconditions(current, preconditions);
      const pod = deepClone(current);
      const others = listAt(pod, "status", "conditions").filter(({ type }) => type !== condition.type);
      pod.status = { ...objectAt(pod, "status"), conditions: [...others, condition] };
      return pod;
    },
  });
}
