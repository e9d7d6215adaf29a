/** How much of a server's answer is kept in memory, so that no server can fill it. */
import { ConfigError } from "../meta/index.ts";
import { type RequestIdentity, TooLargeError } from "./errors.ts";

/** Limits that a caller sets; what is left out has its default. */
export interface LimitOptions {
  /**
   * Bytes of one answer that is read as a whole. Default 256 MiB: lists come in pages of 500 objects, of which most have
   * less than 10 KiB, and none may have much more than 1.5 MiB.
   */
  readonly answerBytes?: number | undefined;
  /**
   * Bytes of one event of a watch. Default 16 MiB: an object of 1.5 MiB, the most that etcd keeps, is three times as long
   * at the worst when it is written as JSON, and some clusters raise that limit.
   */
  readonly eventBytes?: number | undefined;
}

/** {@link LimitOptions} with nothing left out. */
export interface AnswerLimits {
  readonly answerBytes: number;
  readonly eventBytes: number;
}

const MEBIBYTE = 1024 * 1024;
const DEFAULTS: AnswerLimits = { answerBytes: 256 * MEBIBYTE, eventBytes: 16 * MEBIBYTE };

/** Fills in the defaults; a limit that is none is a mistake of the caller. */
export function limitsOf(o: LimitOptions = {}): AnswerLimits {
  const read = (name: keyof AnswerLimits) => {
    const value = o[name] ?? DEFAULTS[name];
    if (value > 0) return value;
    throw new ConfigError(`limits.${name} is ${value}, which is no number of bytes`, {
      hint: "pass a number above 0, or Infinity for no limit",
    });
  };
  return { answerBytes: read("answerBytes"), eventBytes: read("eventBytes") };
}

/** An answer, or an event, that has more bytes than this client keeps. */
export function tooLarge(name: keyof AnswerLimits, limit: number, request: RequestIdentity): TooLargeError {
  const what = name === "answerBytes" ? "the answer" : "an event of the watch";
  return new TooLargeError(`${request.method} ${request.path}: ${what} has more than ${limit} bytes`, {
    request,
    limit,
    hint:
      name === "answerBytes"
        ? "ask for less, such as a smaller page; or raise the limit: Client.connect({ limits: { answerBytes } })"
        : "raise the limit: Client.connect({ limits: { eventBytes } })",
  });
}
