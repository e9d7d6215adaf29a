/** Which rule an answer broke. */
export type Malformation =
  | "status-line"
  | "field"
  | "folding"
  | "framing"
  | "chunk"
  | "too-long"
  | "upgrade"
  | "informational"
  | "unasked";

/** Bytes that are no answer, or one that could be read in two ways: the connection that brought them is of no more use. */
export class MalformedAnswerError extends Error {
  override readonly name = "MalformedAnswerError";
  readonly code = "ERR_HTTP_ANSWER";
  readonly rule: Malformation;

  constructor(rule: Malformation, what: string) {
    super(`its answer is no proper HTTP: ${what}`);
    this.rule = rule;
  }
}
