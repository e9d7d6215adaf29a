/**
 * An error in words, for one line of a log or of an Event. What a reader needs to know is often not in the message but
 * in its cause: `fetch failed` says nothing, `fetch failed: connect ECONNREFUSED 127.0.0.1:1` does. Pure.
 */

/** More than this of one line is not read, and some errors carry whole pages. */
const LONGEST = 1_000;
/** Of several errors at once, so many are told. */
const MOST_ERRORS = 3;

/**
 * What went wrong, with the chain of causes behind it, in one line. Whatever was thrown: an error, a text, or an object,
 * which is shown as its JSON.
 *
 * @example
 * ```ts
 * errorMessage(new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") }));
 * // "fetch failed: connect ECONNREFUSED 127.0.0.1:1"
 * errorMessage({ code: 5 }); // '{"code":5}'
 * ```
 */
export function errorMessage(error: unknown): string {
  const text = told(error, new Set());
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function told(error: unknown, seen: Set<unknown>): string {
  if (typeof error !== "object" || error === null) return String(error);
  seen.add(error);
  const { message, name, cause, errors, explainsCause } = error as Partial<ErrorLike>;
  if (!(error instanceof Error) && typeof message !== "string") return shown(error);
  let text = oneLine(typeof message === "string" ? message : "");
  // An error of several has often no message of its own: a connection that was refused at each address of a host.
  const behind = Array.isArray(errors) ? errors.slice(0, MOST_ERRORS) : [];
  if (cause !== undefined && cause !== null && explainsCause !== true) behind.push(cause);
  for (const one of behind) {
    if (seen.has(one)) continue;
    const more = told(one, seen);
    // Many put the message of the cause into their own: nothing is said twice.
    if (more !== "" && !text.includes(more)) text = text === "" ? more : `${text}: ${more}`;
  }
  return text || (typeof name === "string" && name !== "" ? name : "Error");
}

/** What errors have, also those of another realm or another copy of a package. */
interface ErrorLike {
  readonly name: unknown;
  readonly message: unknown;
  readonly cause: unknown;
  /** Of an AggregateError. */
  readonly errors: unknown;
  /** Of errors whose own message has put the cause into better words. */
  readonly explainsCause: unknown;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").trim();
}

function shown(value: object): string {
  try {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined && json !== "{}") return json;
  } catch {
    // It goes in circles, or holds what JSON cannot: then its own word for itself has to do.
  }
  const type = (value as { constructor?: { name?: string } }).constructor?.name || "object";
  return type === "Object" ? "{}" : `[${type}]`;
}
