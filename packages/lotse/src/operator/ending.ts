/**
 * How an operator ends. Kubernetes kills a pod thirty seconds after it has asked it to stop, whatever it is doing: so the
 * end has a time, and no handler's patience may be longer than what is left of it, least of all with a server that hangs.
 *
 *     0 ─── handlers end, records are written ───► cut ─ Events ─ cleanup handlers ───► abandon ─► killAfter
 *
 * What must stay true: after `cut` no request of the operator is under way, and what could not be written down by then is
 * said, for its handlers will run again.
 */
import { type Clock, formatDuration } from "@lotse/client/meta";
import { Aborted } from "../declare/index.ts";
import type { EventRecorder, Logger, ObjectReference } from "../report/index.ts";

/** When what is over, in milliseconds since the operator was asked to stop. */
export interface EndingPlan {
  /** Requests that are not answered by then are given up. */
  readonly cutMs: number;
  /** Cleanup handlers get their signal. */
  readonly cleanupMs: number;
  /** And are waited for no longer. */
  readonly abandonMs: number;
}

/** Of the last seconds, some are for Events and cleanup handlers, and the very last for the end itself. */
export function planEnding(killAfterMs: number): EndingPlan {
  const before = (ms: number, part: number) => killAfterMs - Math.min(ms, killAfterMs * part);
  return { cutMs: before(3_000, 0.4), cleanupMs: before(1_000, 0.2), abandonMs: before(500, 0.1) };
}

/** What an object's handlers have done and the server does not know. */
export interface Unwritten {
  readonly object: ObjectReference;
  readonly handlers: readonly string[];
}

/** A part of the operator with work to end. */
export interface Ender {
  /** Resolves when what runs has ended and is written down. */
  close(): Promise<void>;
  unwritten(): readonly Unwritten[];
}

/** What {@link endOperator} needs. */
export interface EndingParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** When it was asked to stop (monotonic). */
  readonly since: number;
  readonly plan: EndingPlan;
  readonly enders: readonly Ender[];
  /** Resolves when all streams have ended. */
  readonly streams: Promise<void> | undefined;
  readonly events: Pick<EventRecorder, "stop"> | undefined;
  readonly cleanup: (signal: AbortSignal) => Promise<void>;
  /** Nothing runs any more and everything is written: other processes may take over. Never rejects. */
  readonly release?: (() => Promise<void>) | undefined;
  /** Ends all requests of the operator. */
  readonly cut: (reason: Aborted) => void;
}

/** A line is for people: more objects than this are counted. */
const MOST_NAMED = 20;
/** How long those whose requests were cut may take to notice. */
const AFTER_CUT_MS = 250;

/** See the module comment. */
export async function endOperator(parts: EndingParts): Promise<void> {
  const { clock, since, plan, enders, streams, events, cut, logger } = parts;
  const left = (ms: number) => Math.max(0, since + ms - clock.monotonic());
  const closing = Promise.all([...enders.map((one) => one.close()), streams?.catch(() => {})]);
  const released = closing.then(() => parts.release?.());
  // Heard below, unless what has to end has failed.
  released.catch(() => {});
  const ended = await within(clock, left(plan.cutMs), closing);
  tellUnwritten(enders, logger);
  cut(new Aborted("shutdown", "the operator stops, and the server did not answer in time"));
  if (!ended) await within(clock, AFTER_CUT_MS, closing);
  await events?.stop({ within: left(plan.cleanupMs) });
  await cleanUp(parts, left);
  // Handlers that have not ended by now have until `killAfter`.
  await released;
}

async function cleanUp({ clock, plan, cleanup, logger }: EndingParts, left: (ms: number) => number): Promise<void> {
  const stop = new AbortController();
  const cancel = clock.after(left(plan.cleanupMs), () => stop.abort(new Aborted("shutdown", "the time is over")));
  try {
    if (await within(clock, left(plan.abandonMs), cleanup(stop.signal))) return;
    logger.error("cleanup handlers did not end in time, they are abandoned", {
      after: formatDuration(plan.abandonMs),
      hint: "end when context.signal aborts, or raise settings.process.graceful",
    });
  } finally {
    cancel();
  }
}

/** Whether `work` has ended before the time was over. Rejects when it does. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let cancel = () => {};
  const late = new Promise<false>((resolve) => {
    cancel = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancel();
  }
}

function tellUnwritten(enders: readonly Ender[], logger: Logger): void {
  const lost = enders.flatMap((one) => one.unwritten());
  if (lost.length === 0) return;
  const named = lost.slice(0, MOST_NAMED).map(({ object: { kind, namespace, name }, handlers }) => {
    const which = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
    return handlers.length > 0 ? `${which} (${handlers.join(", ")})` : which;
  });
  if (lost.length > MOST_NAMED) named.push(`and ${lost.length - MOST_NAMED} more`);
  logger.warn("what handlers have done could not be written down before the end, they will run again", {
    objects: named.join("; "),
    hint: "the API server did not answer; a handler has to bear being called twice",
  });
}
