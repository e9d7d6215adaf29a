/**
 * Errors that no code caught: a promise that no code awaits, a callback of a timer or of an event that throws. Node.js
 * would end the process with a raw stack. Here they are told like every other failure: what, where, what to do.
 */
import { inspect } from "node:util";
import { locationOfThrow } from "./error-location.ts";
import type { UncaughtOrigin } from "./io.ts";
import { Problem, splitMessage } from "./problem.ts";

/** The handler that was at work when it began. */
export interface BlamedHandler {
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
}

/** What is known of an error that no code caught. */
export interface Uncaught {
  readonly error: unknown;
  readonly origin: UncaughtOrigin;
  readonly handler?: BlamedHandler | undefined;
}

const TOLD: Readonly<Record<UncaughtOrigin, { readonly what: string; readonly todo: string }>> = {
  rejection: {
    what: "a promise was rejected, and nobody awaits it",
    todo: "await the call that made it, or catch its error",
  },
  exception: {
    what: "a callback threw an error, and nobody caught it",
    todo: "catch it in the callback of the timer or the event: nobody else can",
  },
};

/** What a request says that was still under way when its handler had ended: the most frequent sort of all. */
const LEFT_BEHIND = {
  what: "a handler ended before a request that it had begun, and nobody awaits that",
  todo: "await the request: what a handler begins has to end before the handler does",
};

/** The three lines for it; `then` says what becomes of the operator. */
export function uncaughtProblem({ error, origin, handler }: Uncaught, then: string): Problem {
  // By its fields and not by its class: the error may come from another copy of the package.
  const { what, todo } = (error as { why?: unknown } | undefined)?.why === "superseded" ? LEFT_BEHIND : TOLD[origin];
  const sourceLocation = locationOfUncaught(error);
  const started =
    handler && `handler ${handler.id}${handler.sourceLocation === undefined ? "" : ` (${handler.sourceLocation})`}`;
  const where = [
    sourceLocation && `at ${sourceLocation}`,
    started && `${sourceLocation ? "begun in" : "in what was begun by"} ${started}`,
  ];
  return new Problem(
    {
      what: `${what}: ${sentenceOf(error)}`,
      why: where.filter(Boolean).join(", ") || "none of your files is in its stack, which --verbose shows",
      todo: `${todo}; ${then}`,
    },
    { cause: error },
  );
}

/** `operator.ts:12:5` */
export function locationOfUncaught(error: unknown): string | undefined {
  return error instanceof Error ? locationOfThrow(error) : undefined;
}

/** What it says, with what is behind it: "fetch failed" alone does not help the user. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error, { depth: 2, breakLength: Number.POSITIVE_INFINITY });
  const said = splitMessage(error).what;
  const { cause } = error;
  const behind = cause instanceof AggregateError && cause.message === "" ? cause.errors[0] : cause;
  const more = behind instanceof Error ? splitMessage(behind).what : undefined;
  return more === undefined || said.includes(more) ? said : `${said}: ${more}`;
}

/** Two are the same for the user when they say the same of the same place. */
export function sameness({ error, handler }: Uncaught): string {
  return JSON.stringify([sentenceOf(error), locationOfUncaught(error), handler?.id]);
}
