import { deepClone, deepEqual, lookup, setKey } from "@lotse/client/meta";
import type { Entry } from "../../store/index.ts";
import { narrowPod } from "../builtin/pod-subresources.ts";
import { badRequest, bareInternal, conflict, invalid, notFound } from "../errors.ts";
import { invalidValue } from "../fields.ts";
import { type ApiObject, fromStore, toStore } from "../object.ts";
import { dropDuplicateOwners, validateMeta, validateMetaUpdate } from "../object-meta.ts";
import { namedKind, storeKey } from "../resource.ts";
import type { StrategyContext } from "../strategy.ts";
import { decodeBody } from "./body.ts";
import { create, matchNamespace } from "./create.ts";
import { trackUpdate, withoutTimes } from "./managed-fields.ts";
import {
  type Backend,
  type ParsedBody,
  type Requester,
  strategyContext,
  type Target,
  type WriteOptions,
} from "./request.ts";
import { assertStorable } from "./storage-limit.ts";

/** How a request makes a new object of the present one. */
export interface Change {
  readonly by: "put" | "patch" | "apply";
  /** Called again with newer state when another writer was faster. Must not change `current`. */
  readonly next: (current: ApiObject) => ApiObject;
  /** An apply keeps managedFields itself. */
  readonly tracked: boolean;
}

/** The object as it was stored, and whether the write has created it. */
export interface Written {
  readonly object: ApiObject;
  readonly created: boolean;
}

/** Writers that do not insist on a version try again when they lose a race, but not for ever. */
const ATTEMPTS = 5;

/** PUT to an object or to its status. */
export async function updateFromBody(
  backend: Backend,
  requester: Requester,
  target: Target,
  body: ParsedBody,
  options: WriteOptions,
): Promise<Written> {
  const { endpoint, name, namespace } = target;
  const object = decodeBody(endpoint, body, options.fieldValidation, requester);
  if (!object.metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (object.metadata.name !== name) {
    throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`);
  }
  matchNamespace(object, namespace);
  endpoint.version.codec.applyDefaults(object);
  const missing = !backend.store.get(endpoint.resource.table, keyOf(target));
  if (missing && endpoint.resource.strategy.createOnUpdate && target.subresource === undefined) {
    delete (object.metadata as Partial<ApiObject["metadata"]>).resourceVersion;
    return { object: await create(backend, requester, target, object, options), created: true };
  }
  return update(backend, requester, target, options, { by: "put", next: () => deepClone(object), tracked: false });
}

const keyOf = (target: Target): string => storeKey(target.namespace, target.name as string);

/** Changes a stored object: the one way in which every PUT and PATCH, by people or controllers, happens. */
export async function update(
  backend: Backend,
  requester: Requester,
  target: Target,
  options: WriteOptions,
  change: Change,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await tryUpdate(backend, requester, target, options, change);
    if (outcome.done) return outcome.written;
    if (outcome.insists || attempt === ATTEMPTS) throw conflict(target.endpoint.resource, target.name as string);
  }
}

type Outcome = { done: true; written: Written } | { done: false; insists: boolean };

async function tryUpdate(
  backend: Backend,
  requester: Requester,
  target: Target,
  options: WriteOptions,
  change: Change,
): Promise<Outcome> {
  const { resource, version } = target.endpoint;
  const name = target.name as string;
  const entry = backend.store.get(resource.table, keyOf(target));
  if (!entry) throw notFound(resource, name);
  const stored = fromStore(entry.object);
  await version.codec.prepareReads?.([stored]);
  const old = version.codec.fromStorage(stored);

  const proposed = change.next(old);
  checkIdentity(target, proposed);
  const insists = checkVersion(target, proposed, old, change);
  checkUid(target, proposed, old, change);
  if (!change.tracked) {
    trackUpdate(target.endpoint, old, proposed, options.fieldManager, target.subresource, backend.clock.now());
  }
  const attributes = {
    operation: "UPDATE",
    endpoint: target.endpoint,
    subresource: target.subresource,
    namespace: target.namespace,
    name,
    oldObject: old,
    dryRun: options.dryRun,
    options: options.given ?? {},
    user: requester.user,
    warn: requester.warn,
    annotate: requester.annotate,
  } as const;
  const { admission } = backend;
  const admitted = options.admitted ? proposed : await admission.mutate({ ...attributes, object: proposed });
  const fresh = admitted ?? proposed;
  version.codec.applyDefaults(fresh);
  prepare(strategyContext(backend, requester, options.dryRun), target, fresh, old);
  const warning = dropDuplicateOwners(fresh.metadata);
  if (warning !== undefined) requester.warn(warning);
  await resource.strategy.prepareValidation?.(fresh);
  validate(target, fresh, old, requester.warn);
  for (const text of resource.strategy.warnings?.(fresh, old, target.subresource) ?? []) requester.warn(text);
  // Who insists on no version writes over the one that is there.
  fresh.metadata.resourceVersion ||= stored.metadata.resourceVersion;
  if (!options.admitted) await admission.validate({ ...attributes, object: fresh });
  return commit(backend, target, options, entry, stored, fresh, insists);
}

async function commit(
  backend: Backend,
  target: Target,
  options: WriteOptions,
  entry: Entry,
  stored: ApiObject,
  fresh: ApiObject,
  insists: boolean,
): Promise<Outcome> {
  const { resource, version } = target.endpoint;
  const key = keyOf(target);
  fresh.metadata.resourceVersion = stored.metadata.resourceVersion;
  const { codec } = version;
  const toWrite = codec.inOrder(codec.convertToStorage ? await codec.convertToStorage(fresh) : codec.toStorage(fresh));
  if (isReleased(target, stored, toWrite)) {
    // The answer to the write that lets a deleted object go still shows the version before it.
    if (!options.dryRun && !backend.store.delete(resource.table, key, entry.revision, toStore(stored)).ok) {
      return { done: false, insists };
    }
    return { done: true, written: { object: codec.inOrder(fresh), created: false } };
  }
  if (deepEqual(withoutTimes(toWrite), withoutTimes(stored))) {
    return { done: true, written: { object: version.codec.fromStorage(stored), created: false } };
  }
  if (options.dryRun) return { done: true, written: { object: codec.inOrder(fresh), created: false } };
  assertStorable(toWrite, key);
  const result = backend.store.update(resource.table, key, entry.revision, toStore(toWrite));
  if (!result.ok) return { done: false, insists };
  const written = fromStore(result.entry.object);
  await codec.prepareReads?.([written]);
  return { done: true, written: { object: codec.fromStorage(written), created: false } };
}

/** Whether this write took away the last thing that held a deleted object. */
function isReleased(target: Target, stored: ApiObject, fresh: ApiObject): boolean {
  return (
    stored.metadata.deletionTimestamp !== undefined &&
    (stored.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    (fresh.metadata.finalizers ?? []).length === 0 &&
    !target.endpoint.resource.strategy.heldBack?.(fresh)
  );
}

function checkIdentity(target: Target, proposed: ApiObject): void {
  if (!proposed.metadata.name) {
    throw badRequest(`the name of the object (${target.name} based on URL) was undeterminable: name must be provided`);
  }
  if (proposed.metadata.name !== target.name) {
    throw badRequest(
      `the name of the object (${proposed.metadata.name}) does not match the name on the URL (${target.name})`,
    );
  }
  matchNamespace(proposed, target.namespace);
}

/** Whether the writer insists on the version that it read. A PATCH without a version carries the present one. */
function checkVersion(target: Target, proposed: ApiObject, old: ApiObject, change: Change): boolean {
  const { resource } = target.endpoint;
  const wanted = proposed.metadata.resourceVersion ?? "";
  if (wanted === "" || wanted === "0") {
    if (change.by === "put" && !resource.strategy.unconditionalUpdate) {
      const error = invalidValue("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid({ group: resource.group, kind: resource.plural }, target.name as string, [error]);
    }
    return false;
  }
  if (!/^\d+$/.test(wanted)) {
    throw bareInternal(`strconv.ParseUint: parsing ${JSON.stringify(wanted)}: invalid syntax`);
  }
  if (wanted !== old.metadata.resourceVersion) throw conflict(resource, target.name as string);
  return change.by === "put";
}

function checkUid(target: Target, proposed: ApiObject, old: ApiObject, change: Change): void {
  const wanted = proposed.metadata.uid ?? "";
  if (wanted === "" || wanted === old.metadata.uid || change.by !== "put") return;
  const { resource } = target.endpoint;
  const table = resource.group === "" || !resource.custom ? resource.plural : `${resource.group}/${resource.plural}`;
  throw conflict(
    resource,
    target.name as string,
    `StorageError: invalid object, Code: 4, Key: /registry/${table}/${keyOf(target)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${old.metadata.uid}`,
  );
}

/** Endpoints that change nothing but the status. */
const WRITE_STATUS: ReadonlySet<string> = new Set(["status", "approval"]);

/** Puts back what this endpoint may not change, and counts generations. */
function prepare(context: StrategyContext, target: Target, fresh: ApiObject, old: ApiObject): void {
  const { resource } = target.endpoint;
  const meta = fresh.metadata as Partial<ApiObject["metadata"]>;
  delete meta.selfLink;
  meta.uid ||= old.metadata.uid;
  // What is left out is taken from the old object; what is changed is refused later, apart from the generation.
  for (const key of ["deletionTimestamp", "deletionGracePeriodSeconds"] as const) {
    if (meta[key] === undefined) restore(meta, old.metadata, key);
  }
  restore(meta, old.metadata, "creationTimestamp");
  restore(meta, old.metadata, "generation");
  if (target.subresource !== undefined && WRITE_STATUS.has(target.subresource)) keepAllButStatus(target, fresh, old);
  else if (target.subresource !== undefined && narrowPod(target.subresource, fresh, old)) restore(fresh, old, "status");
  else if (resource.strategy.hasStatus && target.subresource !== "binding") restore(fresh, old, "status");
  if (target.subresource !== "finalize") resource.strategy.prepareForUpdate?.(fresh, old, context);
  if (target.subresource === "status") resource.strategy.prepareStatus?.(fresh, old);
  if (target.subresource === "approval") resource.strategy.prepareApproval?.(fresh, old);
  // Which node a pod runs on is not part of what its user wants: a binding leaves the generation as it is.
  if (resource.strategy.tracksGeneration && target.subresource !== "binding") {
    if (contentChanged(fresh, old)) meta.generation = (old.metadata.generation ?? 0) + 1;
  }
}

function keepAllButStatus(target: Target, fresh: ApiObject, old: ApiObject): void {
  const { status, metadata } = fresh;
  for (const key of Object.keys(fresh)) delete fresh[key];
  for (const [key, value] of Object.entries(deepClone(old))) setKey(fresh, key, value);
  if (status === undefined) delete fresh.status;
  else fresh.status = status;
  if (target.endpoint.resource.custom || target.endpoint.resource.strategy.statusKeepsMeta) {
    restore(fresh.metadata, metadata, "managedFields");
    restore(fresh.metadata, metadata, "resourceVersion");
  } else {
    fresh.metadata = metadata;
    for (const key of target.endpoint.resource.strategy.statusKeeps ?? []) restore(fresh.metadata, old.metadata, key);
  }
}

function restore<T extends object, K extends keyof T>(object: T, from: T, key: K): void {
  if (from[key] === undefined) delete object[key];
  else object[key] = deepClone(from[key]);
}

function contentChanged(fresh: ApiObject, old: ApiObject): boolean {
  const keys = new Set([...Object.keys(fresh), ...Object.keys(old)]);
  for (const key of ["metadata", "status", "apiVersion", "kind"]) keys.delete(key);
  for (const key of keys) if (!deepEqual(lookup(fresh, key), lookup(old, key))) return true;
  return false;
}

function validate(target: Target, fresh: ApiObject, old: ApiObject, warn: Requester["warn"]): void {
  const { resource, version } = target.endpoint;
  const metaUpdate = validateMetaUpdate(fresh, old);
  const inMeta = validateMeta(fresh.metadata, resource.strategy, resource.namespaced);
  const errors = [
    ...inMeta,
    ...metaUpdate,
    // A real server checks this once for all kinds and once for each, and tells both.
    ...metaUpdate,
    ...version.codec.validate(fresh, old, target.subresource, [...inMeta, ...metaUpdate], warn),
    ...(resource.strategy.validate?.(fresh, target.subresource) ?? []),
    ...(resource.strategy.validateUpdate?.(fresh, old, target.subresource) ?? []),
  ];
  if (errors.length > 0) throw invalid(namedKind(resource), target.name as string, errors);
}
