import {
  type Amount,
  type Amounts,
  type ApiObject,
  addAll,
  type Backend,
  formatAmount,
  fromStore,
  isRecord,
  listAt,
  NOTHING,
  objectAt,
  readAmounts,
} from "../../registry/index.ts";
import { type Evaluator, evaluatorOf, type Scope } from "./evaluators.ts";

/** The table of ResourceQuotas in the store. */
export const QUOTAS = "resourcequotas";

/** The scopes that a quota is limited to. */
export function scopesOf(quota: ApiObject): Scope[] {
  const { scopes } = objectAt(quota, "spec");
  const named = Array.isArray(scopes) ? scopes.map((scopeName) => ({ scopeName, operator: "Exists", values: [] })) : [];
  const selected = listAt(quota, "spec", "scopeSelector", "matchExpressions").map((expression) => ({
    scopeName: String(expression.scopeName),
    operator: String(expression.operator),
    values: Array.isArray(expression.values) ? expression.values.map(String) : [],
  }));
  return [...named, ...selected];
}

/** Whether a quota with these scopes counts the object: all of them have to fit. */
export function inScopes(object: ApiObject, scopes: readonly Scope[], evaluator: Evaluator): boolean {
  return scopes.every((scope) => evaluator.inScope?.(object, scope) === true);
}

/** What the objects of a namespace use of what a quota limits. */
export function usageIn(
  quota: ApiObject,
  { store, catalog }: Pick<Backend, "store" | "catalog">,
  now: number,
): Amounts {
  const names = [...readAmounts(objectAt(quota, "spec").hard).keys()];
  const scopes = scopesOf(quota);
  let used = new Map<string, Amount>();
  for (const resource of catalog.all()) {
    const evaluator = evaluatorOf(resource);
    const tracked = evaluator ? names.filter((name) => evaluator.tracks(name)) : [];
    if (!evaluator || tracked.length === 0) continue;
    for (const name of tracked) if (!used.has(name)) used.set(name, NOTHING);
    for (const entry of store.list(resource.table, `${quota.metadata.namespace}/`)) {
      const object = fromStore(entry.object);
      if (!inScopes(object, scopes, evaluator)) continue;
      used = addAll(used, only(evaluator.usage(object, now), tracked));
    }
  }
  return used;
}

/** The amounts of some names. */
export function only(amounts: Amounts, names: readonly string[]): Map<string, Amount> {
  return new Map([...amounts].filter(([name]) => names.includes(name)));
}

/** As they are written down, in order of names. */
export function writeAmounts(amounts: Amounts): Record<string, string> {
  const sorted = [...amounts].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, amount]) => [name, formatAmount(amount)]));
}

/** As messages show them: `cpu=1,pods=2`. */
export function showAmounts(amounts: Amounts): string {
  return Object.entries(writeAmounts(amounts))
    .map(([name, text]) => `${name}=${text}`)
    .join(",");
}

/** The limits or the use that a quota's status tells, by the name of the resource. */
export const statusAmounts = (quota: ApiObject, key: "hard" | "used"): Map<string, Amount> => {
  const value = objectAt(quota, "status")[key];
  return isRecord(value) ? readAmounts(value) : new Map();
};
