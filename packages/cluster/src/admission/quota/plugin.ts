import {
  type AdmissionAttributes,
  type Amount,
  type Amounts,
  type ApiObject,
  addAll,
  fromStore,
  NOTHING,
  objectAt,
  toStore,
  trackUpdate,
} from "../../registry/index.ts";
import type { AdmissionPlugin } from "../chain.ts";
import { type AdmissionBackend, refused } from "../request.ts";
import { type Evaluator, evaluatorOf } from "./evaluators.ts";
import { inScopes, only, QUOTAS, scopesOf, showAmounts, statusAmounts, writeAmounts } from "./usage.ts";

const MANAGER = "kube-apiserver";

/**
 * Refuses what would use more than a ResourceQuota of the namespace allows. What it lets pass is added to the quota's
 * status at once, in the same turn as the check: two writes can never share the last free place.
 */
export function resourceQuotas(backend: AdmissionBackend): AdmissionPlugin {
  return {
    validate(attributes) {
      const { endpoint, namespace, object, operation } = attributes;
      if (namespace === undefined || !object || operation === "DELETE") return;
      const entries = backend.store.list(QUOTAS, `${namespace}/`);
      if (entries.length === 0) return;
      const evaluator = evaluatorOf(endpoint.resource);
      if (!evaluator?.handles(attributes)) return;
      const charges: { readonly key: string; readonly revision: number; readonly quota: ApiObject; used: Amounts }[] =
        [];
      for (const entry of entries) {
        const quota = fromStore(entry.object);
        const used = charge(attributes, quota, evaluator, backend);
        if (used) charges.push({ key: entry.key, revision: entry.revision, quota, used });
      }
      if (attributes.dryRun) return;
      for (const { key, revision, quota, used } of charges) writeUsed(backend, key, revision, quota, used);
    },
  };
}

/** What is used of a quota when the write happens; undefined when it does not touch the quota. */
function charge(
  attributes: AdmissionAttributes,
  quota: ApiObject,
  evaluator: Evaluator,
  { clock }: AdmissionBackend,
): Amounts | undefined {
  const object = attributes.object as ApiObject;
  const { name } = quota.metadata;
  const hard = statusAmounts(quota, "hard");
  const tracked = [...hard.keys()].filter((resource) => evaluator.tracks(resource));
  if (tracked.length === 0 || !inScopes(object, scopesOf(quota), evaluator)) return undefined;
  const missing = evaluator.missing?.(object, tracked);
  if (missing !== undefined) throw refused(attributes, `failed quota: ${name}: ${missing}`);
  const used = statusAmounts(quota, "used");
  if (tracked.some((resource) => !used.has(resource))) {
    throw refused(attributes, `status unknown for quota: ${name}, resources: ${tracked.sort().join(",")}`);
  }
  const requested = only(added(attributes, quota, evaluator, clock.now()), [...hard.keys()]);
  if (requested.size === 0) return undefined;
  const after = addAll(used, requested);
  const exceeded = [...requested.keys()].filter(
    (resource) => (after.get(resource)?.nanos ?? 0n) > (hard.get(resource)?.nanos ?? 0n),
  );
  if (exceeded.length > 0) {
    const show = (amounts: Amounts) => showAmounts(only(amounts, exceeded));
    const text = `exceeded quota: ${name}, requested: ${show(requested)}, used: ${show(used)}, limited: ${show(hard)}`;
    throw refused(attributes, text);
  }
  return after;
}

/** What the write uses more than before; less is only known for sure when it has happened. */
function added(attributes: AdmissionAttributes, quota: ApiObject, evaluator: Evaluator, now: number): Amounts {
  const { object, oldObject } = attributes;
  const usage = evaluator.usage(object as ApiObject, now);
  const before =
    oldObject && inScopes(oldObject, scopesOf(quota), evaluator)
      ? evaluator.usage(oldObject, now)
      : new Map<string, Amount>();
  const more = [...usage].map(([name, amount]): [string, Amount] => [
    name,
    { ...amount, nanos: amount.nanos - (before.get(name) ?? NOTHING).nanos },
  ]);
  return new Map(more.filter(([, amount]) => amount.nanos > 0n));
}

function writeUsed(backend: AdmissionBackend, key: string, revision: number, quota: ApiObject, used: Amounts): void {
  const status = { ...objectAt(quota, "status"), used: writeAmounts(used) };
  const object = { ...quota, metadata: { ...quota.metadata }, status };
  const endpoint = backend.catalog.storage("", QUOTAS);
  if (endpoint) trackUpdate(endpoint, quota, object, MANAGER, "status", backend.clock.now());
  backend.store.update(QUOTAS, key, revision, toStore(endpoint?.version.codec.inOrder(object) ?? object));
}
