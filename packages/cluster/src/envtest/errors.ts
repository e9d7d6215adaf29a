/** Something that keeps a program from starting: what happened, and what to do about it. */
export class EnvtestError extends Error {
  override readonly name = "EnvtestError";
  /** What to do. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
