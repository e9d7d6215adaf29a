/** What is decided before a body is read. Pure. */
import { durationMs, parseDuration } from "@lotse/client/meta";
import { Refusal, shortened, unknownPath } from "./answers.ts";

/** A request without its body. */
export interface RequestHead {
  readonly method: string;
  /** As it was sent: a path with its query. */
  readonly target: string;
  readonly contentType: string | undefined;
  readonly contentLength: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** What is behind a path. */
export interface WebhookRoute {
  /** The largest body there. Default: the server's. */
  readonly bodyBytes?: number | undefined;
}

/** A request whose body may come. */
export interface Accepted {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly bodyBytes: number;
  /** How long whoever asks will wait. */
  readonly waitsMs: number;
}

/** What a head is judged by. */
export interface HeadRules {
  readonly bodyBytes: number;
  readonly answerMs: number;
  readonly route: ((path: string) => WebhookRoute | undefined) | undefined;
}

/** The path at which the server tells whether it serves. */
export const READY_PATH = "/readyz";

/** Where a request goes, without what is behind the question mark. Undefined: it is no path. */
export function pathOf(target: string): { readonly path: string; readonly query: string } | undefined {
  // Clients that believe to speak with a proxy send the whole address.
  const local = target.startsWith("/") ? target : /^https?:\/\/[^/?#]+(\/[^#]*)$/i.exec(target)?.[1];
  if (local === undefined) return undefined;
  const mark = local.indexOf("?");
  const path = mark < 0 ? local : local.slice(0, mark);
  return isDecodable(path) ? { path, query: mark < 0 ? "" : local.slice(mark + 1) } : undefined;
}

function isDecodable(path: string): boolean {
  if (!path.includes("%")) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether a request may go on, or what is wrong with it. */
export function judgeHead(head: RequestHead, rules: HeadRules): Accepted | Refusal {
  const where = pathOf(head.target);
  if (!where) return new Refusal(400, `${shortened(head.target)} is no path`);
  const { path } = where;
  const route = rules.route ? rules.route(path) : {};
  if (!route) return unknownPath(path);
  if (head.method !== "POST") {
    return new Refusal(405, `reviews are sent with POST, not with ${shortened(head.method)}`, { allow: "POST" });
  }
  const strange = judgeContent(head);
  if (strange) return strange;
  const bodyBytes = route.bodyBytes ?? rules.bodyBytes;
  if (head.contentLength !== undefined && Number(head.contentLength) > bodyBytes) return tooLarge(bodyBytes);
  const query = new URLSearchParams(where.query);
  const waitsMs = waitOf(query.get("timeout"), rules.answerMs);
  return waitsMs instanceof Refusal ? waitsMs : { path, query, bodyBytes, waitsMs };
}

function judgeContent({ contentType, contentEncoding }: RequestHead): Refusal | undefined {
  const [type = ""] = (contentType ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/json") {
    const sent = contentType === undefined || contentType === "" ? "no type" : shortened(contentType);
    return new Refusal(415, `a review is sent as application/json, this request has ${sent}`);
  }
  if (contentEncoding !== undefined && contentEncoding !== "" && contentEncoding.toLowerCase() !== "identity") {
    return new Refusal(415, `a review is sent uncompressed, this request has ${shortened(contentEncoding)}`);
  }
  return undefined;
}

/** The body is larger than it may be. */
export function tooLarge(bytes: number): Refusal {
  return new Refusal(413, `a body may have ${bytes} bytes, and this one has more`);
}

/** API servers say in the query how long they wait. */
function waitOf(timeout: string | null, longestMs: number): number | Refusal {
  if (timeout === null) return longestMs;
  const ms = readDuration(timeout);
  if (ms === undefined || ms <= 0) {
    return new Refusal(400, `timeout is a duration such as 10s, this request has ${shortened(timeout)}`);
  }
  return Math.min(ms, longestMs);
}

function readDuration(text: string): number | undefined {
  try {
    const ms = durationMs(parseDuration(text));
    return Number.isFinite(ms) ? ms : undefined;
  } catch {
    return undefined;
  }
}
