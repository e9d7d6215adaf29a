import type { ProtobufAnswers } from "../../protobuf/index.ts";
import {
  type ApiObject,
  type BuiltinTables,
  decodeBody,
  type Endpoint,
  matchNamespace,
  methodNotAllowed,
  type Requester,
  subresourceEndpoint,
  trackUpdate,
  unknownResource,
} from "../../registry/index.ts";
import type { ReviewHandler, Reviews } from "../answerers.ts";
import type { ApiRequest, ApiResponse } from "../exchange.ts";
import { type ProtobufDecoder, parseBody } from "../media/body-codec.ts";
import { objectResponse, protobufResponse, wantsPretty } from "../media/encode.ts";
import { negotiate, notAcceptable } from "../media/negotiate.ts";
import type { ResourceTarget } from "../request-info.ts";
import { writeOptions } from "./options.ts";

/** A kind that is answered on the spot, with the one who answers it. */
export interface Review {
  readonly endpoint: Endpoint;
  readonly handler: ReviewHandler;
  readonly target: ResourceTarget;
}

/** What a request about a kind that only asks, and is never stored, is answered with. */
export interface ReviewScope {
  readonly requester: Requester;
  readonly now: number;
  readonly protobuf: ProtobufDecoder;
  readonly answers: () => Promise<ProtobufAnswers>;
  readonly noteBody: (value: unknown) => void;
}

/** The review that a request asks for; undefined when it asks for something else. */
export function findReview(
  reviews: Reviews,
  target: ResourceTarget,
  endpoint: Endpoint,
  tables: () => BuiltinTables,
): Review | undefined {
  const { group, resource, subresource } = target;
  const key = subresource === undefined ? `${group}/${resource}` : `${group}/${resource}/${subresource}`;
  const handler = reviews.get(key);
  if (!handler) return undefined;
  const answered = subresource === undefined ? endpoint : subresourceEndpoint(endpoint, subresource, tables);
  return answered && { endpoint: answered, handler, target };
}

/** Answers a POST of a kind that is never stored. */
export async function handleReview(
  request: ApiRequest,
  { endpoint, handler, target }: Review,
  { requester, now, protobuf, answers, noteBody }: ReviewScope,
): Promise<ApiResponse> {
  const { resource, version } = endpoint;
  const { namespace, name, subresource } = target;
  if (subresource === undefined && name !== undefined) throw unknownResource();
  if (request.method !== "POST") throw methodNotAllowed();
  // There is no other form in which an answer could be shown.
  const negotiated = negotiate(request.headers.accept, "objects");
  if ((negotiated?.as ?? "object") !== "object") throw notAcceptable(request.headers.accept ?? "");
  const options = writeOptions(request.query, "CreateOptions", requester.defaultManager);
  const body = await parseBody(await request.body(), request.headers["content-type"], resource.kind, protobuf);
  noteBody(body.value);
  const object = decodeBody(endpoint, body, options.fieldValidation, requester);
  matchNamespace(object, namespace);
  version.codec.applyDefaults(object);
  trackUpdate(endpoint, undefined, object, options.fieldManager, subresource, now);
  const answer = handler(object, { user: requester.user, namespace, name, now });
  const { kind, apiVersion } = object;
  const whole = version.codec.inOrder({ ...answer, kind, apiVersion } as unknown as ApiObject);
  if (negotiated?.format === "protobuf") return protobufResponse(201, (await answers()).object(whole));
  return objectResponse(201, whole, { pretty: wantsPretty(request) });
}
