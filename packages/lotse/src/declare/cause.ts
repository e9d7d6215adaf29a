/** Why a handler is called, and what it is told of the change. */

/** Why a changing handler is called. */
export type Reason = "create" | "update" | "delete" | "resume";

/** One difference between two states of an object; lists are compared as a whole. */
export interface Difference {
  readonly op: "add" | "change" | "remove";
  readonly path: readonly string[];
  readonly old: unknown;
  readonly new: unknown;
}

/** What a handler can keep in memory for one object: lost at a restart, gone with the object. */
export type Memo = Record<string, unknown>;
