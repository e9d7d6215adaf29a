import { deepClone } from "@lotse/client/meta";
import { alreadyExists, badRequest, bareInternal, forbidden, invalid } from "../errors.ts";
import { type ApiObject, fromStore, timestamp, toStore } from "../object.ts";
import { dropDuplicateOwners, generateName, validateMeta } from "../object-meta.ts";
import { type Endpoint, namedKind, storeKey } from "../resource.ts";
import { decodeBody } from "./body.ts";
import { trackUpdate } from "./managed-fields.ts";
import {
  type Backend,
  type ParsedBody,
  type Requester,
  strategyContext,
  type Target,
  type WriteOptions,
} from "./request.ts";
import { assertStorable } from "./storage-limit.ts";

/** How often a generated name may be taken before the request fails: with 27^5 suffixes this is not bad luck. */
const NAME_ATTEMPTS = 8;

/** POST to a collection. */
export async function createFromBody(
  backend: Backend,
  requester: Requester,
  target: Target,
  body: ParsedBody,
  options: WriteOptions,
): Promise<ApiObject> {
  const object = decodeBody(target.endpoint, body, options.fieldValidation, requester);
  return create(backend, requester, target, object, options);
}

/**
 * Stores a new object. `object` is decoded and now belongs to this function. `tracked` says that its managedFields are
 * already right, as after a server-side apply.
 */
export async function create(
  backend: Backend,
  requester: Requester,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
  tracked = false,
): Promise<ApiObject> {
  const { endpoint, namespace } = target;
  const { resource, version } = endpoint;
  const { strategy } = resource;
  matchNamespace(object, namespace);
  const meta = object.metadata;
  if (resource.closed) {
    throw forbidden(resource, meta.name ?? "", "create not allowed while custom resource definition is terminating");
  }
  const wantedVersion = meta.resourceVersion;
  forgetSystemFields(object);
  version.codec.applyDefaults(object);
  if (!tracked) trackUpdate(endpoint, undefined, object, options.fieldManager, undefined, backend.clock.now());

  let fresh = await admit(backend, requester, target, object, options);
  if (fresh !== object) version.codec.applyDefaults(fresh);
  const now = backend.clock.now();
  fresh.metadata.uid = backend.uuid();
  fresh.metadata.creationTimestamp = timestamp(now);
  if (strategy.tracksGeneration) fresh.metadata.generation = 1;
  if (strategy.hasStatus && !(strategy.createsWithStatus && fresh.status !== undefined)) resetStatus(fresh, endpoint);
  const warning = dropDuplicateOwners(fresh.metadata);
  if (warning !== undefined) requester.warn(warning);

  const base = fresh.metadata.name ? undefined : fresh.metadata.generateName;
  const nameless = base ? deepClone(fresh) : fresh;
  for (let attempt = 1; ; attempt++) {
    if (base) {
      if (attempt > 1) fresh = deepClone(nameless);
      fresh.metadata.name = generateName(base, backend.random);
      // Some defaults, and the labels of a Job, are made of the name.
      version.codec.applyDefaults(fresh);
    }
    strategy.prepareForCreate?.(fresh, strategyContext(backend, requester, options.dryRun));
    await strategy.prepareValidation?.(fresh);
    const inMeta = validateMeta(fresh.metadata, strategy, resource.namespaced);
    const errors = [
      ...inMeta,
      ...version.codec.validate(fresh, undefined, undefined, inMeta),
      ...(strategy.validateCreate?.(fresh) ?? []),
      ...(strategy.validate?.(fresh) ?? []),
    ];
    if (errors.length > 0) throw invalid(namedKind(resource), fresh.metadata.name ?? "", errors);
    for (const text of strategy.warnings?.(fresh) ?? []) requester.warn(text);
    await backend.admission.validate(attributesOf(requester, target, fresh, options));
    // Storage is what minds it, and nothing is stored in a dry run.
    if (wantedVersion && !options.dryRun)
      throw bareInternal("resourceVersion should not be set on objects to be created");

    const key = storeKey(fresh.metadata.namespace, fresh.metadata.name);
    const { codec } = version;
    const converted = codec.convertToStorage ? await codec.convertToStorage(fresh) : undefined;
    if (options.dryRun) {
      const taken = backend.store.get(resource.table, key);
      if (taken) throw takenError(endpoint, fromStore(taken.object), fresh);
      if (wantedVersion) fresh.metadata.resourceVersion = wantedVersion;
      return codec.inOrder(fresh);
    }
    const stored = converted ?? codec.toStorage(fresh);
    assertStorable(stored, key);
    // The store writes the version into the place that is kept for it.
    const placed = { ...stored, metadata: { ...stored.metadata, resourceVersion: "" } };
    const result = backend.store.create(resource.table, key, toStore(codec.inOrder(placed)));
    if (result.ok) {
      const written = fromStore(result.entry.object);
      await codec.prepareReads?.([written]);
      return codec.fromStorage(written);
    }
    if (!base || attempt === NAME_ATTEMPTS)
      throw takenError(endpoint, fromStore(result.current?.object as never), fresh);
  }
}

function takenError(endpoint: Endpoint, existing: ApiObject, fresh: ApiObject) {
  const prefix = existing.metadata.deletionTimestamp === undefined ? "" : "object is being deleted: ";
  return alreadyExists(endpoint.resource, existing.metadata.name, prefix, Boolean(fresh.metadata.generateName));
}

async function admit(
  backend: Backend,
  requester: Requester,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
): Promise<ApiObject> {
  return (await backend.admission.mutate(attributesOf(requester, target, object, options))) ?? object;
}

function attributesOf(requester: Requester, target: Target, object: ApiObject, options: WriteOptions) {
  return {
    operation: "CREATE",
    endpoint: target.endpoint,
    subresource: undefined,
    namespace: target.namespace,
    name: object.metadata.name ?? "",
    object,
    oldObject: undefined,
    dryRun: options.dryRun,
    options: options.given ?? {},
    user: requester.user,
    warn: requester.warn,
    annotate: requester.annotate,
  } as const;
}

/** An object without a namespace takes that of the URL; one of a cluster-scoped kind loses its own. */
export function matchNamespace(object: ApiObject, namespace: string | undefined): void {
  const own = object.metadata.namespace ?? "";
  if (own === (namespace ?? "")) return;
  if (namespace === undefined) delete (object.metadata as Partial<ApiObject["metadata"]>).namespace;
  else if (own === "") object.metadata.namespace = namespace;
  else throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

function forgetSystemFields(object: ApiObject): void {
  const meta = object.metadata as Partial<ApiObject["metadata"]>;
  for (const key of [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "resourceVersion",
  ] as const) {
    delete meta[key];
  }
}

function resetStatus(object: ApiObject, endpoint: Endpoint): void {
  const empty = endpoint.version.codec.emptyStatus();
  if (empty === undefined) delete object.status;
  else object.status = empty;
}
