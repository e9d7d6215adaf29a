import type { NodePods } from "../../kubelet/index.ts";
import type { ProtobufAnswers } from "../../protobuf/index.ts";
import {
  type ApiObject,
  type Backend,
  type BuiltinTables,
  createFromBody,
  type Deleted,
  deletedStatus,
  type Endpoint,
  type Listing,
  list,
  methodNotAllowed,
  parseSelection,
  parseWatchStart,
  type Requester,
  remove,
  type Selection,
  StatusError,
  type Target,
  tooLargeResourceVersion,
  unknownResource,
  type WatchEvent,
} from "../../registry/index.ts";
import type { ApiRequest, ApiResponse, Headers } from "../exchange.ts";
import { type ProtobufDecoder, parseDeleteOptions } from "../media/body-codec.ts";
import { textualResponse, type Warnings } from "../media/encode.ts";
import { negotiate, notAcceptable, PROTOBUF } from "../media/negotiate.ts";
import type { ObjectTexts } from "../media/object-text.ts";
import type { RequestInfo, ResourceTarget } from "../request-info.ts";
import { deleteOptions, listOptions, watchOptions, writeOptions } from "./options.ts";
import {
  findObject,
  handlePatch,
  handleUpdate,
  includeObjectOf,
  isPlain,
  prepareObject,
  type ResourceCall,
  readBody,
  respondObject,
  respondRaw,
} from "./resource-call.ts";
import { type EventWriter, watchResponse } from "./watch-stream.ts";

/** What every request about resources is answered with. */
export interface CallContext {
  readonly backend: Backend;
  readonly requester: Requester;
  readonly warnings: Warnings;
  readonly protobuf: ProtobufDecoder;
  readonly texts: ObjectTexts;
  readonly tables: () => BuiltinTables;
  /** Answers for those who take protobuf. */
  readonly answers: () => Promise<ProtobufAnswers>;
  readonly pods: NodePods | undefined;
  readonly noteBody: (value: unknown) => void;
}

const STREAMED: ReadonlySet<string> = new Set(["log", "exec", "attach", "portforward", "proxy"]);

// Loaded by the first request that needs them: a server is up earlier without.
const loadSubresources = () => import("./subresources.ts");
const loadTransforms = () => import("../media/transform.ts");

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
  if (version.deprecation !== undefined) context.requester.warn(version.deprecation);
  // Streams are bytes, whatever form of objects the client would like.
  const streamed = named.subresource !== undefined && STREAMED.has(named.subresource);
  const inProtobuf = resource.custom ? "metadata" : "objects";
  const negotiated = negotiate(streamed ? undefined : request.headers.accept, inProtobuf);
  if (!negotiated) throw notAcceptable(request.headers.accept ?? "");
  const target: Target = {
    endpoint,
    namespace: named.namespace,
    name: named.name,
    subresource: named.subresource,
  };
  const call: ResourceCall = { ...context, request, info, target, negotiated };
  await prepareObject(call);
  const provision = context.backend.provisions?.need(resource.table);
  if (provision) await provision;
  if (target.subresource !== undefined) return (await loadSubresources()).handleSubresource(call, target.subresource);
  if (resource.plural === "bindings" && info.verb === "create") return (await loadSubresources()).handleBindings(call);
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

function selectionOf(call: ResourceCall): Selection {
  const { query } = call.request;
  const { endpoint, namespace, name } = call.target;
  const asked = (selector: string) => query.get(`${selector}Selector`);
  const selection = parseSelection(endpoint, namespace, asked("label"), asked("field"), asked("shard"));
  if (name === undefined) return selection;
  // The old way to watch one object puts its name into the path.
  const fields = [...selection.fields, { field: "metadata.name", operator: "=" as const, value: name }];
  return { ...selection, fields };
}

async function handleList(call: ResourceCall): Promise<ApiResponse> {
  const { backend, target, request, negotiated } = call;
  const listing = await list(backend, target.endpoint, selectionOf(call), listOptions(request.query));
  if (isPlain(call)) return plainList(call, listing);
  const include = includeObjectOf(request);
  const { transformList } = await loadTransforms();
  return respondRaw(call, 200, transformList(target.endpoint, listing, negotiated, include, backend.clock.now()));
}

async function handleWatch(call: ResourceCall): Promise<ApiResponse> {
  const { backend, target, request } = call;
  const options = watchOptions(request.query);
  const write = isPlain(call)
    ? (event: WatchEvent) => call.texts.event(event.type, event.object)
    : await transformedEvents(call);
  const { headers } = await streamForm(call);
  return watchResponse(backend, target.endpoint, selectionOf(call), options, write, headers);
}

/** How events are written one after the other, and how that is called. */
async function streamForm(call: ResourceCall): Promise<{
  readonly headers: Headers;
  readonly write: (type: string, object: unknown) => string | Uint8Array;
}> {
  if (call.negotiated.format !== "protobuf") {
    return { headers: {}, write: (type, object) => `${JSON.stringify({ type, object })}\n` };
  }
  const answers = await call.answers();
  return {
    headers: { "content-type": `${PROTOBUF};stream=watch` },
    write: (type, object) => answers.event(type, object as object),
  };
}

async function transformedEvents(call: ResourceCall): Promise<EventWriter> {
  const { backend, target, request, negotiated } = call;
  const include = includeObjectOf(request);
  const { eventTransform } = await loadTransforms();
  const transform = eventTransform(target.endpoint, negotiated, include, () => backend.clock.now());
  const { write } = await streamForm(call);
  return (event) => write(event.type, transform(event));
}

async function handleGet(call: ResourceCall): Promise<ApiResponse> {
  const wanted = call.request.query.get("resourceVersion") ?? "";
  const { revision } = call.backend.store;
  if ((parseWatchStart(wanted) ?? 0) > revision) throw tooLargeResourceVersion(wanted, revision);
  return respondObject(call, 200, findObject(call));
}

async function handleCreate(call: ResourceCall): Promise<ApiResponse> {
  const { backend, requester, target, request } = call;
  const options = writeOptions(request.query, "CreateOptions", requester.defaultManager);
  const object = await createFromBody(backend, requester, target, await readBody(call), options);
  return respondObject(call, 201, object);
}

async function readDeleteOptions(call: ResourceCall) {
  const bytes = await call.request.body();
  if (bytes.length === 0) return deleteOptions(call.request.query, undefined);
  const body = await parseDeleteOptions(bytes, call.request.headers["content-type"], call.protobuf);
  call.noteBody(body.value);
  return deleteOptions(call.request.query, body.value);
}

async function handleDelete(call: ResourceCall): Promise<ApiResponse> {
  const { backend, requester, target } = call;
  const deleted = await remove(backend, requester, target, await readDeleteOptions(call));
  return respondDeleted(call, deleted);
}

function respondDeleted(call: ResourceCall, { object, gone }: Deleted): Promise<ApiResponse> {
  const { endpoint } = call.target;
  if (!gone || endpoint.resource.strategy.deleteReturnsObject) return respondObject(call, 200, object);
  return respondRaw(call, 200, deletedStatus(endpoint, object));
}

async function handleDeleteCollection(call: ResourceCall): Promise<ApiResponse> {
  const { backend, requester, target, negotiated, request } = call;
  const options = await readDeleteOptions(call);
  const listing = await list(backend, target.endpoint, selectionOf(call), {
    ...listOptions(request.query),
    match: undefined,
  });
  const items: ApiObject[] = [];
  for (const item of listing.items) {
    try {
      const one = { ...target, namespace: item.metadata.namespace, name: item.metadata.name };
      const rest = backend.pace.rest();
      if (rest) await rest;
      await remove(backend, requester, one, { ...options, unnamed: true });
      // The answer shows what was found, and not what became of it.
      items.push(item);
    } catch (error) {
      // Another client deleted it meanwhile, which is what was asked for.
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }
  if (isPlain(call)) return plainList(call, { ...listing, items });
  const { transformList } = await loadTransforms();
  const body = transformList(target.endpoint, { ...listing, items }, negotiated, "Metadata", backend.clock.now());
  return respondRaw(call, 200, body);
}

/** Many objects are written in slices, and others have their turn after each. */
async function plainList({ backend, target, texts }: ResourceCall, listing: Listing): Promise<ApiResponse> {
  const preparing = texts.prepare(listing.items, () => backend.pace.turn());
  if (preparing) await preparing;
  return textualResponse(200, texts.list(target.endpoint, listing));
}
