/** A difference from the real server that is known and accepted for now. */
export interface Deviation {
  readonly script: string;
  readonly step: string;
  /** Dotted paths in the answer (`body.status.x`, `headers.warning`) that differ; the whole answer unless told. */
  readonly at?: readonly string[];
  /** Why it is so, and what will end it. */
  readonly reason: string;
}

/** Every accepted difference. One that is gone must leave this list: the suite fails until it does. */
export const deviations: readonly Deviation[] = [];
