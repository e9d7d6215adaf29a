/**
 * One object in two worlds: as it is in the cluster, and as it would be had the shadow worked instead of the version that
 * works. Every step is a pure function; who calls them tells the shadow of what has become of `would`.
 *
 * What must stay true: `would` never has what the working version has written since the fork began, and has at once
 * whatever any other client writes.
 */
import type { KubeBody, ManagedFieldsEntry, ObjectMeta } from "@lotse/client";
import type { ObjectReference } from "../report/index.ts";
import { changesBetween, type FieldChange, withChange } from "./field-changes.ts";
import { type Fields, fieldsOfEntries, has, union, without } from "./fields.ts";
import { replaceFields } from "./replace-fields.ts";
import type { Worker } from "./worker.ts";

/** Who of the shadow wrote which fields, and for which object. */
export interface Authorship {
  readonly handlers: readonly string[];
  readonly object: ObjectReference | undefined;
  readonly fields: Fields;
}

/** See the module comment. */
export interface Fork {
  /** In the cluster, with its managed fields. */
  readonly is: KubeBody | undefined;
  /** In the shadow's world. */
  readonly would: KubeBody | undefined;
  /** Nothing has been written by either version: both are the same. */
  readonly alike: boolean;
  /** The working version has made it. */
  readonly made: boolean;
  /** The working version has changed what was wanted of it, and nobody knows what that was before. */
  readonly uncertain: boolean;
  /** The fields that the shadow has written. */
  readonly own: Fields | undefined;
  readonly by: readonly Authorship[];
  /**
   * `own`: the shadow has deleted it. `held`: it goes in the cluster, and the shadow is not told yet, because it may want
   * to delete it as well.
   */
  readonly deletion: "own" | "held" | undefined;
  /** What the cluster had of it last, when it has it no longer. */
  readonly last: KubeBody | undefined;
}

/** How a fork looks at the cluster. */
export interface Outlook {
  readonly worker: Worker;
  /** Whether the working version's part in an object that is first seen is kept from the shadow. */
  readonly isNew: (body: KubeBody, initial: boolean) => boolean;
  /** Whether an owner of the object is gone or goes: then it goes with its owner. */
  readonly ownerGoes: (body: KubeBody) => boolean;
}

const UNTOUCHED = { uncertain: false, own: undefined, by: [], deletion: undefined, last: undefined } as const;

/** The cluster shows an object that was not known. */
export function begin(is: KubeBody, initial: boolean, { worker, isNew }: Outlook): Fork {
  const made = worker.made(is);
  const fork = { ...UNTOUCHED, is, made };
  if (!worker.touched(is) || !isNew(is, initial)) return { ...fork, would: is, alike: true };
  if (made) return { ...fork, would: undefined, alike: false };
  const uncertain = Object.keys(worker.fieldsOf(is) ?? {}).some((part) => part !== "f:metadata" && part !== "f:status");
  return { ...fork, would: withoutWorker(is, worker), alike: false, uncertain };
}

/**
 * An object that is not the working version's, without what that wrote. What it wrote into the spec stays: nobody knows
 * what was there before.
 */
function withoutWorker(is: KubeBody, worker: Worker): KubeBody {
  const { "f:status": status, "f:metadata": metadata } = worker.fieldsOf(is) ?? {};
  const off = { ...(status && { "f:status": status }), ...(metadata && { "f:metadata": metadata }) };
  const rest = replaceFields(is, { off, on: undefined, from: undefined });
  return withMetadata(rest, { managedFields: othersEntries(is, worker) });
}

/** The cluster shows an object of a fork: it has changed, or is there now. */
export function shown(fork: Fork, is: KubeBody, outlook: Outlook): Fork {
  const { worker } = outlook;
  if (!fork.is) {
    const made = worker.made(is);
    if (!fork.would) return { ...begin(is, false, outlook), by: fork.by };
    // The shadow was first: the same object from now on.
    const would = bound(fork.would, fork.own, is, worker);
    return { ...fork, is, made, would, deletion: undefined, last: undefined };
  }
  if (fork.is.metadata?.uid !== is.metadata?.uid) return another(fork, is, outlook);
  if (!fork.would) return { ...fork, is };
  if (fork.alike && !goes(is, fork.is) && !isBy(worker, fork.is, is)) return { ...fork, is, would: is };
  const would = flow(fork.would, fork.is, is, worker);
  const next = { ...fork, is, alike: false };
  if (fork.deletion === "held") return { ...next, would: withoutMark(would) };
  if (!goes(is, fork.is)) return { ...next, would };
  if (fork.made && fork.deletion === undefined && !outlook.ownerGoes(is)) {
    return { ...next, would: withoutMark(would), deletion: "held" };
  }
  return { ...next, would };
}

/** It was deleted and made again in the cluster between two looks. */
function another(fork: Fork, is: KubeBody, outlook: Outlook): Fork {
  const without = vanished(fork, outlook);
  return without ? shown(without, is, outlook) : begin(is, false, outlook);
}

/** The cluster has the object no longer; undefined when nobody has. */
export function vanished(fork: Fork, { ownerGoes, worker }: Outlook): Fork | undefined {
  const { would, is } = fork;
  if (!would || !is) return undefined;
  const gone: Fork = { ...fork, is: undefined, last: is, alike: false };
  if (fork.deletion === "held" || (fork.made && fork.deletion === undefined && !isMarked(is) && !ownerGoes(is))) {
    return { ...gone, deletion: "held" };
  }
  return afterDeletion(gone, is, worker);
}

/** The shadow was told nothing of a deletion for long enough: now it is. */
export function released(fork: Fork, worker: Worker): Fork | undefined {
  const open: Fork = { ...fork, deletion: undefined };
  if (!fork.is) return fork.last && afterDeletion(open, fork.last, worker);
  const { deletionTimestamp, deletionGracePeriodSeconds } = fork.is.metadata ?? {};
  if (deletionTimestamp === undefined || !fork.would) return open;
  const mark = { deletionTimestamp, ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }) };
  return { ...open, would: withMetadata(fork.would, mark) };
}

/** Only what holds it in the shadow's world keeps it there: a finalizer of the shadow's. */
function afterDeletion(fork: Fork, last: KubeBody, worker: Worker): Fork | undefined {
  const { would } = fork;
  const left = would?.metadata?.finalizers?.filter((name) => !isOthersFinalizer(name, last, worker)) ?? [];
  if (!would || left.length === 0) return undefined;
  const { deletionTimestamp = last.metadata?.deletionTimestamp ?? last.metadata?.creationTimestamp } =
    would.metadata ?? {};
  return {
    ...fork,
    would: withMetadata(would, { finalizers: left, ...(deletionTimestamp !== undefined && { deletionTimestamp }) }),
  };
}

function isOthersFinalizer(name: string, last: KubeBody, worker: Worker): boolean {
  if (!last.metadata?.finalizers?.includes(name)) return false;
  return !has(worker.fieldsOf(last), ["f:metadata", "f:finalizers", `v:${JSON.stringify(name)}`]);
}

/** The shadow has written: `would` is what became of the object, `fields` what it has written. */
export function wrote(
  fork: Fork | undefined,
  would: KubeBody,
  fields: Fields,
  who: Omit<Authorship, "fields"> | undefined,
): Fork {
  const before: Fork = fork ?? { ...UNTOUCHED, is: undefined, would: undefined, alike: false, made: false };
  const by = who ? [...before.by.filter((one) => !isSame(one, who)), joined(before.by, who, fields)] : before.by;
  return {
    ...before,
    would,
    alike: false,
    own: union(before.own, fields),
    by,
    // Whoever makes it anew does not want it gone.
    deletion: before.would || before.deletion === "held" ? before.deletion : undefined,
  };
}

function isSame(one: Omit<Authorship, "fields">, other: Omit<Authorship, "fields">): boolean {
  return one.handlers.join() === other.handlers.join() && one.object?.uid === other.object?.uid;
}

function joined(by: readonly Authorship[], who: Omit<Authorship, "fields">, fields: Fields): Authorship {
  const before = by.find((one) => isSame(one, who))?.fields;
  return { ...who, fields: union(before, fields) ?? fields };
}

/** The shadow has deleted it, and something holds it there: `would` carries the mark. */
export function marked(fork: Fork, would: KubeBody, who: Omit<Authorship, "fields"> | undefined): Fork {
  return { ...wrote(fork, would, {}, who), deletion: "own" };
}

/** The shadow has deleted it, and nothing holds it there; undefined when nobody has it. */
export function removed(fork: Fork, who: Omit<Authorship, "fields"> | undefined): Fork | undefined {
  if (!fork.is) return undefined;
  return { ...fork, would: undefined, alike: false, deletion: "own", by: who ? [{ ...who, fields: {} }] : [] };
}

/**
 * The object that the shadow has made and the one that the working version has made are the same one: what others have
 * made of it, with the shadow's fields instead of the working version's.
 */
export function bound(would: KubeBody, own: Fields | undefined, is: KubeBody, worker: Worker): KubeBody {
  const both = replaceFields(is, { off: worker.fieldsOf(is), on: own, from: would });
  const entries = [...othersEntries(is, worker), ...(would.metadata?.managedFields ?? [])];
  return withMetadata(both, { managedFields: entries });
}

/** What others have changed, made to the shadow's object as well. */
function flow(would: KubeBody, before: KubeBody, is: KubeBody, worker: Worker): KubeBody {
  const trees = treesOf(before, is);
  const changes = changesBetween(contentOf(before), contentOf(is), trees).filter(isOthers(before, is, worker));
  let next: unknown = would;
  for (const { path, now } of changes) next = withChange(next, path, now);
  const meta = is.metadata ?? {};
  const own = ownEntries(would, worker, changes);
  const { deletionTimestamp, deletionGracePeriodSeconds } = meta;
  const grown = generationAfter(would, before, is, changes);
  return withMetadata(tidied(next as KubeBody), {
    managedFields: [...othersEntries(is, worker), ...own],
    ...(grown !== undefined && { generation: grown }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  });
}

/** Who changes a field takes it over: the shadow has what it has set and nobody has changed since. */
function ownEntries({ metadata }: KubeBody, worker: Worker, changes: readonly FieldChange[]): ManagedFieldsEntry[] {
  const own = metadata?.managedFields?.filter((entry) => worker.isIts(entry)) ?? [];
  return own.flatMap((entry) => {
    let fields = entry.fieldsV1 as Fields | undefined;
    for (const { path } of changes) fields = fields && without(fields, path);
    return fields ? [{ ...entry, fieldsV1: fields }] : [];
  });
}

/** A generation counts changes of what is wanted; the worker's own do not count in the shadow's world. */
function generationAfter(would: KubeBody, before: KubeBody, is: KubeBody, changes: readonly FieldChange[]) {
  const { generation } = would.metadata ?? {};
  const [from = 0, to = 0] = [before.metadata?.generation, is.metadata?.generation];
  const wanted = changes.some(({ path }) => path[0] !== "f:status" && path[0] !== "f:metadata");
  return generation === undefined || to <= from || !(wanted || goes(is, before)) ? undefined : generation + (to - from);
}

/**
 * A field that the worker owns now was changed by it. One that is gone has no owner any more: it went with the worker's
 * write, or it was the worker's.
 */
function isOthers(
  before: KubeBody,
  is: KubeBody,
  worker: Worker,
): (change: FieldChange, i: number, all: FieldChange[]) => boolean {
  const [had, owns] = [worker.fieldsOf(before), worker.fieldsOf(is)];
  return ({ path, now }, _, all) => {
    if (now !== undefined) return !has(owns, path);
    if (has(had, path)) return false;
    return !all.some((one) => one.now !== undefined && has(owns, one.path));
  };
}

/** Whether the step from one state to the next has anything of the worker's in it. */
function isBy(worker: Worker, before: KubeBody, is: KubeBody): boolean {
  if (!worker.touched(is) && !worker.touched(before)) return false;
  const changes = changesBetween(contentOf(before), contentOf(is), treesOf(before, is));
  return !changes.every(isOthers(before, is, worker));
}

function treesOf(...bodies: readonly KubeBody[]): Fields[] {
  return bodies.flatMap((body) => fieldsOfEntries(body, () => true) ?? []);
}

/** Without what the server keeps for itself, and which no manager owns. */
function contentOf(body: KubeBody): KubeBody {
  const { resourceVersion: _, generation: __, managedFields: ___, ...metadata } = body.metadata ?? {};
  const { deletionTimestamp: _____, deletionGracePeriodSeconds: ______, ...rest } = metadata;
  return { ...body, metadata: rest };
}

function othersEntries(body: KubeBody, worker: Worker): NonNullable<ObjectMeta["managedFields"]> {
  return body.metadata?.managedFields?.filter((entry) => !worker.isIts(entry)) ?? [];
}

function isMarked(body: KubeBody | undefined): boolean {
  return body?.metadata?.deletionTimestamp !== undefined;
}

/** Whether its deletion has begun between the two. */
function goes(is: KubeBody, before: KubeBody): boolean {
  return isMarked(is) && !isMarked(before);
}

function withoutMark(body: KubeBody): KubeBody {
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = body.metadata ?? {};
  return { ...body, metadata };
}

function withMetadata(body: KubeBody, metadata: Partial<ObjectMeta>): KubeBody {
  return { ...body, metadata: { ...body.metadata, ...metadata } };
}

const MAY_BE_EMPTY = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/** The server does not keep what is empty in the metadata. */
function tidied(body: KubeBody): KubeBody {
  const metadata = { ...body.metadata };
  for (const name of MAY_BE_EMPTY) if (Object.keys(metadata[name] ?? { one: 1 }).length === 0) delete metadata[name];
  return { ...body, metadata };
}
