/** What an operator's copy of the cluster takes in memory, as it is told to people who ask. */

/** Of one kind. Sizes are those of the JSON of what is kept: what the process needs for it is another figure. */
export interface KindMemory {
  readonly apiVersion: string;
  readonly kind: string;
  readonly objects: number;
  /** About. */
  readonly bytes: number;
  readonly bytesPerObject: number;
  /** How many objects were measured, where that was not all of them: sizes and shares are those of these. */
  readonly sampled?: number | undefined;
  /** The fields that are kept beside metadata; undefined: all. */
  readonly keep?: readonly string[] | undefined;
  /** The fields that take most, of the first two levels: `spec.containers`. */
  readonly largest: readonly FieldShare[];
  readonly readers: readonly MemoryReader[];
  /** What would make it less, where that is known and no guess. */
  readonly hint?: string | undefined;
}

/** How much of a kind's memory a field takes. */
export interface FieldShare {
  readonly path: string;
  /** From 0 to 1. */
  readonly share: number;
}

/** Who has the kind followed. */
export interface MemoryReader {
  /** `handler`: works for its objects. `reads`: has read it through its context. */
  readonly as: "handler" | "index" | "owns" | "watches" | "reads";
  /** Of the handler. */
  readonly id: string;
  /** The fields that it needs beside metadata; undefined: all. */
  readonly keep?: readonly string[] | undefined;
}

/** Of one operator. */
export interface OperatorMemory {
  readonly operator: string;
  readonly kinds: readonly KindMemory[];
}
