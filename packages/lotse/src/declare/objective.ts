/** What users of a kind may expect: how soon its objects are ready after each change. */
import { type Duration, durationMs, formatDuration } from "@lotse/client/meta";
import { declarationError } from "./errors.ts";

/**
 * How soon objects are ready after a change of their spec, and how many of the changes have to make it. Measured from the
 * moment that the operator sees a new generation to `Ready=True` of that generation.
 *
 * @example
 * ```ts
 * const Shop = resource({
 *   group: "shops.example.com",
 *   version: "v1",
 *   kind: "Shop",
 *   spec: z.object({ sells: z.string() }),
 *   objective: { ready: "30s", of: 0.99 },
 * });
 * ```
 */
export interface ObjectiveInput {
  /** Within this time. */
  readonly ready: Duration;
  /** So many of all changes: 0.99 are ninety-nine of a hundred. */
  readonly of: number;
}

/** The same, in milliseconds. */
export interface Objective {
  readonly readyMs: number;
  readonly of: number;
}

/** Reads an objective; throws when it promises nothing, or more than can be kept. */
export function planObjective({ ready, of }: ObjectiveInput, kind: string): Objective {
  const readyMs = durationMs(ready);
  if (readyMs <= 0) {
    throw declarationError(
      `${kind} cannot be ready within ${formatDuration(readyMs)}`,
      'write { ready: "30s", of: 0.99 }',
    );
  }
  if (typeof of !== "number" || !(of > 0 && of < 1)) {
    const hint =
      "it is the share of changes that make it, more than 0 and less than 1: 0.99; nobody keeps a promise of 1";
    throw declarationError(`an objective of ${JSON.stringify(of)} for ${kind} cannot be measured`, hint);
  }
  return { readyMs, of };
}
