/** What an operator wants to be registered, and whether it is. Pure. */
import { createHash } from "node:crypto";
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";

/** An object that tells the API server of this operator, or a part of one. */
export interface Wanted {
  readonly body: KubeBody;
  /** How people call it: `the policy "size" (operator.ts:12)`. */
  readonly title: string;
  /** It is a part of an object that others make: never created here, and never deleted. */
  readonly partial?: boolean | undefined;
}

/** Where an object says which version of this operator has written it last. */
export function digestAnnotation(operator: string): string {
  return `${operator}.lotse.dev/registered`;
}

/** Of all that is wanted of the object. */
export function digestOfWanted(body: KubeBody): string {
  return createHash("sha256").update(JSON.stringify(body)).digest("base64url").slice(0, 16);
}

/** The body that is applied: with its digest, and with what must be empty said to be so. */
export function bodyToApply({ body }: Wanted, operator: string): KubeBody {
  const { metadata } = body;
  const annotations = { ...metadata?.annotations, [digestAnnotation(operator)]: digestOfWanted(body) };
  return { ...(explicit(body) as KubeBody), metadata: { ...metadata, annotations } } as KubeBody;
}

/** Selectors that are not there mean everything: what is said is not lost to another client that adds to it. */
function explicit(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => explicit(item, `${key}[]`));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) copy[name] = explicit(item, name);
  if (key === "webhooks[]" || key === "matchConstraints") {
    copy.namespaceSelector ??= {};
    copy.objectSelector ??= {};
  }
  return copy;
}

/** Fields that narrow what is judged: where another client has put one, it is as if something had been taken away. */
const NARROWING: ReadonlySet<string> = new Set([
  "namespaceSelector",
  "objectSelector",
  "matchLabels",
  "matchExpressions",
  "matchConditions",
  "excludeResourceRules",
  "resourceNames",
  "matchResources",
]);

/** Whether the object is as wanted. What the API server adds, and entries of others, are no difference. */
export function isAsWanted(live: KubeBody, { body }: Wanted): boolean {
  const { apiVersion: _, kind: __, metadata, ...rest } = body;
  return isAs(live, rest) && isAs(live.metadata?.labels, metadata?.labels);
}

function isAs(live: unknown, wanted: unknown, key = ""): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live)) return wanted.length === 0 && live === undefined;
    if (key === "webhooks") {
      return wanted.every((item) => live.some((one) => one?.name === item.name && isAs(one, item, `${key}[]`)));
    }
    return live.length === wanted.length && wanted.every((item, at) => isAs(live[at], item, `${key}[]`));
  }
  if (!isObject(wanted)) return live === wanted;
  if (!isObject(live)) return Object.keys(wanted).length === 0 && live === undefined;
  if (!Object.keys(wanted).every((name) => isAs(live[name], wanted[name], name))) return false;
  return Object.keys(live).every((name) => !NARROWING.has(name) || name in wanted || isEmpty(live[name]));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : !isObject(value) || Object.keys(value).length === 0;
}

/** Who has changed the object last, beside this operator, as the API server names it. */
export function lastManagerOf(live: KubeBody, own: string): string | undefined {
  // What controllers of the cluster say of an object is not a change of it.
  const others = (live.metadata?.managedFields ?? []).filter(
    ({ manager, subresource }) => manager !== own && subresource !== "status",
  );
  return others.sort((a, b) => String(b.time ?? "").localeCompare(String(a.time ?? "")))[0]?.manager;
}

/** What the API server finds strange in the expressions of a policy, which it has taken all the same. */
export function typeWarnings(live: KubeBody): readonly { readonly fieldRef: string; readonly warning: string }[] {
  const { typeChecking, observedGeneration } = (live.status ?? {}) as {
    typeChecking?: { expressionWarnings?: readonly { readonly fieldRef: string; readonly warning: string }[] };
    observedGeneration?: number;
  };
  return observedGeneration === live.metadata?.generation ? (typeChecking?.expressionWarnings ?? []) : [];
}

/**
 * The entries of a configuration as they shall be, where applying did not suffice: what another client has put into an
 * entry goes, what it has put beside ours stays. Undefined for other objects.
 */
export function replacedEntries(live: KubeBody, wanted: KubeBody): readonly object[] | undefined {
  const ours = (wanted as { webhooks?: readonly { readonly name: string }[] }).webhooks;
  if (!ours) return undefined;
  const theirs = (live as { webhooks?: readonly { readonly name: string }[] }).webhooks ?? [];
  return [...ours, ...theirs.filter(({ name }) => !ours.some((one) => one.name === name))];
}
