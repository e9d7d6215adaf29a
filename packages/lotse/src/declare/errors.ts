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

/** The operator is declared wrongly: found when its file is loaded, before anything runs. */
export class DeclarationError extends KubeError {
  override readonly code: string = "LOTSE_DECLARATION";
}

/** A {@link DeclarationError} that names the place in the user's source. */
export function declarationError(message: string, hint: string): DeclarationError {
  const sourceLocation = callerLocation();
  return new DeclarationError(sourceLocation ? `${message} at ${sourceLocation}` : message, { hint });
}
