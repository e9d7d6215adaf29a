/**
 * What can happen to an operator between its client and its cluster. Whoever interferes is asked about each thing that
 * passes, and says what becomes of it; without anybody who interferes everything passes as it is.
 */
import type { ObjectBody } from "@lotse/client";
import type { OperatorRequest } from "./requests.ts";

/**
 * What becomes of a request before it is sent: it is; or the connection breaks, and the cluster never hears of it; or the
 * operator dies first; or the operator dies, and what was on its way arrives when `arrives` resolves.
 */
export type RequestFate = "send" | "refuse" | "crash" | { readonly arrives: Promise<void> };

/** What becomes of an answer: the operator gets it; or learns only that the connection broke; or dies before it comes. */
export type AnswerFate = "deliver" | "lose" | "crash";

/**
 * What becomes of an event of a watch. `hold`: it waits, and everything that follows in its stream, until
 * {@link HeldLines.release}. `coalesce`: it waits by itself until the next event of the same object takes its place.
 * `repeat`: it passes, and comes again at the release, unless its object has changed by then.
 */
export type LineFate = "deliver" | "hold" | "coalesce" | "repeat";

/** An event that a watch is about to show. */
export interface WatchLine {
  readonly request: OperatorRequest;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: ObjectBody;
}

/** See the module comment. */
export interface Interference {
  /** Asked before a request is sent. While it waits, so does the operator. */
  before?(request: OperatorRequest): RequestFate | Promise<RequestFate>;
  /** Asked when the cluster has done what was asked, or refused it, and the operator does not know yet. */
  after?(request: OperatorRequest, answer: { readonly status: number | undefined }): AnswerFate | Promise<AnswerFate>;
  /** Asked about each event of a watch; bookmarks and errors pass. */
  line?(line: WatchLine): LineFate;
  /** Asked about each list that fills the operator's copy: the version of the past to show instead of the present. */
  list?(request: OperatorRequest): string | undefined;
}

/** Events that wait on their way to the operator. */
export interface HeldLines {
  /** Whether any wait. */
  readonly holds: boolean;
  /** Lets all of them pass. */
  release(): void;
}
