/**
 * Failures as the API tells them: a `Status` object with a code, a reason that programs match on, and a message in the
 * words of a real server, because people search for those and some clients parse them.
 */
import { causeReason, describeError, type FieldError } from "./fields.ts";

/** One reason among several why a request was refused. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** What a Status tells about the object, for programs. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The wire form of a failure or of a success that has no object to show. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** A group and a plural name, as errors print them: `configmaps`, `widgets.example.com`. */
export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

/** A group and a kind, as validation errors print them: `ConfigMap`, `Widget.example.com`. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

interface StatusErrorInit {
  readonly code: number;
  readonly reason?: string | undefined;
  readonly message: string;
  readonly details?: StatusDetails | undefined;
  readonly continueToken?: string | undefined;
}

/** Thrown anywhere below the API, answered as its {@link Status}. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;
  readonly #continueToken: string | undefined;

  constructor(init: StatusErrorInit) {
    super(init.message);
    this.name = "StatusError";
    this.code = init.code;
    this.reason = init.reason;
    this.details = init.details;
    this.#continueToken = init.continueToken;
  }

  toStatus(): Status {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.#continueToken === undefined ? {} : { continue: this.#continueToken },
      status: "Failure",
      message: this.message,
      ...(this.reason === undefined ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

const qualified = (name: string, group: string): string => (group === "" ? name : `${name}.${group}`);

function resourceDetails(resource: GroupResource, name: string): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}

/** 404 in the words of a real server. */
export function notFound(resource: GroupResource, name: string): StatusError {
  return new StatusError({
    code: 404,
    reason: "NotFound",
    message: `${qualified(resource.plural, resource.group)} "${name}" not found`,
    details: resourceDetails(resource, name),
  });
}

/** A name that is taken; a client that asked for a generated one may try again. */
export function alreadyExists(resource: GroupResource, name: string, prefix = "", generated = false): StatusError {
  const more = generated ? ", the server was not able to generate a unique name for the object" : "";
  return new StatusError({
    code: 409,
    reason: "AlreadyExists",
    message: `${prefix}${qualified(resource.plural, resource.group)} "${name}" already exists${more}`,
    details: { ...resourceDetails(resource, name), ...(generated ? { retryAfterSeconds: 1 } : {}) },
  });
}

/** The sentence by which clients know that they have to read again. */
export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** 409: another client was faster, or what was asked for contradicts what is there. */
export function conflict(resource: GroupResource, name: string, message: string = MODIFIED): StatusError {
  return new StatusError({
    code: 409,
    reason: "Conflict",
    message: `Operation cannot be fulfilled on ${qualified(resource.plural, resource.group)} "${name}": ${message}`,
    details: resourceDetails(resource, name),
  });
}

/** `cause` is the sentence after `is forbidden:`. */
export function forbidden(
  resource: GroupResource,
  name: string,
  cause: string,
  causes?: readonly StatusCause[],
): StatusError {
  const subject = name === "" ? "" : ` "${name}"`;
  return new StatusError({
    code: 403,
    reason: "Forbidden",
    message: `${qualified(resource.plural, resource.group)}${subject} is forbidden: ${cause}`,
    details: { ...resourceDetails(resource, name), ...(causes ? { causes } : {}) },
  });
}

/** 422 with all that is wrong with an object. */
export function invalid(kind: GroupKind, name: string, fields: readonly FieldError[]): StatusError {
  const sentences = [...new Set(fields.map((error) => `${error.field}: ${describeError(error)}`))];
  const text = sentences.length === 1 ? (sentences[0] as string) : `[${sentences.join(", ")}]`;
  return new StatusError({
    code: 422,
    reason: "Invalid",
    message: `${qualified(kind.kind, kind.group)} "${name}" is invalid: ${text}`,
    details: {
      ...(name === "" ? {} : { name }),
      ...(kind.group === "" ? {} : { group: kind.group }),
      ...(kind.kind === "" ? {} : { kind: kind.kind }),
      causes: fields.map((error) => ({
        reason: causeReason(error),
        message: describeError(error),
        field: error.field,
      })),
    },
  });
}

/** 400 with this sentence. */
export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: "BadRequest", message });
}

/** A 500 that a real server gives without any reason, for errors that it did not expect. */
export function bareInternal(message: string): StatusError {
  return new StatusError({ code: 500, message });
}

/** 500 with this sentence, in the form of a real server. */
export function internal(message: string): StatusError {
  return new StatusError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** 401. It never says why: a stranger must not learn what was wrong. */
export function unauthorized(): StatusError {
  return new StatusError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

/** 405 in the words of a real server. */
export function methodNotAllowed(): StatusError {
  return new StatusError({
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
    details: {},
  });
}

/** A path inside a known group version that names no resource. */
export function unknownResource(): StatusError {
  return new StatusError({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details: {},
  });
}

/** A verb that the kind does not have, where the path is right. */
export function verbNotSupported(resource: GroupResource, verb: string): StatusError {
  return new StatusError({
    code: 405,
    reason: "MethodNotAllowed",
    message: `${verb} is not supported on resources of kind "${qualified(resource.plural, resource.group)}"`,
    details: resourceDetails(resource, ""),
  });
}

/** 415 with the media types that would be read. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}

/** 415 for a patch of a type that is not known at all. */
export function unsupportedPatchType(): StatusError {
  return new StatusError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: "415: Unsupported Media Type",
    details: {},
  });
}

/** 413 for a body above the limit. */
export function tooLarge(limit: number): StatusError {
  return new StatusError({
    code: 413,
    reason: "RequestEntityTooLarge",
    message: `Request entity too large: limit is ${limit}`,
  });
}

/** A JSON patch that was understood and does not fit the object. */
export function patchNotApplicable(): StatusError {
  return new StatusError({
    code: 422,
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
    details: {},
  });
}

/** 410: the version that was asked for is no longer remembered; a list may go on with the token. */
export function expired(message: string, continueToken?: string): StatusError {
  return new StatusError({ code: 410, reason: "Expired", message, continueToken });
}

/** 504 for a version that is still to come, after which a client waits and asks again. */
export function tooLargeResourceVersion(requested: string, current: number): StatusError {
  return new StatusError({
    code: 504,
    reason: "Timeout",
    // As it was written, but for leading zeros: it may be more than a number can tell.
    message: `Timeout: Too large resource version: ${BigInt(requested)}, current: ${current}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}
