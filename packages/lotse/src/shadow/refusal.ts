/** What a shadow cannot try: it is refused, and told of as something that the new version would have done. */

import { PermanentError } from "../declare/index.ts";
import type { ObjectReference } from "../report/index.ts";

/** Something that could not be tried, or that could and is not compared. */
export interface Untried {
  /** `exec in pods default/web`. */
  readonly what: string;
  /** It was not tried: what would have followed from it is not known. */
  readonly refused: boolean;
  readonly handlers: readonly string[];
  /** The object that they worked for. */
  readonly object: ObjectReference | undefined;
  /** How often. */
  readonly times: number;
}

/** A shadow was asked for something that has no dry run. Permanent: it will never be able to. */
export class ShadowError extends PermanentError {
  override readonly code: string = "LOTSE_SHADOW";
}

/** The error for something that has no dry run. */
export function noDryRun(what: string, hint = "what follows from it is not compared"): ShadowError {
  return new ShadowError(`a shadow cannot try this: ${what}`, { hint });
}
