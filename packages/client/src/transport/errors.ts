import { isObject, KubeError, type KubeErrorOptions } from "../meta/index.ts";
import { gistOf, isPage, NO_API_SERVER } from "./page.ts";

/** The request that an error is about. */
export interface RequestIdentity {
  readonly method: string;
  readonly path: string;
}

/** One reason of several, as the server lists them for an invalid object. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** What the server adds to its sentence. */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

interface ApiErrorInit extends KubeErrorOptions {
  status: number;
  reason: string;
  details: StatusDetails;
  request: RequestIdentity;
  retryAfterMs: number | undefined;
}

/**
 * The server answered, and the answer was no. `message` is the server's own sentence.
 *
 * @example
 * ```ts
 * try {
 *   await client.get(Pod, "web");
 * } catch (error) {
 *   if (error instanceof ApiError) console.error(error.status, error.reason, error.request.path);
 * }
 * ```
 */
export class ApiError extends KubeError {
  override readonly code: string = "LOTSE_API";
  /** The HTTP status. */
  readonly status: number;
  /** The server's word for it: `NotFound`, `Conflict`, `Expired`, … */
  readonly reason: string;
  readonly details: StatusDetails;
  readonly request: RequestIdentity;
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, init: ApiErrorInit) {
    super(message, init);
    this.status = init.status;
    this.reason = init.reason;
    this.details = init.details;
    this.request = init.request;
    this.retryAfterMs = init.retryAfterMs;
  }
}

/** 404: the object, or its whole kind, does not exist. */
export class NotFoundError extends ApiError {
  override readonly code: string = "LOTSE_NOT_FOUND";
}

/** 409: the object has changed since it was read, or another manager owns the field. */
export class ConflictError extends ApiError {
  override readonly code: string = "LOTSE_CONFLICT";
}

/** 409 on create: there is one of that name already. */
export class AlreadyExistsError extends ApiError {
  override readonly code: string = "LOTSE_ALREADY_EXISTS";
}

/** 403: the identity is known, but may not do this. */
export class ForbiddenError extends ApiError {
  override readonly code: string = "LOTSE_FORBIDDEN";
}

/** 401: the server does not accept the credentials, fresh ones included. */
export class UnauthorizedError extends ApiError {
  override readonly code: string = "LOTSE_UNAUTHORIZED";
}

/** 422: the object breaks its schema; `details.causes` has one entry for each field. */
export class InvalidError extends ApiError {
  override readonly code: string = "LOTSE_INVALID";
}

/** 410: the version or the continue token asked for is too old. */
export class GoneError extends ApiError {
  override readonly code: string = "LOTSE_GONE";
}

/** 429: the server is busy; `retryAfterMs` says for how long. */
export class TooManyRequestsError extends ApiError {
  override readonly code: string = "LOTSE_TOO_MANY_REQUESTS";
}

/** No answer came: the server cannot be reached, or the connection broke. */
export class ConnectionError extends KubeError {
  override readonly code: string = "LOTSE_CONNECTION";
  readonly request: RequestIdentity;
  /** Whether any byte of the request may have reached the server. */
  readonly sent: boolean;
  /** Whether it will fail the same way again, until the request or the cluster changes. */
  readonly lasting: boolean;
  /** Whether the server was there, and its certificate not trusted. */
  readonly untrusted: boolean;

  constructor(
    message: string,
    init: KubeErrorOptions & { request: RequestIdentity; sent: boolean; lasting?: boolean; untrusted?: boolean },
  ) {
    super(message, init);
    this.request = init.request;
    this.sent = init.sent;
    this.lasting = init.lasting ?? false;
    this.untrusted = init.untrusted ?? false;
  }

  /** The message says in words what the cause says in codes. */
  get explainsCause(): true {
    return true;
  }
}

/** The server answered with something that is no answer of a Kubernetes API server, such as a web page. */
export class UnexpectedAnswerError extends KubeError {
  override readonly code: string = "LOTSE_UNEXPECTED_ANSWER";
  readonly request: RequestIdentity;
  /** The HTTP status. */
  readonly status: number;

  constructor(message: string, init: KubeErrorOptions & { request: RequestIdentity; status: number }) {
    super(message, init);
    this.request = init.request;
    this.status = init.status;
  }

  /** The message shows the page: what is wrong with its first character is of no interest. */
  get explainsCause(): true {
    return true;
  }
}

/** The server sends more than this client is willing to keep in memory; the connection was closed. */
export class TooLargeError extends KubeError {
  override readonly code: string = "LOTSE_TOO_LARGE";
  readonly request: RequestIdentity;
  /** The bytes that it may have. */
  readonly limit: number;

  constructor(message: string, init: KubeErrorOptions & { request: RequestIdentity; limit: number }) {
    super(message, init);
    this.request = init.request;
    this.limit = init.limit;
  }
}

/**
 * How far a request had come when its time was over; `credentials`: a plugin or a login was still to bring them, `queue`:
 * it waited for others to end.
 */
export type RequestPhase = "credentials" | "queue" | "connect" | "headers" | "body";

/** No complete answer came in time; `phase` says what was waited for. */
export class TimeoutError extends KubeError {
  override readonly code: string = "LOTSE_TIMEOUT";
  readonly request: RequestIdentity;
  readonly phase: RequestPhase;

  constructor(message: string, init: KubeErrorOptions & { request: RequestIdentity; phase: RequestPhase }) {
    super(message, init);
    this.request = init.request;
    this.phase = init.phase;
  }
}

/**
 * The typed error for an answer that is no success. `body` is what the server sent: a `Status`, a text, or nothing.
 *
 * @example
 * ```ts
 * apiErrorFrom(404, { reason: "NotFound", message: 'pods "web" not found' }, { method: "GET", path: "/api/v1/pods/web" });
 * ```
 */
export function apiErrorFrom(
  status: number,
  body: unknown,
  request: RequestIdentity,
  o: { retryAfterMs?: number | undefined; hint?: string | undefined } = {},
): ApiError {
  const answer = isObject(body) ? body : {};
  const details = (isObject(answer.details) ? answer.details : {}) as StatusDetails;
  const reason = typeof answer.reason === "string" && answer.reason !== "" ? answer.reason : reasonOf(status);
  const hint = o.hint ?? hintFor(status, reason, body);
  const seconds = details.retryAfterSeconds;
  const init: ApiErrorInit = {
    status,
    reason,
    details,
    request,
    retryAfterMs: o.retryAfterMs ?? (typeof seconds === "number" ? seconds * 1_000 : undefined),
    ...(hint === undefined ? {} : { hint }),
  };
  const Type = typeOf(status, reason);
  return new Type(messageOf(answer.message, body, status, request), init);
}

function messageOf(message: unknown, body: unknown, status: number, request: RequestIdentity): string {
  if (typeof message === "string" && message !== "") return message;
  const text = typeof body === "string" ? body.trim() : "";
  const said = text === "" ? reasonOf(status) : gistOf(text);
  return `${request.method} ${request.path}: the server answered ${status} (${said})`;
}

function typeOf(status: number, reason: string): new (message: string, init: ApiErrorInit) => ApiError {
  if (reason === "AlreadyExists") return AlreadyExistsError;
  if (reason === "Expired" || reason === "Gone") return GoneError;
  switch (status) {
    case 401:
      return UnauthorizedError;
    case 403:
      return ForbiddenError;
    case 404:
      return NotFoundError;
    case 409:
      return ConflictError;
    case 410:
      return GoneError;
    case 422:
      return InvalidError;
    case 429:
      return TooManyRequestsError;
    default:
      return ApiError;
  }
}

function reasonOf(status: number): string {
  const reasons: Record<number, string> = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Gone",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
  };
  return reasons[status] ?? "Unknown";
}

function hintFor(status: number, reason: string, body: unknown): string | undefined {
  if (typeof body === "string" && isPage(body)) return NO_API_SERVER;
  if (typeof body === "string" && body.includes("HTTP request to an HTTPS server")) {
    return "the server speaks HTTPS: write https:// in its address";
  }
  if (status === 401) return "the credentials are missing or expired: log in again, or check the user of the context";
  if (status === 403) return "ask for a Role or ClusterRole that allows this verb, or use another context";
  if (reason === "AlreadyExists") return "choose another name, set generateName, or use apply()";
  if (status !== 409) return undefined;
  const causes = isObject(body) && isObject(body.details) ? body.details.causes : undefined;
  // An apply is refused field by field.
  if (Array.isArray(causes) && causes.some((cause) => isObject(cause) && cause.reason === "FieldManagerConflict")) {
    return "leave these fields to their managers, or take them over with `force: true`";
  }
  return "read the object again and repeat the change: update(fn) does both";
}
