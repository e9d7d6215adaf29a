/**
 * Which kinds are handled, and by which handlers? Several declarations may mean the same kind under different names;
 * each kind gets all of its handlers in one place, so that it has one stream, one record and one writer. Pure.
 */
import type { KindClass, KindDescription } from "@lotse/client";
import { type KindKey, kindKey } from "@lotse/client/meta";
import type { ResourceDeclaration } from "./declarations.ts";
import { DeclarationError } from "./errors.ts";
import type { Handler } from "./handler.ts";
import { describeSelector, parseSelector, type Selection, selectKinds, selects } from "./selectors.ts";

/** A kind that is to be handled. */
export interface KindPlan {
  readonly kind: KindDescription;
  /** The user's class, where the kind was declared by one. */
  readonly kindClass: KindClass | undefined;
  readonly handlers: readonly Handler[];
}

/** Something about a declaration that people should know. */
export interface PlanProblem {
  /** The declared resource, in words. */
  readonly resource: string;
  readonly problem: "missing" | "ambiguous" | "unable";
  readonly kinds: readonly KindDescription[];
}

/** What {@link planKinds} found. */
export interface Plan {
  readonly kinds: ReadonlyMap<KindKey, KindPlan>;
  readonly problems: readonly PlanProblem[];
}

/** Whether the kinds of the cluster have to be known to plan these declarations. */
export function needsDiscovery(declarations: readonly ResourceDeclaration[]): boolean {
  return declarations.some(({ resource }) => parseSelector(resource).type !== "exact");
}

/** See the module comment. `discovered` are the kinds of the cluster, in the server's order. */
export function planKinds(declarations: readonly ResourceDeclaration[], discovered: readonly KindDescription[]): Plan {
  const kinds = new Map<KindKey, { kind: KindDescription; kindClass: KindClass | undefined; handlers: Handler[] }>();
  const problems: PlanProblem[] = [];
  const add = (kind: KindDescription, kindClass: KindClass | undefined, handlers: readonly Handler[]) => {
    const key = kindKey(kind);
    const planned = kinds.get(key);
    if (!planned) kinds.set(key, { kind, kindClass, handlers: [...handlers] });
    else {
      // A class knows the version that its types are for; a name only follows the server's preference.
      if (kindClass && !planned.kindClass) Object.assign(planned, { kind, kindClass });
      else if (kindClass && planned.kind.version !== kind.version) throw twoVersions(planned.kind, kind);
      planned.handlers.push(...distinct(planned.handlers, handlers, kind));
    }
  };
  for (const { resource, handlers } of declarations) {
    const selector = parseSelector(resource);
    if (selector.type === "exact") {
      const kindClass = typeof resource === "function" ? (resource as KindClass) : undefined;
      add(kindClass?.description ?? (resource as KindDescription), kindClass, handlers);
      continue;
    }
    const selection = selectKinds(selector, discovered, { verbs: verbsFor(handlers) });
    for (const kind of selection.kinds) add(kind, undefined, handlers);
    problems.push(...problemsOf(describeSelector(selector), selection));
  }
  return { kinds, problems };
}

/** The kinds that have a reconciler, as far as that is known without asking a cluster: those that are told exactly. */
export function reconciledKinds({
  resources,
}: {
  readonly resources: readonly ResourceDeclaration[];
}): KindDescription[] {
  return resources.flatMap(({ resource, handlers }) => {
    if (parseSelector(resource).type !== "exact" || !handlers.some(({ type }) => type === "reconcile")) return [];
    return typeof resource === "function" ? (resource as KindClass).description : (resource as KindDescription);
  });
}

/** Whether a reconciler of any kind has said that it follows `kind`. */
export function isFollowedByAny(
  { resources }: { readonly resources: readonly ResourceDeclaration[] },
  kind: KindDescription,
): boolean {
  return resources.some((one) => isFollowedBy(one, kind));
}

/** Whether reconcilers of a planned kind have said that they follow `kind`. */
export function isFollowedBy({ handlers }: Pick<KindPlan, "handlers">, kind: KindDescription): boolean {
  return handlers.some(
    (handler) =>
      handler.type === "reconcile" &&
      [...handler.owns, ...handler.watches.map(({ resource }) => resource)].some((one) => selects(one, kind)),
  );
}

/** What a kind must allow: to be watched, and to be written to by handlers whose work is remembered or that patch. */
function verbsFor(handlers: readonly Handler[]): readonly string[] {
  const writes = handlers.some(({ type }) => type !== "event" && type !== "index");
  return writes ? ["list", "watch", "patch"] : ["list", "watch"];
}

/** An object has one writer, and one form in which it is handled. */
function twoVersions(one: KindDescription, other: KindDescription): DeclarationError {
  return new DeclarationError(`${one.kind} has handlers for ${one.version} and for ${other.version}`, {
    hint: `declare all of them for one version; what the other needs of it, Kind.version("…") reads with the client`,
  });
}

function distinct(known: readonly Handler[], more: readonly Handler[], kind: KindDescription): readonly Handler[] {
  const twice = more.find(({ id }) => known.some((handler) => handler.id === id));
  if (twice) {
    throw new DeclarationError(
      `handler id "${twice.id}" is used twice for ${kind.kind}, which was declared under two names`,
      {
        hint: 'name one of them with { id: "…" }',
      },
    );
  }
  return more;
}

function problemsOf(resource: string, { missing, ambiguous, unable }: Selection): PlanProblem[] {
  const problems: PlanProblem[] = [];
  if (ambiguous.length > 0) problems.push({ resource, problem: "ambiguous", kinds: ambiguous });
  if (unable.length > 0) problems.push({ resource, problem: "unable", kinds: unable });
  if (missing && problems.length === 0) problems.push({ resource, problem: "missing", kinds: [] });
  return problems;
}
