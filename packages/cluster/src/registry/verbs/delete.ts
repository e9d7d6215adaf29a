import { deepClone, deepEqual } from "@lotse/client/meta";
import type { Entry } from "../../store/index.ts";
import type { Codec } from "../codec.ts";
import { conflict, notFound, type Status } from "../errors.ts";
import { type ApiObject, fromStore, timestamp, toStore } from "../object.ts";
import { type Endpoint, storeKey } from "../resource.ts";
import type { Backend, Requester, Target } from "./request.ts";

/** What becomes of the objects that a deleted one owns. */
export type Propagation = "Background" | "Foreground" | "Orphan";

/** What a deletion asks for, from its body and its query. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: Propagation | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly dryRun: boolean;
  /** What of this the client said itself: shown to those who are asked for admission. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Admission was asked about the request already, in the form in which it came. */
  readonly admitted?: boolean;
  /** One of many: the request names none of them. */
  readonly unnamed?: boolean;
}

/** The object as it was deleted, or as it waits for its end. */
export interface Deleted {
  readonly object: ApiObject;
  /** Gone for good; otherwise something still holds it. */
  readonly gone: boolean;
}

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";
const ATTEMPTS = 5;

/** DELETE of one object: removes it, or marks it when finalizers or a grace period hold it. */
export async function remove(
  backend: Backend,
  requester: Requester,
  target: Target,
  options: DeleteOptions,
): Promise<Deleted> {
  for (let attempt = 1; ; attempt++) {
    const deleted = await tryRemove(backend, requester, target, options);
    if (deleted) return deleted;
    if (attempt === ATTEMPTS) throw conflict(target.endpoint.resource, target.name as string);
  }
}

/** Undefined when another writer was faster. */
async function tryRemove(
  backend: Backend,
  requester: Requester,
  target: Target,
  options: DeleteOptions,
): Promise<Deleted | undefined> {
  const { resource, version } = target.endpoint;
  const name = target.name as string;
  const key = storeKey(target.namespace, name);
  const entry = backend.store.get(resource.table, key);
  if (!entry) throw notFound(resource, name);
  const stored = fromStore(entry.object);
  await version.codec.prepareReads?.([stored]);
  checkPreconditions(target, stored, options);
  const attributes = {
    operation: "DELETE",
    endpoint: target.endpoint,
    subresource: target.subresource,
    namespace: target.namespace,
    name: options.unnamed ? "" : name,
    object: undefined,
    oldObject: version.codec.fromStorage(stored),
    dryRun: options.dryRun,
    options: options.given ?? {},
    user: requester.user,
    warn: requester.warn,
    annotate: requester.annotate,
  } as const;
  if (!options.admitted) {
    await backend.admission.mutate(attributes);
    await backend.admission.validate(attributes);
  }

  const decision = inOrder(version.codec, decide(target.endpoint, stored, options, backend.clock.now()));
  if (decision.warning !== undefined) requester.warn(decision.warning);
  const show = async (object: ApiObject, gone: boolean): Promise<Deleted> => {
    await version.codec.prepareReads?.([object]);
    return { object: version.codec.fromStorage(object), gone };
  };
  if (options.dryRun) {
    const changed = decision.action === "mark" || (decision.action === "remove" && decision.marked === true);
    return show(changed ? decision.object : stored, decision.action === "remove");
  }
  switch (decision.action) {
    case "nothing":
      return show(stored, false);
    case "remove": {
      if (!decision.marked) return erase(backend, target.endpoint, entry, decision.object, show);
      // Watchers see that it is going before they see that it is gone, however short the time between.
      const marked = backend.store.update(resource.table, key, entry.revision, toStore(decision.object));
      return marked.ok
        ? erase(backend, target.endpoint, marked.entry, fromStore(marked.entry.object), show)
        : undefined;
    }
    case "mark": {
      const result = backend.store.update(resource.table, key, entry.revision, toStore(decision.object));
      return result.ok ? show(fromStore(result.entry.object), false) : undefined;
    }
  }
}

function erase(
  backend: Backend,
  endpoint: Endpoint,
  entry: Entry,
  last: ApiObject,
  show: (object: ApiObject, gone: boolean) => Promise<Deleted>,
): Promise<Deleted> | undefined {
  const result = backend.store.delete(endpoint.resource.table, entry.key, entry.revision, toStore(last));
  // The last state carries the version of the deletion, as the watchers see it.
  return result.ok ? show(fromStore(result.entry.object), true) : undefined;
}

function inOrder(codec: Codec, decision: DeleteDecision): DeleteDecision {
  return decision.action === "nothing" ? decision : { ...decision, object: codec.inOrder(decision.object) };
}

/** What a deletion does to an object. Decided without touching it. */
export type DeleteDecision =
  | { readonly action: "nothing"; readonly warning?: string | undefined }
  | {
      readonly action: "remove" | "mark";
      readonly object: ApiObject;
      readonly warning?: string | undefined;
      /** Of what is removed: it is marked first, as a change of its own. */
      readonly marked?: boolean;
    };

/** What a DELETE does to an object: pure, so that every combination can be tested. */
export function decide(endpoint: Endpoint, stored: ApiObject, options: DeleteOptions, now: number): DeleteDecision {
  const { strategy } = endpoint.resource;
  const object = deepClone(stored);
  const meta = object.metadata;
  const policy = propagationOf(endpoint, stored, options);
  const kept = (meta.finalizers ?? []).filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (policy === "Orphan") kept.push(ORPHAN);
  if (policy === "Foreground") kept.push(FOREGROUND);
  if (!sameSet(kept, meta.finalizers ?? [])) {
    if (kept.length > 0) meta.finalizers = kept;
    else delete meta.finalizers;
  }

  const asked = options.gracePeriodSeconds;
  const terminating = stored.metadata.deletionTimestamp !== undefined;
  const present = stored.metadata.deletionGracePeriodSeconds ?? 0;
  let grace = strategy.gracePeriodSeconds?.(object, asked) ?? 0;
  // A running countdown can only be shortened, and only by a request that asks for it.
  if (terminating && present > 0 && (asked === undefined || grace >= present)) grace = present;

  const held = (meta.finalizers ?? []).length > 0 || strategy.heldBack?.(object) === true;
  const usesDefault = options.propagationPolicy === undefined && options.orphanDependents === undefined;
  const warning = usesDefault ? strategy.defaultPropagationWarning : undefined;
  // Kinds that take time to stop show how much they were given, even when it is none.
  const shows = strategy.gracePeriodSeconds !== undefined;
  if (!held && grace === 0 && !shows) return { action: "remove", object, warning };

  if (!terminating || grace < present) {
    const started = terminating ? Date.parse(stored.metadata.deletionTimestamp as string) - present * 1_000 : now;
    const due = started + grace * 1_000;
    // No object's time is over before it was asked to go.
    if (terminating && due < now && grace > 0) grace = 1;
    meta.deletionTimestamp = timestamp(Math.max(due, now));
    if (!strategy.marksTimeOnly) meta.deletionGracePeriodSeconds = grace;
    if (!terminating) {
      if ((meta.generation ?? 0) > 0 && !strategy.marksTimeOnly) meta.generation = (meta.generation as number) + 1;
      strategy.markDeleting?.(object, now);
    }
  }
  if (!held && grace === 0) return { action: "remove", object, warning, marked: !deepEqual(object, stored) };
  return deepEqual(object, stored) ? { action: "nothing", warning } : { action: "mark", object, warning };
}

function propagationOf(endpoint: Endpoint, stored: ApiObject, options: DeleteOptions): Propagation {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? "Orphan" : "Background";
  if (options.propagationPolicy !== undefined) return options.propagationPolicy;
  const finalizers = stored.metadata.finalizers ?? [];
  if (finalizers.includes(ORPHAN)) return "Orphan";
  if (finalizers.includes(FOREGROUND)) return "Foreground";
  return endpoint.resource.strategy.orphansByDefault ? "Orphan" : "Background";
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

function checkPreconditions(target: Target, stored: ApiObject, options: DeleteOptions): void {
  const wanted = options.preconditions;
  if (!wanted) return;
  const { resource } = target.endpoint;
  const { uid, resourceVersion } = stored.metadata;
  const named = { group: resource.group, plural: resource.kind };
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    throw conflict(
      named,
      target.name as string,
      `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    throw conflict(
      named,
      target.name as string,
      `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** The answer to a DELETE that left nothing behind, for kinds that do not show the object. */
export function deletedStatus(endpoint: Endpoint, object: ApiObject): Status {
  const { group, plural } = endpoint.resource;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: object.metadata.name,
      ...(group === "" ? {} : { group }),
      kind: plural,
      uid: object.metadata.uid,
    },
  };
}
