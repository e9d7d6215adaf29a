import { type Duration, durationMs } from "@lotse/client/meta";
import { StatusError } from "../../registry/index.ts";

/** A request as fault rules see it. */
export interface FaultRequest {
  /** Kubernetes' verb: `get`, `list`, `watch`, `create`, `patch`, … */
  readonly verb: string;
  readonly path: string;
  /** `configmaps`, `widgets.example.com`; undefined for paths that name no resource. */
  readonly resource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly user: string;
  readonly userAgent: string;
}

/** Which requests a fault hits: those that are like this in everything that is given. */
export interface FaultMatch {
  /** One verb or several. */
  readonly verb?: string | readonly string[];
  /** `configmaps`, `widgets.example.com`. */
  readonly resource?: string | readonly string[];
  readonly namespace?: string;
  readonly name?: string;
  /** `status`, `scale`; the empty text for requests to the objects themselves. */
  readonly subresource?: string;
  readonly user?: string;
  /** The beginning of the client's name for itself. */
  readonly userAgent?: string;
  /** Picks by anything else. */
  readonly when?: (request: FaultRequest) => boolean;
  /** So many requests that match pass unharmed first. */
  readonly skip?: number;
  /** At most so many are hit; without limit unless told. */
  readonly count?: number;
  /** The share of requests that are hit, by the cluster's own randomness; all unless told. */
  readonly share?: number;
}

/**
 * Something that goes wrong on purpose. Several things may be given; they happen in the order of this list, and the first
 * one that answers the request ends it.
 */
export interface Fault {
  /** Every request unless told. */
  readonly match?: FaultMatch;
  /** The request waits this long on the cluster's clock before anything happens. */
  readonly delay?: Duration;
  /** All history is forgotten: who asks for an older version than the present one is told that it is gone. */
  readonly compact?: boolean;
  /** Before a request to a Lease, another holder takes it; a text names the thief. */
  readonly stealLease?: boolean | string;
  /** The request is refused with this code and nothing else happens. */
  readonly status?: number;
  /** The refusal's message; that of a real server unless told. */
  readonly message?: string;
  /** Seconds after which the refused client shall come again. */
  readonly retryAfter?: number;
  /** The connection breaks without an answer: `before` anything happened, or `after` the request was carried out. */
  readonly reset?: boolean | "before" | "after";
  /** Watches break off: at once, or after so many events. Those that are open already, too. */
  readonly dropWatch?: boolean | number;
  /** Watches stay open and silent as long as the fault is there, and then tell everything. Those open already, too. */
  readonly stallWatch?: boolean;
}

/** Whether a request is one of those that a rule is about, whatever happened before. */
export function matches(match: FaultMatch | undefined, request: FaultRequest): boolean {
  if (!match) return true;
  return (
    oneOf(match.verb, request.verb) &&
    oneOf(match.resource, request.resource) &&
    (match.namespace === undefined || match.namespace === request.namespace) &&
    (match.name === undefined || match.name === request.name) &&
    (match.subresource === undefined || match.subresource === (request.subresource ?? "")) &&
    (match.user === undefined || match.user === request.user) &&
    (match.userAgent === undefined || request.userAgent.startsWith(match.userAgent)) &&
    (match.when === undefined || match.when(request))
  );
}

function oneOf(wanted: string | readonly string[] | undefined, found: string | undefined): boolean {
  if (wanted === undefined) return true;
  return found !== undefined && (typeof wanted === "string" ? wanted === found : wanted.includes(found));
}

/** How far a rule has come. */
export interface FaultCount {
  /** Requests that matched, hit or not. */
  readonly seen: number;
  readonly hits: number;
}

/** Whether the next request that matches is hit. `chance` is in [0, 1). */
export function isHit(match: FaultMatch | undefined, { seen, hits }: FaultCount, chance: number): boolean {
  if (seen < (match?.skip ?? 0) || hits >= (match?.count ?? Number.POSITIVE_INFINITY)) return false;
  return chance < (match?.share ?? 1);
}

/** What one hit does, with everything spelled out. */
export interface FaultEffect {
  readonly delayMs: number;
  readonly compact: boolean;
  readonly thief: string | undefined;
  readonly refusal: StatusError | undefined;
  readonly reset: "before" | "after" | undefined;
  /** Events after which a watch breaks off. */
  readonly dropAfter: number | undefined;
  readonly stall: boolean;
}

/** What a fault does to a request, with its defaults filled in. */
export function effectOf(fault: Fault): FaultEffect {
  const { dropWatch, reset, stealLease } = fault;
  return {
    delayMs: fault.delay === undefined ? 0 : durationMs(fault.delay),
    compact: fault.compact === true,
    thief: stealLease === true ? "thief" : stealLease || undefined,
    refusal: fault.status === undefined ? undefined : refusal(fault.status, fault.message, fault.retryAfter),
    reset: reset === true ? "before" : reset || undefined,
    dropAfter: dropWatch === undefined || dropWatch === false ? undefined : Number(dropWatch === true ? 0 : dropWatch),
    stall: fault.stallWatch === true,
  };
}

/** Reason and message of a real server, by code. */
const REFUSALS: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  400: ["BadRequest", "the server rejected our request for an unknown reason"],
  401: ["Unauthorized", "Unauthorized"],
  403: ["Forbidden", "forbidden"],
  404: ["NotFound", "the server could not find the requested resource"],
  409: [
    "Conflict",
    "Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again",
  ],
  410: ["Expired", "The provided resource version is too old."],
  422: ["Invalid", "the server rejected our request due to an error in our request"],
  429: ["TooManyRequests", "Too many requests, please try again later."],
  500: ["InternalError", "Internal error occurred: a fault was injected"],
  502: ["InternalError", "an error on the server has prevented the request from succeeding"],
  503: ["ServiceUnavailable", "the server is currently unable to handle the request"],
  504: ["Timeout", "Timeout: request did not complete within the allotted timeout"],
};

function refusal(code: number, message: string | undefined, retryAfter: number | undefined): StatusError {
  const [reason, usual] = REFUSALS[code] ?? [code >= 500 ? "InternalError" : "BadRequest", `refused with ${code}`];
  return new StatusError({
    code,
    reason,
    message: message ?? usual,
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
  });
}
