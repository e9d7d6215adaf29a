import { type Duration, durationMs, KubeError, type KubeErrorOptions } from "@lotse/client/meta";
import { callerLocation } from "./source-location.ts";

/**
 * Not now, but later: the handler is called again after `delay`, exactly.
 *
 * @example
 * ```ts
 * if (!bucket.ready) throw new TemporaryError("the bucket is not ready yet", { delay: "10s" });
 * ```
 */
export class TemporaryError extends KubeError {
  override readonly code: string = "LOTSE_TEMPORARY";
  /** Milliseconds until the next attempt; the handler's back-off decides when it is undefined. */
  readonly delayMs: number | undefined;

  constructor(message: string, options: KubeErrorOptions & { delay?: Duration } = {}) {
    super(message, options);
    this.delayMs = options.delay === undefined ? undefined : durationMs(options.delay);
  }
}

/**
 * Never: the handler is not called again for this change.
 *
 * @example
 * ```ts
 * if (spec.size > 100) throw new PermanentError("no machine is that large");
 * ```
 */
export class PermanentError extends KubeError {
  override readonly code: string = "LOTSE_PERMANENT";
}

/**
 * A write was refused before it left the process: another process works on the object now, or may do so. Nothing was sent.
 * The handler need not care: its work is done anew by whoever works on the object.
 *
 * @example
 * ```ts
 * try {
 *   await client.apply(ConfigMap.gen({ name: "settings", data: { color: "blue" } }));
 * } catch (error) {
 *   if (error instanceof FencedError) logger.info("another replica has taken over");
 *   throw error;
 * }
 * ```
 */
export class FencedError extends KubeError {
  override readonly code: string = "LOTSE_FENCED";
}

/** One thing that is wrong with an object, in the form of the API: which field, and why. */
export interface AdmissionCause {
  /** `"spec.size"`. */
  readonly field?: string;
  readonly message: string;
  /** For programs: `"FieldValueInvalid"`. */
  readonly reason?: string;
}

/** How a request is refused. */
export interface AdmissionErrorOptions extends KubeErrorOptions {
  /** HTTP status from 400 to 599. Default 403, and 422 where there are causes. */
  code?: number;
  /** For programs: `"Forbidden"`, `"Invalid"`. Default: what goes with the code. */
  reason?: string;
  /** What is wrong, field by field. */
  causes?: readonly AdmissionCause[];
}

/**
 * Refuses a request in `on.validate` and `on.mutate`: the client is told the message.
 *
 * @example
 * ```ts
 * throw new AdmissionError("no machine is that large", {
 *   code: 422,
 *   causes: [{ field: "spec.size", message: "must be at most 100" }],
 * });
 * ```
 */
export class AdmissionError extends PermanentError {
  override readonly code: string = "LOTSE_ADMISSION";
  /** HTTP status of the answer. */
  readonly status: number;
  readonly reason: string | undefined;
  readonly causes: readonly AdmissionCause[];

  constructor(message: string, { code, reason, causes = [], ...options }: AdmissionErrorOptions = {}) {
    super(message, options);
    if (code !== undefined && !(Number.isInteger(code) && code >= 400 && code <= 599)) {
      throw new RangeError(`the code of an AdmissionError is an HTTP status from 400 to 599, and not ${code}`);
    }
    this.status = code ?? (causes.length > 0 ? 422 : 403);
    this.reason = reason;
    this.causes = causes;
  }
}

/** The operator is declared wrongly: found when its file is loaded, before anything runs. */
export class DeclarationError extends KubeError {
  override readonly code: string = "LOTSE_DECLARATION";
}

/** A {@link DeclarationError} that names the place in the user's source. */
export function declarationError(message: string, hint: string): DeclarationError {
  const sourceLocation = callerLocation();
  return new DeclarationError(sourceLocation ? `${message} at ${sourceLocation}` : message, { hint });
}
