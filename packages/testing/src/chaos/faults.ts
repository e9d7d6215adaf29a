/** What can be done to requests and to the events of watches, and the words in which a server would refuse them. */
import type { ServerResponse } from "node:http";

/** What is done to a request. */
export type ChaosFault =
  /** Kills the operator before the cluster hears of the request, or after it has answered and before the operator has. */
  | { readonly type: "kill"; readonly when: "before" | "after" }
  /** Answers in the cluster's place, which hears nothing of it. */
  | { readonly type: "answer"; readonly status: number; readonly retryAfter?: number }
  /** Breaks the connection; the cluster hears nothing of the request. */
  | { readonly type: "reset" }
  /** Breaks the connection after the cluster has done what was asked. */
  | { readonly type: "lose" }
  /** The same, in the middle of the answer. */
  | { readonly type: "halve" }
  /** Goes on to the cluster later. */
  | { readonly type: "delay"; readonly ms: number }
  /** Neither answers nor closes; the cluster hears nothing of it. */
  | { readonly type: "mute" }
  /** Breaks a watch after so long; any other request passes. */
  | { readonly type: "cut"; readonly afterMs: number }
  /** Asks for each event of a watch what to do with it. */
  | { readonly type: "lines"; readonly each: (event: string) => LineFault };

/** What is done to an event of a watch. */
export type LineFault =
  | "pass"
  | "twice"
  /** Breaks the connection before the event, in the middle of it, or after it. */
  | "cut before"
  | "cut inside"
  | "cut after"
  /** Passes nothing from here on and keeps the connection open. */
  | "stall"
  /** Ends the watch as a server does that has forgotten the past. */
  | "expire";

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** A refusal as a server writes it. */
export function statusOf(code: number, retryAfter?: number): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: messageOf(code),
    reason: REASONS[code] ?? "",
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
    code,
  };
}

/** Answers in the cluster's place. */
export function refuse(response: ServerResponse, { status, retryAfter }: ChaosFault & { type: "answer" }): void {
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  // What a server says that does not serve the kind at the moment. It says nothing about the object.
  if (status === 404) response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found\n");
  else {
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(statusOf(status, retryAfter)));
  }
}

/** The event by which a server ends a watch whose past it has forgotten, in the form of the watch. */
export function expiredEvent(form: "lines" | "frames"): Buffer {
  if (form === "lines") return Buffer.from(`${JSON.stringify({ type: "ERROR", object: statusOf(410) })}\n`);
  // message Unknown { TypeMeta typeMeta = 1; bytes raw = 2; }, message WatchEvent { string type = 1; RawExtension object = 2; }
  const typeMeta = Buffer.concat([text(1, "v1"), text(2, "Status")]);
  const status = Buffer.concat([
    field(1, Buffer.alloc(0)),
    text(2, "Failure"),
    text(3, messageOf(410)),
    text(4, "Expired"),
    // The field 6, a number: 410 in base 128.
    Buffer.from([0x30, 0x9a, 0x03]),
  ]);
  const unknown = Buffer.concat([Buffer.from("k8s\0"), field(1, typeMeta), field(2, status)]);
  const event = Buffer.concat([text(1, "ERROR"), field(2, field(1, unknown))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

const messageOf = (code: number): string => `a fault of the test: ${code}`;

const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));

/** A field of protobuf whose value has a length. */
function field(number: number, value: Buffer): Buffer {
  const head = [(number << 3) | 2];
  let left = value.length;
  for (; left > 0x7f; left >>>= 7) head.push((left & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...head, left]), value]);
}
