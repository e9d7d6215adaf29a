/** Answers in the form that a client expects from an API server. */
import { Readable } from "node:stream";
import { apiErrorFrom, type KubeBody, type RawRequest, type RawResponse } from "@lotse/client";
import { deepClone } from "@lotse/client/meta";
import { type RequestTarget, resourceOf } from "./request-target.ts";

/** The answer to a request; what it says is the reader's own. */
export function answer(body: object, status = 200): RawResponse {
  const text = () => JSON.stringify(body);
  return {
    status,
    headers: { "content-type": "application/json" },
    json: async <T>() => deepClone(body) as T,
    text: async () => text(),
    get body() {
      return Readable.from([Buffer.from(text())]);
    },
  };
}

/** The answer to a watch: as it comes. */
export function streamAnswer(body: Readable): RawResponse {
  const text = async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
  };
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    json: async <T>() => JSON.parse(await text()) as T,
    text,
    body,
  };
}

/** That it worked, about the object that it was done to. */
export function success(target: RequestTarget, uid: string | undefined): KubeBody {
  const details = { name: target.name, ...(target.group && { group: target.group }), kind: target.plural, uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

type Asked = Pick<RawRequest, "method" | "path">;

/** There is no such object in the shadow's world. */
export function notFound(target: RequestTarget, request: Asked): Error {
  const details = { name: target.name, group: target.group, kind: target.plural };
  return refusal(404, "NotFound", `${resourceOf(target)} "${target.name}" not found`, request, details);
}

/** There is one of that name already in the shadow's world. */
export function alreadyExists(target: RequestTarget, name: string, request: Asked): Error {
  const details = { name, group: target.group, kind: target.plural };
  return refusal(409, "AlreadyExists", `${resourceOf(target)} "${name}" already exists`, request, details);
}

/** The object has changed in the shadow's world since it was read, or is another one. */
export function conflict(target: RequestTarget, name: string, why: string, request: Asked): Error {
  const message = `Operation cannot be fulfilled on ${resourceOf(target)} "${name}": ${why}`;
  return refusal(409, "Conflict", message, request, { name, group: target.group, kind: target.plural });
}

/** The request does not fit onto the object of the shadow's world. */
export function invalid(target: RequestTarget, why: string, request: Asked): Error {
  const details = { name: target.name, group: target.group, kind: target.plural };
  return refusal(422, "Invalid", `${resourceOf(target)} "${target.name}" is invalid: ${why}`, request, details);
}

function refusal(status: number, reason: string, message: string, { method, path }: Asked, details: object): Error {
  return apiErrorFrom(status, { reason, message, details }, { method, path });
}
