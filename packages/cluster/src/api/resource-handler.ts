import {
  type ApiObject,
  type Backend,
  createFromBody,
  type Deleted,
  deletedStatus,
  type Endpoint,
  fromStore,
  list,
  methodNotAllowed,
  notFound,
  PATCH_TYPES,
  type PatchType,
  type ParsedBody,
  parseSelection,
  patch,
  remove,
  type Scope,
  type Selection,
  storeKey,
  type Target,
  unknownResource,
  unsupportedPatchType,
  updateFromBody,
} from "../registry/index.ts";
import { type ProtobufDecoder, parseBody, parsePatchBody } from "./body-codec.ts";
import { objectResponse, type Warnings, wantsPretty } from "./encode.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { type Negotiated, negotiate, notAcceptable, parseMediaType } from "./negotiate.ts";
import { deleteOptions, listOptions, patchOptions, watchOptions, writeOptions } from "./options.ts";
import type { RequestInfo, ResourceTarget } from "./request-info.ts";
import { handleSubresource } from "./subresources.ts";
import type { IncludeObject } from "./table.ts";
import { eventTransform, transformList, transformObject } from "./transform.ts";
import { watchResponse } from "./watch-stream.ts";

/** One request to a resource, with all that is needed to answer it. */
export interface ResourceCall {
  readonly backend: Backend;
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly target: Target;
  readonly scope: Scope;
  readonly warnings: Warnings;
  readonly negotiated: Negotiated;
  readonly protobuf: ProtobufDecoder;
  /** Remembers what a write carried. */
  readonly noteBody: (value: unknown) => void;
}

const PATCH_TYPE_OF: Readonly<Record<string, PatchType>> = PATCH_TYPES;

export interface CallContext {
  readonly backend: Backend;
  readonly scope: Scope;
  readonly warnings: Warnings;
  readonly protobuf: ProtobufDecoder;
  readonly noteBody: (value: unknown) => void;
}

/** Answers a request whose path names a resource that is served. */
export async function handleResource(
  request: ApiRequest,
  info: RequestInfo,
  endpoint: Endpoint,
  context: CallContext,
): Promise<ApiResponse> {
  const named = info.target as ResourceTarget;
  const { resource, version } = endpoint;
  checkScope(named, endpoint, request.method);
  if (version.deprecation !== undefined) context.scope.warn(version.deprecation);
  const negotiated = negotiate(request.headers.accept);
  if (!negotiated) throw notAcceptable(request.headers.accept ?? "");
  const target: Target = {
    endpoint,
    namespace: named.namespace,
    name: named.name,
    subresource: named.subresource,
  };
  const call: ResourceCall = { ...context, request, info, target, negotiated };
  if (target.subresource !== undefined) return handleSubresource(call, target.subresource);
  if (resource.table === "" || !version.verbs.includes(info.verb)) throw methodNotAllowed();
  if (target.name === undefined && ["update", "patch"].includes(info.verb)) throw methodNotAllowed();
  switch (info.verb) {
    case "list":
      return handleList(call);
    case "watch":
      return handleWatch(call);
    case "create":
      return handleCreate(call);
    case "deletecollection":
      return handleDeleteCollection(call);
    case "get":
      return handleGet(call);
    case "update":
      return handleUpdate(call);
    case "patch":
      return handlePatch(call);
    case "delete":
      return handleDelete(call);
    default:
      throw methodNotAllowed();
  }
}

/** Paths that the grammar allows and no server serves: an object without its namespace, a namespace too many. */
function checkScope(named: ResourceTarget, { resource }: Endpoint, method: string): void {
  if (resource.namespaced) {
    if (named.namespace !== undefined) {
      if (named.name !== undefined && method === "POST" && named.subresource === undefined) throw methodNotAllowed();
      return;
    }
    if (named.name !== undefined) throw unknownResource();
    if (method !== "GET" && resource.table !== "") throw methodNotAllowed();
  } else if (named.namespace !== undefined) throw unknownResource();
  else if (named.name !== undefined && method === "POST" && named.subresource === undefined) throw methodNotAllowed();
}

export function includeObjectOf(request: ApiRequest): IncludeObject {
  const wanted = request.query.get("includeObject");
  return wanted === "Object" || wanted === "None" ? wanted : "Metadata";
}

/** An object as the answer, in the form that the client accepts. */
export function respondObject(call: ResourceCall, status: number, object: ApiObject): ApiResponse {
  const { target, request, negotiated, backend } = call;
  const body = transformObject(target.endpoint, object, negotiated, includeObjectOf(request), backend.clock.now());
  return respondRaw(call, status, body);
}

/** Anything as the answer, as it is. */
export function respondRaw(call: ResourceCall, status: number, body: unknown): ApiResponse {
  return objectResponse(status, body, { format: call.negotiated.format, pretty: wantsPretty(call.request) });
}

export async function readBody(call: ResourceCall): Promise<ParsedBody> {
  const { request, target } = call;
  const bytes = await request.body();
  const body = parseBody(bytes, request.headers["content-type"], target.endpoint.resource.kind, call.protobuf);
  call.noteBody(body.value);
  return body;
}

export async function readPatch(call: ResourceCall): Promise<{ type: PatchType; body: ParsedBody }> {
  const { type: mediaType } = parseMediaType(call.request.headers["content-type"] ?? "");
  const type = PATCH_TYPE_OF[mediaType];
  if (type === undefined) throw unsupportedPatchType();
  const body = parsePatchBody(await call.request.body(), type === "apply");
  call.noteBody(body.value);
  return { type, body };
}

function selectionOf(call: ResourceCall): Selection {
  const { query } = call.request;
  const { endpoint, namespace, name } = call.target;
  const selection = parseSelection(endpoint, namespace, query.get("labelSelector"), query.get("fieldSelector"));
  if (name === undefined) return selection;
  // The old way to watch one object puts its name into the path.
  const fields = [...selection.fields, { field: "metadata.name", operator: "=" as const, value: name }];
  return { ...selection, fields };
}

function handleList(call: ResourceCall): ApiResponse {
  const { backend, target, request, negotiated } = call;
  const listing = list(backend, target.endpoint, selectionOf(call), listOptions(request.query));
  const include = includeObjectOf(request);
  return respondRaw(call, 200, transformList(target.endpoint, listing, negotiated, include, backend.clock.now()));
}

function handleWatch(call: ResourceCall): ApiResponse {
  const { backend, target, request, negotiated } = call;
  const options = watchOptions(request.query);
  const transform = eventTransform(target.endpoint, negotiated, includeObjectOf(request), () => backend.clock.now());
  return watchResponse(backend, target.endpoint, selectionOf(call), options, transform, {});
}

export function findObject(call: ResourceCall): ApiObject {
  const { endpoint, namespace, name } = call.target;
  const entry = call.backend.store.get(endpoint.resource.table, storeKey(namespace, name as string));
  if (!entry) throw notFound(endpoint.resource, name as string);
  return endpoint.version.codec.fromStorage(fromStore(entry.object));
}

function handleGet(call: ResourceCall): ApiResponse {
  return respondObject(call, 200, findObject(call));
}

async function handleCreate(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target, request } = call;
  const options = writeOptions(request.query, "CreateOptions", scope.defaultManager);
  const object = await createFromBody(backend, scope, target, await readBody(call), options);
  return respondObject(call, 201, object);
}

export async function handleUpdate(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target, request } = call;
  const options = writeOptions(request.query, "UpdateOptions", scope.defaultManager);
  const written = await updateFromBody(backend, scope, target, await readBody(call), options);
  return respondObject(call, written.created ? 201 : 200, written.object);
}

export async function handlePatch(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target, request } = call;
  const { type, body } = await readPatch(call);
  const options = patchOptions(request.query, type, scope.defaultManager);
  const written = await patch(backend, scope, target, type, body, options);
  return respondObject(call, written.created ? 201 : 200, written.object);
}

async function readDeleteOptions(call: ResourceCall) {
  const bytes = await call.request.body();
  if (bytes.length === 0) return deleteOptions(call.request.query, undefined);
  const body = parseBody(bytes, call.request.headers["content-type"], "DeleteOptions", call.protobuf);
  call.noteBody(body.value);
  return deleteOptions(call.request.query, body.value);
}

async function handleDelete(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target } = call;
  const deleted = await remove(backend, scope, target, await readDeleteOptions(call));
  return respondDeleted(call, deleted);
}

function respondDeleted(call: ResourceCall, { object, gone }: Deleted): ApiResponse {
  const { endpoint } = call.target;
  if (!gone || endpoint.resource.strategy.deleteReturnsObject) return respondObject(call, 200, object);
  return respondRaw(call, 200, deletedStatus(endpoint, object));
}

async function handleDeleteCollection(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target, negotiated, request } = call;
  const options = await readDeleteOptions(call);
  const listing = list(backend, target.endpoint, selectionOf(call), { ...listOptions(request.query), match: undefined });
  const items: ApiObject[] = [];
  for (const item of listing.items) {
    try {
      const one = { ...target, namespace: item.metadata.namespace, name: item.metadata.name };
      items.push((await remove(backend, scope, one, options)).object);
    } catch (error) {
      // Somebody else deleted it meanwhile, which is what was asked for.
      if (!(error instanceof Error && "code" in error && error.code === 404)) throw error;
    }
  }
  const body = transformList(target.endpoint, { ...listing, items }, negotiated, "Metadata", backend.clock.now());
  return respondRaw(call, 200, body);
}
