/**
 * Which kinds is a handler for? A selector is read when it is declared, and asked again whenever the cluster's kinds
 * change. Both are pure.
 *
 *     pods · po · Pod                                        any name, in any letter case
 *     deployments.apps · deployments.v1.apps · pods.v1       with the group, with the version
 *     apps/v1/deployments · v1/pods · apps/deployments       the same from the left
 *     deployments.apps/v1
 *     { kind: "Pod" }, { category: "all", group: "apps" }    by one certain property
 *     everything, everything.in({ group: "example.com" })    all but events
 *     (kind) => kind.shortNames.includes("x")                whatever the predicate accepts, but no events
 *     Pod, resource({...}), a KindDescription                exactly this kind in exactly this version
 *
 * Rules, so that one object is never handled under two names:
 *
 * - Without a version, only the version that the server prefers counts. A predicate sees all versions; of those that it
 *   accepts of one kind, the most preferred is served.
 * - A name without a group means the core group when it has that name: `pods` is never the pods of `metrics.k8s.io`.
 * - A name that several groups have otherwise is ambiguous: none of them is served, for a wrong guess would write to
 *   strangers' objects. A full name goes before a short name, as in kubectl, so that a short name of a new CRD cannot stop
 *   an operator that says `deployments`.
 * - What cannot be listed and watched is not served. Subresources are no kinds.
 */
import { apiVersionOf, type KindClass, type KindDescription } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { DeclarationError, declarationError } from "./errors.ts";

/** Narrows a selector to a group (`""` is the core group), or to one version of it. */
export interface SelectorScope {
  readonly group?: string;
  readonly version?: string;
}

/** By what a kind can be selected; `name` is any of plural, singular, kind and short names. */
const CRITERIA = ["name", "kind", "plural", "singular", "shortName", "category"] as const;

type Criterion = (typeof CRITERIA)[number];

type OneOf<Key extends string> = {
  [One in Key]: { readonly [P in One]: string } & { readonly [P in Exclude<Key, One>]?: never };
}[Key];

/**
 * Selects kinds by exactly one property.
 *
 * @example
 * ```ts
 * operator.on.event({ category: "all" }, function seen({ resource, name }) {});
 * operator.on.create({ kind: "Certificate", group: "cert-manager.io" }, function issued({ name }) {});
 * ```
 */
export type SelectorFields = SelectorScope & OneOf<Criterion>;

/** Decides by what discovery knows of a kind. Asked whenever the cluster's kinds change; must not have side effects. */
export type KindPredicate = (kind: KindDescription) => boolean;

/** The type of {@link everything}. */
export interface Everything extends SelectorScope {
  readonly selects: "everything";
  /** Everything in one group, or in one version of it. */
  in(scope: { readonly group: string; readonly version?: string }): Everything;
}

/** All that selects kinds. */
export type SelectorInput = string | SelectorFields | Everything | KindPredicate | KindClass | KindDescription;

/** A selector, read and checked. Names are in lower case, because letter case never matters. */
export type ResourceSelector =
  | { readonly type: "exact"; readonly group: string; readonly version: string; readonly plural: string }
  | (SelectorScope & { readonly type: "named"; readonly by: Exclude<Criterion, "category">; readonly name: string })
  | (SelectorScope & { readonly type: "category"; readonly category: string })
  | (SelectorScope & { readonly type: "everything" })
  | { readonly type: "predicate"; readonly matches: KindPredicate };

/**
 * All kinds of the cluster, except events: an operator that handles events makes events.
 *
 * @example
 * ```ts
 * operator.on.event(everything, function audit({ type, resource, name }) {});
 * operator.on.event(everything.in({ group: "example.com" }), function mine({ name }) {});
 * ```
 */
export const everything: Everything = everythingIn({});

function everythingIn(scope: SelectorScope): Everything {
  return Object.freeze({ ...scope, selects: "everything" as const, in: everythingIn });
}

/** Reads a selector; throws a {@link DeclarationError} that says what to write. */
export function parseSelector(input: SelectorInput): ResourceSelector {
  if (typeof input === "string") return parseText(input);
  if (typeof input === "function") {
    if ("description" in input && isDescription(input.description)) return exactly(input.description);
    if (/^class\b/.test(Function.prototype.toString.call(input))) {
      throw declarationError(
        `the class ${input.name || "without a name"} describes no kind`,
        "use a class made by resource({...})",
      );
    }
    return { type: "predicate", matches: input as KindPredicate };
  }
  if (!isObject(input)) throw declarationError(`${String(input)} selects no kind`, SPELLINGS);
  if (isEverything(input)) return { type: "everything", ...checkScope(scopeOf(input), "everything") };
  return isDescription(input) ? exactly(input) : parseFields(input as Record<string, unknown>);
}

const SPELLINGS = 'write "pods", "deployments.apps", "deployments.v1.apps", "apps/v1/deployments" or "v1/pods"';
const VERSION = /^v\d+(?:(?:alpha|beta)\d+)?$/;
const WORD = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const GROUP = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** Second words that are never a kind: an author who writes `pods/status` means a part of the pod. */
const SUBRESOURCES: ReadonlySet<string> = new Set(["status", "scale", "log", "exec"]);

function parseText(input: string): ResourceSelector {
  const text = input.trim().toLowerCase();
  if (text === "") throw declarationError("an empty text selects no kind", SPELLINGS);
  if (text === "*")
    throw declarationError('"*" is not the name of a kind', 'write everything (import it from "lotse")');
  // Read on, an empty group would silently mean the core group.
  if (text.split(/[./]/).includes("")) throw declarationError(`"${input}" has an empty part`, SPELLINGS);
  const { name, ...scope } = splitText(input, text);
  if (!WORD.test(name)) throw declarationError(`"${input}" is not the name of a kind`, SPELLINGS);
  return { type: "named", by: "name", name, ...checkScope(scope, input) };
}

function splitText(input: string, text: string): SelectorScope & { readonly name: string } {
  const parts = text.split("/");
  const [first = "", second = "", third = ""] = parts;
  if (parts.length === 1) return splitDots(first);
  if (SUBRESOURCES.has(parts.at(-1) as string)) {
    throw declarationError(
      `"${input}" names a subresource`,
      `write "${parts.slice(0, -1).join("/")}": handlers get whole objects`,
    );
  }
  if (parts.length === 3) return { group: first, version: second, name: third };
  if (parts.length > 3) throw declarationError(`"${input}" has too many parts`, SPELLINGS);
  if (VERSION.test(first)) return { group: "", version: first, name: second };
  if (!VERSION.test(second)) return { group: first, name: second };
  const dot = first.indexOf(".");
  if (dot < 0)
    throw declarationError(`"${input}" is a group and a version without a kind`, `write "${first}/${second}/<plural>"`);
  return { name: first.slice(0, dot), group: first.slice(dot + 1), version: second };
}

/** `name`, `name.group`, `name.version`, `name.version.group`. */
function splitDots(text: string): SelectorScope & { readonly name: string } {
  const dot = text.indexOf(".");
  if (dot < 0) return { name: text };
  const name = text.slice(0, dot);
  const rest = text.slice(dot + 1);
  const next = rest.indexOf(".");
  const version = next < 0 ? rest : rest.slice(0, next);
  if (!VERSION.test(version)) return { name, group: rest };
  return next < 0 ? { name, version } : { name, version, group: rest.slice(next + 1) };
}

function parseFields(fields: Record<string, unknown>): ResourceSelector {
  const shown = JSON.stringify(fields);
  for (const key of Object.keys(fields)) {
    if (key === "group" || key === "version" || (CRITERIA as readonly string[]).includes(key)) continue;
    throw declarationError(
      `a selector has no "${key}": ${shown}`,
      `write one of ${CRITERIA.join(", ")}, with group and version`,
    );
  }
  const given = CRITERIA.filter((criterion) => fields[criterion] !== undefined);
  const [by] = given;
  if (by === undefined) {
    throw declarationError(
      `${shown} names no kind`,
      `add one of ${CRITERIA.join(", ")}, or write everything.in({ group })`,
    );
  }
  if (given.length > 1)
    throw declarationError(`${shown} names kinds in ${given.length} ways`, `leave only one of ${given.join(", ")}`);
  const value = fields[by];
  if (typeof value !== "string" || value === "") {
    throw declarationError(`"${by}" of ${shown} is not a name`, "write a text that is not empty");
  }
  const scope = checkScope(scopeOf(fields), shown);
  const name = value.toLowerCase();
  return by === "category" ? { type: "category", category: name, ...scope } : { type: "named", by, name, ...scope };
}

function scopeOf({ group, version }: { readonly group?: unknown; readonly version?: unknown }): SelectorScope {
  return {
    ...(group !== undefined && { group: lowerCase(group) }),
    ...(version !== undefined && { version: lowerCase(version) }),
  };
}

function lowerCase(value: unknown): string {
  if (typeof value !== "string")
    throw declarationError(`${String(value)} is neither a group nor a version`, "write a text");
  return value.toLowerCase();
}

function checkScope(scope: SelectorScope, shown: string): SelectorScope {
  const { group, version } = scope;
  if (group !== undefined && group !== "" && !GROUP.test(group)) {
    throw declarationError(
      `"${group}" in ${shown} is not an API group`,
      'write a domain such as "example.com", "" for the core',
    );
  }
  if (version !== undefined && !WORD.test(version)) {
    throw declarationError(`"${version}" in ${shown} is not an API version`, 'write "v1", "v1beta1", or leave it out');
  }
  return scope;
}

function isEverything(input: object): input is Everything {
  return (input as { selects?: unknown }).selects === "everything";
}

function isDescription(input: unknown): input is KindDescription {
  return isObject(input) && typeof input.plural === "string" && typeof input.namespaced === "boolean";
}

function exactly({ group, version, plural }: KindDescription): ResourceSelector {
  return { type: "exact", group, version, plural };
}

/** What a selector means in a cluster. */
export interface Selection {
  /** The kinds to serve. */
  readonly kinds: readonly KindDescription[];
  /** Kinds that share the name, none of them in the core group: none is served until the selector says its group. */
  readonly ambiguous: readonly KindDescription[];
  /** Kinds that match too, but stand behind one of `kinds`: other groups behind the core group, other versions. */
  readonly ignored: readonly KindDescription[];
  /** Kinds that match but lack a verb that is needed. */
  readonly unable: readonly KindDescription[];
  /** Nothing matches at all: not installed yet, or misspelt. */
  readonly missing: boolean;
}

/** How to choose. */
export interface SelectionOptions {
  /** What the server must offer for a kind to be served. Default: list and watch. */
  readonly verbs?: readonly string[];
}

const WATCHABLE = ["list", "watch"] as const;

/**
 * The kinds that a selector means. `kinds` are in the order of discovery: core first, versions by the server's
 * preference.
 */
export function selectKinds(
  selector: ResourceSelector,
  kinds: readonly KindDescription[],
  { verbs = WATCHABLE }: SelectionOptions = {},
): Selection {
  const matched = matchingKinds(selector, kinds);
  const meant = bestNamed(selector, matched);
  const unable = meant.filter((kind) => !verbs.every((verb) => kind.verbs.includes(verb)));
  const found = onePerKind(meant.filter((kind) => !unable.includes(kind)));
  const clash = selector.type === "named" && found.length > 1;
  return {
    kinds: clash ? [] : found,
    ambiguous: clash ? found : [],
    ignored: matched.filter((kind) => !found.includes(kind) && !unable.includes(kind)),
    unable,
    missing: matched.length === 0,
  };
}

/** Whether a declared resource selects this kind. */
export function selects(resource: SelectorInput, kind: KindDescription): boolean {
  const selector = parseSelector(resource);
  if (selector.type === "exact") return selector.plural === kind.plural && selector.group === kind.group;
  return selectKinds(selector, [kind], { verbs: [] }).kinds.length > 0;
}

function matchingKinds(selector: ResourceSelector, all: readonly KindDescription[]): KindDescription[] {
  const kinds = all.filter(({ plural }) => !plural.includes("/"));
  if (selector.type === "exact") {
    const { group, version, plural } = selector;
    return kinds.filter((kind) => kind.group === group && kind.version === version && kind.plural === plural);
  }
  if (selector.type === "predicate") return kinds.filter((kind) => !isEvents(kind) && asks(selector.matches, kind));
  const { group, version } = selector;
  const there = version === undefined ? onePerKind(kinds) : kinds.filter((kind) => kind.version === version);
  return there.filter((kind) => (group === undefined || kind.group === group) && answersTo(selector, kind));
}

type LooseSelector = Extract<ResourceSelector, SelectorScope & { readonly type: "named" | "category" | "everything" }>;

function answersTo(selector: LooseSelector, kind: KindDescription): boolean {
  if (selector.type === "everything") return !isEvents(kind);
  if (selector.type === "category") return includes(kind.categories, selector.category);
  const { by, name } = selector;
  if (by === "name") return hasFullName(kind, name) || includes(kind.shortNames, name);
  return by === "shortName" ? includes(kind.shortNames, name) : kind[by].toLowerCase() === name;
}

/**
 * Whom a name means among all that have it. Verbs play no part here: which group a name means must not depend on what
 * a handler wants to do. Selectors for many kinds have nothing to settle.
 */
function bestNamed(selector: ResourceSelector, matched: readonly KindDescription[]): readonly KindDescription[] {
  if (selector.type !== "named") return matched;
  const { by, name } = selector;
  const inFirstGroup = preferring(matched, ({ group }) => group === "");
  return by === "name" ? preferring(inFirstGroup, (kind) => hasFullName(kind, name)) : inFirstGroup;
}

function preferring<T>(items: readonly T[], better: (item: T) => boolean): readonly T[] {
  const best = items.filter(better);
  return best.length > 0 ? best : items;
}

/** Of each kind the first version: the one that the server prefers. */
function onePerKind(kinds: readonly KindDescription[]): KindDescription[] {
  const seen = new Set<string>();
  return kinds.filter(({ group, plural }) => {
    const key = `${plural}.${group}`;
    return !seen.has(key) && seen.add(key);
  });
}

function isEvents({ group, plural }: KindDescription): boolean {
  return plural === "events" && (group === "" || group === "events.k8s.io");
}

function hasFullName(kind: KindDescription, name: string): boolean {
  return includes([kind.plural, kind.singular, kind.kind], name);
}

function includes(names: readonly string[], name: string): boolean {
  return names.some((one) => one.toLowerCase() === name);
}

function asks(predicate: KindPredicate, kind: KindDescription): boolean {
  let answer: unknown;
  try {
    answer = predicate(kind);
  } catch (cause) {
    throw predicateError(predicate, `failed for ${describeKindName(kind)}: ${String(cause)}`, cause);
  }
  // The promise of an async function would be true for every kind of the cluster.
  if (typeof answer !== "boolean") throw predicateError(predicate, "answered neither true nor false");
  return answer;
}

function predicateError(predicate: KindPredicate, what: string, cause?: unknown): DeclarationError {
  return new DeclarationError(`the resource predicate ${predicate.name || "(without a name)"} ${what}`, {
    hint: "return true or false, not a promise, for every kind that the cluster may have",
    cause,
  });
}

/** A selector in words, for the log: `deployments.apps`, `category all in apps/v1`, `everything`. */
export function describeSelector(selector: ResourceSelector): string {
  switch (selector.type) {
    case "exact":
      return describeKindName(selector);
    case "named":
      return selector.by === "name"
        ? describeName(selector.name, selector)
        : `${selector.by} ${selector.name}${inScope(selector)}`;
    case "category":
      return `category ${selector.category}${inScope(selector)}`;
    case "everything":
      return `everything${inScope(selector)}`;
    case "predicate":
      return selector.matches.name ? `predicate ${selector.matches.name}` : "a predicate";
  }
}

function describeName(name: string, { group, version }: SelectorScope): string {
  if (group === "" && version === undefined) return `${name}${inScope({ group })}`;
  if (group !== undefined && version !== undefined) return `${apiVersionOf({ group, version })}/${name}`;
  return [name, version, group].filter((part) => part !== undefined).join(".");
}

function inScope({ group, version }: SelectorScope): string {
  if (group === undefined) return version === undefined ? "" : ` in version ${version}`;
  if (version !== undefined) return ` in ${apiVersionOf({ group, version })}`;
  return group === "" ? " in the core group" : ` in ${group}`;
}

function describeKindName(kind: { readonly group: string; readonly version: string; readonly plural: string }): string {
  return `${apiVersionOf(kind)}/${kind.plural}`;
}
