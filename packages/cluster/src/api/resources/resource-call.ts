import { lookup } from "@lotse/client/meta";
import type { NodePods } from "../../kubelet/index.ts";
import type { ProtobufAnswers } from "../../protobuf/index.ts";
import {
  type ApiObject,
  type Backend,
  type BuiltinTables,
  badRequest,
  customPatchTypes,
  fromStore,
  gvkOf,
  isRecord,
  notFound,
  PATCH_TYPES,
  type ParsedBody,
  type PatchType,
  patch,
  type Requester,
  storeKey,
  type Target,
  unsupportedMediaType,
  unsupportedPatchType,
  updateFromBody,
} from "../../registry/index.ts";
import type { ApiRequest, ApiResponse } from "../exchange.ts";
import { type ProtobufDecoder, parseBody, parsePatchBody } from "../media/body-codec.ts";
import {
  objectResponse,
  protobufResponse,
  textualResponse,
  type Warnings,
  wantsPretty,
  yamlResponse,
} from "../media/encode.ts";
import { type Negotiated, parseMediaType } from "../media/negotiate.ts";
import type { ObjectTexts } from "../media/object-text.ts";
import type { RequestInfo } from "../request-info.ts";
import type { IncludeObject } from "../table/table.ts";
import { patchOptions, writeOptions } from "./options.ts";

/** One request to a resource, with all that is needed to answer it. */
export interface ResourceCall {
  readonly backend: Backend;
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly target: Target;
  readonly requester: Requester;
  readonly warnings: Warnings;
  readonly negotiated: Negotiated;
  readonly protobuf: ProtobufDecoder;
  readonly texts: ObjectTexts;
  readonly tables: () => BuiltinTables;
  /** Answers for those who take protobuf. */
  readonly answers: () => Promise<ProtobufAnswers>;
  /** The node that runs pods; undefined in a cluster without one. */
  readonly pods: NodePods | undefined;
  /** Remembers what a write carried. */
  readonly noteBody: (value: unknown) => void;
}

const PATCH_TYPE_OF: Readonly<Record<string, PatchType>> = PATCH_TYPES;

/** How much of each object a table has to carry, as the query says. */
export function includeObjectOf(request: ApiRequest): IncludeObject {
  const wanted = request.query.get("includeObject") ?? "";
  if (["Metadata", "Object", "None", ""].includes(wanted)) return (wanted || "Metadata") as IncludeObject;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(wanted)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** An object as the answer, in the form that the client accepts. */
export async function respondObject(call: ResourceCall, status: number, object: ApiObject): Promise<ApiResponse> {
  const { target, request, negotiated, backend } = call;
  if (isPlain(call)) return textualResponse(status, `${call.texts.of(object)}\n`);
  const { transformObject } = await import("../media/transform.ts");
  const body = transformObject(target.endpoint, object, negotiated, includeObjectOf(request), backend.clock.now());
  return respondRaw(call, status, body);
}

/** Whether objects go out as they are, in the form that most clients take. */
export function isPlain({ negotiated, request }: ResourceCall): boolean {
  return negotiated.as === "object" && negotiated.format === "json" && !wantsPretty(request);
}

/** Anything as the answer, as it is. */
export async function respondRaw(call: ResourceCall, status: number, body: unknown): Promise<ApiResponse> {
  if (call.negotiated.format === "yaml") return yamlResponse(status, body);
  if (call.negotiated.format === "protobuf") {
    const bytes = inProtobuf(await call.answers(), call, body);
    if (bytes) return protobufResponse(status, bytes);
  }
  return objectResponse(status, body, { pretty: wantsPretty(call.request) });
}

/** Undefined for what has no form in protobuf: the client is told that it gets something else. */
function inProtobuf(answers: ProtobufAnswers, { target, negotiated }: ResourceCall, body: unknown) {
  if (!isRecord(body) || !answers.knows(String(body.apiVersion), String(body.kind))) return undefined;
  const { items, metadata } = body;
  if (!Array.isArray(items)) return answers.object(body);
  const { apiVersion, kind } = body;
  // Items of a list do not say what they are.
  const item = negotiated.as === "object" ? gvkOf(target.endpoint) : { apiVersion, kind: "PartialObjectMetadata" };
  return answers.list({ apiVersion, kind, metadata, items }, item);
}

/** The body of a request, which is to be of this kind: that of its resource unless told. */
export async function readBody(call: ResourceCall, kind = call.target.endpoint.resource.kind): Promise<ParsedBody> {
  const { request } = call;
  const bytes = await request.body();
  const body = await parseBody(bytes, request.headers["content-type"], kind, call.protobuf);
  call.noteBody(body.value);
  return body;
}

/** The body of a patch with its type, which the Content-Type names; throws 415 for another one. */
export async function readPatch(call: ResourceCall): Promise<{ type: PatchType; body: ParsedBody }> {
  const { type: mediaType } = parseMediaType(call.request.headers["content-type"] ?? "");
  const type = lookup(PATCH_TYPE_OF, mediaType);
  const { custom } = call.target.endpoint.resource;
  if (type === undefined) throw custom ? unsupportedMediaType(customPatchTypes()) : unsupportedPatchType();
  const body = await parsePatchBody(await call.request.body(), type);
  call.noteBody(body.value);
  return { type, body };
}

/** The stored object that a request is about; throws 404 when it is not there. */
export function findObject(call: ResourceCall): ApiObject {
  const { endpoint, namespace, name } = call.target;
  const entry = call.backend.store.get(endpoint.resource.table, storeKey(namespace, name as string));
  if (!entry) throw notFound(endpoint.resource, name as string);
  return endpoint.version.codec.fromStorage(fromStore(entry.object));
}

/** Converts the object that a request names, where that takes a webhook: what reads it later cannot wait for one. */
export async function prepareObject({ backend, target }: ResourceCall): Promise<void> {
  const { endpoint, namespace, name } = target;
  const { codec } = endpoint.version;
  if (!codec.prepareReads || name === undefined) return;
  const find = () => backend.store.get(endpoint.resource.table, storeKey(namespace, name));
  for (let entry = find(); entry; ) {
    await codec.prepareReads([fromStore(entry.object)], true);
    const now = find();
    if (now === entry) return;
    entry = now;
  }
}

/** Answers a PUT. */
export async function handleUpdate(call: ResourceCall): Promise<ApiResponse> {
  const { backend, requester, target, request } = call;
  const options = writeOptions(request.query, "UpdateOptions", requester.defaultManager);
  const written = await updateFromBody(backend, requester, target, await readBody(call), options);
  return respondObject(call, written.created ? 201 : 200, written.object);
}

/** Answers a PATCH of any type; an apply may create the object. */
export async function handlePatch(call: ResourceCall): Promise<ApiResponse> {
  const { backend, requester, target, request } = call;
  const { type, body } = await readPatch(call);
  const options = patchOptions(request.query, type, requester.defaultManager);
  const written = await patch(backend, requester, target, type, body, options);
  return respondObject(call, written.created ? 201 : 200, written.object);
}
