/**
 * Families of objects: makes children belong to an owner, so that Kubernetes deletes them with it, and gives them its
 * namespace, a name like its own, and its labels. Nothing here talks to the API server.
 *
 * Every function takes one child, a list, or lists in lists; a child is a client object or a plain manifest. It changes
 * them in place, leaves alone what they share with others (labels, templates), and returns what it was given.
 */
import type { ObjectBody } from "@lotse/client";
import { ConfigError } from "@lotse/client/meta";
import {
  type Child,
  type Children,
  changeEach,
  type NestedPath,
  titleOf,
  updateChildren,
  withMetadata,
} from "./children.ts";
import {
  isNamespaced,
  type Owner,
  type OwnerReferenceOptions,
  ownerUid,
  type ScopeLookup,
  withOwner,
  withoutOwner,
} from "./ownership.ts";

export type { Child, Children, NestedPath } from "./children.ts";
export { buildOwnerReference, type Owner, type OwnerReferenceOptions, type ScopeLookup } from "./ownership.ts";

/** Which labels to put on, and how. */
export interface LabelOptions {
  readonly owner?: Owner | undefined;
  /** Default: the owner's. */
  readonly labels?: Readonly<Record<string, string>> | null | undefined;
  /** Overwrite labels that are there. */
  readonly forced?: boolean | undefined;
  /** Objects inside the child that get the labels too, where they exist: `["spec.template"]`. */
  readonly nested?: string | readonly NestedPath[] | undefined;
}

/** Which name to give, and how. */
export interface NamingOptions {
  readonly owner?: Owner | undefined;
  /** Default: the owner's. */
  readonly name?: string | null | undefined;
  /** Rename children that have a name. */
  readonly forced?: boolean | undefined;
  /** Exactly this name, instead of a generated one that begins with it. */
  readonly strict?: boolean | undefined;
}

/** Which namespace to set, and how. */
export interface NamespaceOptions {
  readonly owner?: Owner | undefined;
  /** Default: the owner's. */
  readonly namespace?: string | null | undefined;
  /** Move children that have a namespace. */
  readonly forced?: boolean | undefined;
  /** Whether a kind is namespaced, where neither the child nor the tables of built-in kinds can tell. */
  readonly isNamespaced?: ScopeLookup | undefined;
}

/** How to adopt: see the functions that it is made of. */
export interface AdoptOptions extends OwnerReferenceOptions {
  /** For name, namespace and labels. */
  readonly forced?: boolean | undefined;
  /** Exactly the owner's name, instead of a generated one that begins with it. */
  readonly strict?: boolean | undefined;
  /** Objects inside the child that get the labels too, where they exist: `["spec.template"]`. */
  readonly nested?: string | readonly NestedPath[] | undefined;
}

/** How to let go. */
export interface DisownOptions {
  readonly owner: Owner;
  /** Also take off the labels that have the owner's values. Default `false`: they may be the child's own. */
  readonly labels?: boolean | undefined;
  /** Objects inside the child that lose the labels too. */
  readonly nested?: string | readonly NestedPath[] | undefined;
}

/**
 * Makes children belong to `owner`: owner reference, name, namespace and labels. What they have already is kept, unless
 * `forced`.
 *
 * @example
 * ```ts
 * adopt(deployment, { owner, nested: ["spec.template"] });
 * adopt([configMap, service], { owner, strict: true });
 * ```
 */
export function adopt<T extends Children>(children: T, o: AdoptOptions): T {
  return updateChildren(children, (body, child) => {
    // The namespace first: whether an owner reference is allowed depends on it.
    const placed = withNamespace(body, child, { owner: o.owner, forced: o.forced, isNamespaced: o.isNamespaced });
    const named = withName(withOwner(placed, child, o), { owner: o.owner, forced: o.forced, strict: o.strict });
    return withLabels(named, { owner: o.owner, forced: o.forced, nested: o.nested });
  });
}

/**
 * The opposite of {@link adopt}: the owner reference goes, so that the children outlive the owner. Name and namespace
 * are what they are; labels go when asked.
 *
 * @example
 * ```ts
 * await client.replace(disown(await client.get(ConfigMap, "backup"), { owner }));
 * ```
 */
export function disown<T extends Children>(children: T, { owner, labels, nested }: DisownOptions): T {
  const uid = ownerUid(owner);
  return updateChildren(children, (body) => {
    const free = withoutOwner(body, uid);
    return labels ? changeEach(free, nested, (part) => withoutLabels(part, labelsOf(owner))) : free;
  });
}

/**
 * Puts `owner` among the owners of children; one that is there already (by uid) stays as it is, except for flags that
 * are named here. Refuses what the garbage collector would punish by deleting the child.
 */
export function appendOwnerReference<T extends Children>(children: T, o: OwnerReferenceOptions): T {
  return updateChildren(children, (body, child) => withOwner(body, child, o));
}

/** Takes `owner` (by uid) from the owners of children. */
export function removeOwnerReference<T extends Children>(children: T, o: { readonly owner: Owner }): T {
  const uid = ownerUid(o.owner);
  return updateChildren(children, (body) => withoutOwner(body, uid));
}

/**
 * Puts labels on children, the owner's by default; labels that are there stay, unless `forced`.
 *
 * @example
 * ```ts
 * label(cronJob, { labels: { app: "web" }, nested: ["spec.jobTemplate", "spec.jobTemplate.spec.template"] });
 * ```
 */
export function label<T extends Children>(children: T, o: LabelOptions): T {
  return updateChildren(children, (body) => withLabels(body, o));
}

/**
 * Names children that have neither `name` nor `generateName` (all of them when `forced`): by default `generateName` with
 * the name and a dash, with `strict` exactly the name.
 */
export function harmonizeNaming<T extends Children>(children: T, o: NamingOptions): T {
  return updateChildren(children, (body) => withName(body, o));
}

/**
 * Puts children without a namespace (all of them when `forced`) into the owner's, or the one given. Cluster-scoped
 * children have none and stay as they are.
 */
export function adjustNamespace<T extends Children>(children: T, o: NamespaceOptions): T {
  return updateChildren(children, (body, child) => withNamespace(body, child, o));
}

function withName(body: ObjectBody, { owner, name, forced, strict }: NamingOptions): ObjectBody {
  const { name: own, generateName, ...metadata } = body.metadata ?? {};
  if (!forced && (own || generateName)) return body;
  const wanted = name ?? owner?.body.metadata?.name;
  if (!wanted) {
    throw new ConfigError(`there is no name to give to ${titleOf(body)}`, {
      hint: "pass `name`, or an owner that has one, or set metadata.name",
    });
  }
  return { ...body, metadata: { ...metadata, ...(strict ? { name: wanted } : { generateName: `${wanted}-` }) } };
}

function withNamespace(body: ObjectBody, child: Child, o: NamespaceOptions): ObjectBody {
  const own = body.metadata?.namespace;
  const wanted = o.namespace ?? o.owner?.body.metadata?.namespace;
  if (!wanted || own === wanted || (own && !o.forced)) return body;
  return isNamespaced(body, child, o.isNamespaced) === false ? body : withMetadata(body, { namespace: wanted });
}

function withLabels(body: ObjectBody, { owner, labels, forced, nested }: LabelOptions): ObjectBody {
  const wanted = labels ?? (owner && labelsOf(owner));
  if (!wanted) {
    throw new ConfigError(`there are no labels to put on ${titleOf(body)}`, { hint: "pass `labels`, or an owner" });
  }
  return changeEach(body, nested, (part) => {
    const own = part.metadata?.labels ?? {};
    const merged = forced ? { ...own, ...wanted } : { ...wanted, ...own };
    const same = Object.keys(wanted).every((key) => own[key] === merged[key]);
    return same ? part : withMetadata(part, { labels: merged });
  });
}

function withoutLabels(body: ObjectBody, unwanted: Readonly<Record<string, string>>): ObjectBody {
  const own = Object.entries(body.metadata?.labels ?? {});
  const kept = own.filter(([key, value]) => unwanted[key] !== value);
  return kept.length === own.length ? body : withMetadata(body, { labels: Object.fromEntries(kept) });
}

function labelsOf(owner: Owner): Readonly<Record<string, string>> {
  return owner.body.metadata?.labels ?? {};
}
