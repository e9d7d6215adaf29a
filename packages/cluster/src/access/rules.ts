import { isRecord } from "../registry/index.ts";

/** One permission of a role: the verbs, and what they may be used on. Lists that are absent are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** What a request is about to do: with an object or a collection, or with a path that is neither. */
export type Attempt = ResourceAttempt | PathAttempt;

/** An attempt at an object or a collection, as rules with resources speak of it. */
export interface ResourceAttempt {
  readonly type: "resource";
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty when there is none; the same for the three below. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** An attempt at a path that is no resource, as rules with nonResourceURLs speak of it. */
export interface PathAttempt {
  readonly type: "path";
  readonly verb: string;
  readonly path: string;
}

const ALL = "*";

const has = (list: readonly string[] | undefined, wanted: string): boolean =>
  list !== undefined && (list.includes(ALL) || list.includes(wanted));

/** Whether a rule permits an attempt. The namespace does not matter here: it decides which rules are asked at all. */
export function ruleAllows(rule: PolicyRule, attempt: Attempt): boolean {
  if (!has(rule.verbs, attempt.verb)) return false;
  if (attempt.type === "path") return (rule.nonResourceURLs ?? []).some((url) => urlCovers(url, attempt.path));
  const { subresource, name } = attempt;
  const full = subresource === "" ? attempt.resource : `${attempt.resource}/${subresource}`;
  const names = rule.resourceNames ?? [];
  return (
    has(rule.apiGroups, attempt.group) &&
    (has(rule.resources, full) || (subresource !== "" && (rule.resources ?? []).includes(`*/${subresource}`))) &&
    (names.length === 0 || names.includes(name))
  );
}

function urlCovers(owned: string, wanted: string): boolean {
  return owned === wanted || (owned.endsWith(ALL) && wanted.startsWith(owned.replace(/\*+$/, "")));
}

/**
 * The parts of `wanted` that `owned` does not permit, one verb of one resource each. Empty when all of it is permitted,
 * which is when a user with `owned` may give `wanted` away.
 */
export function missingRights(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !owned.some((rule) => ruleCovers(rule, part)));
}

function breakDown(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const parts: PolicyRule[] = [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) parts.push(part);
        else for (const name of resourceNames) parts.push({ ...part, resourceNames: [name] });
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) parts.push({ nonResourceURLs: [url], verbs: [verb] });
  return parts;
}

/** `part` has at most one of everything. */
function ruleCovers(rule: PolicyRule, part: PolicyRule): boolean {
  const [verb = ""] = part.verbs;
  if (!has(rule.verbs, verb)) return false;
  const [url] = part.nonResourceURLs ?? [];
  if (url !== undefined) {
    return (rule.resourceNames ?? []).length === 0 && (rule.nonResourceURLs ?? []).some((own) => urlCovers(own, url));
  }
  const [group = ""] = part.apiGroups ?? [];
  const [resource = ""] = part.resources ?? [];
  const [name] = part.resourceNames ?? [];
  const names = rule.resourceNames ?? [];
  const slash = resource.indexOf("/");
  return (
    has(rule.apiGroups, group) &&
    (has(rule.resources, resource) || (slash >= 0 && (rule.resources ?? []).includes(`*${resource.slice(slash)}`))) &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

/** Puts the verbs of parts that are about the same resource together again. */
export function compactRules(parts: readonly PolicyRule[]): PolicyRule[] {
  const bySubject = new Map<string, PolicyRule>();
  const rest: PolicyRule[] = [];
  for (const part of parts) {
    if (part.nonResourceURLs !== undefined) {
      rest.push(part);
      continue;
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames]);
    const known = bySubject.get(key);
    bySubject.set(key, known ? { ...known, verbs: [...known.verbs, ...part.verbs] } : part);
  }
  return [...rest, ...bySubject.values()];
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
export function describeRule(rule: PolicyRule): string {
  const lists: [string, readonly string[] | undefined][] = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ];
  const shown = lists.filter(([, list]) => list !== undefined && list.length > 0);
  return `{${shown.map(([name, list = []]) => `${name}:${quotedList(list)}`).join(", ")}}`;
}

/** Texts as the server lists them: `["a" "b"]`. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

/** The rules of a stored role, whatever a client left out of them. */
export function rulesOf(role: unknown): PolicyRule[] {
  const rules = isRecord(role) ? role.rules : undefined;
  if (!Array.isArray(rules)) return [];
  return rules.filter(isRecord).map((rule) => ({ ...rule, verbs: Array.isArray(rule.verbs) ? rule.verbs : [] }));
}
