import type { AnswerEvents } from "./parser.ts";

/** What an exchange can do with the connection that it is on. */
export interface Carrier {
  /** Ends it, and everything on it. */
  destroy(): void;
  /** Lets nothing come in until `resume`. */
  pause(): void;
  resume(): void;
}

/**
 * One request and what becomes of it, as a connection sees it. It is told of exactly one end: `onEnd` or `onFailure`,
 * unless it goes by itself.
 */
export interface WireExchange extends AnswerEvents {
  readonly method: string;
  /** Of {@link requestHead}. */
  readonly head: string;
  readonly body: string | Uint8Array | undefined;
  /** Where it is, for the time being; kept by the pool. */
  connection: Carrier | undefined;
  /** The connection stands. Whether to send: nothing is waited for between this answer and the bytes. */
  onConnected(): boolean;
  /** There will be no answer, or no rest of it. */
  onFailure(error: Error): void;
}
