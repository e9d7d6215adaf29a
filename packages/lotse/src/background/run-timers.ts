/** Runs the timers of an object within its turn: what they want to change is part of the turn's one write. */
import { formatDuration } from "@lotse/client/meta";
import { matchesFilters, type TimerHandler } from "../declare/index.ts";
import { type BackgroundTurn, errorFields, named, reportTrouble, timerContext } from "../turn/index.ts";
import { afterTimerRun, isLifted, startTimer, type TimerState, timerDueAt, toldAnew, wokenTimer } from "./timers.ts";

/** Runs timers that are due; resolves with when the next one is (monotonic). */
export async function runTimers(
  turn: BackgroundTurn,
  handlers: readonly TimerHandler[],
  timers: Map<string, TimerState>,
): Promise<number | undefined> {
  let next: number | undefined;
  for (const handler of handlers) {
    const dueAt = await runTimer(turn, handler, timers);
    if (dueAt !== undefined) next = Math.min(next ?? dueAt, dueAt);
  }
  return next;
}

async function runTimer(
  { work, memory, body, runner, logger }: BackgroundTurn,
  handler: TimerHandler,
  timers: Map<string, TimerState>,
): Promise<number | undefined> {
  const { clock, random, stopping } = work.runtime;
  const { filters, param } = handler;
  if (!matchesFilters(filters, body, [body], filters.when && { memo: work.views.memoOf(memory), param })) {
    // Begins anew when the object matches again.
    timers.delete(handler.id);
    // Nothing tells when a question about something else than the object would be answered differently.
    const { intervalMs } = handler;
    return filters.when && intervalMs !== undefined ? clock.monotonic() + Math.max(intervalMs, 1_000) : undefined;
  }
  const begunAt = clock.monotonic();
  const time = { now: begunAt, wall: clock.now() };
  const known = timers.get(handler.id);
  const state =
    known && !isLifted(known, memory.sight.digest)
      ? toldAnew(known, time)
      : startTimer(handler, body, time, Date.parse(memory.record?.timers?.[handler.id] ?? "") || undefined);
  timers.set(handler.id, state);
  const dueAt = timerDueAt(handler, state, memory.sight.changedAt);
  if (dueAt === undefined || dueAt > begunAt || stopping.aborted || memory.running?.reason) return dueAt;

  // What the run is for: the object may change while it runs.
  const { changedAt, digest } = memory.sight;
  const startedAt = clock.now() - (begunAt - (state.startedAt ?? begunAt));
  const { attempts } = state;
  const result = await runner.attempt(
    handler,
    body,
    handler.retry.timeoutMs,
    (parts) => handler.fn(timerContext(parts, { retry: attempts, startedAt, now: clock.now() })),
    attempts,
  );
  const now = clock.monotonic();
  const ended = afterTimerRun(handler, state, result.outcome, begunAt, now, random, changedAt, clock.now());
  // Woken while it ran: once more, for what this run may not have seen.
  const after = timers.get(handler.id) === state ? ended : wokenTimer(ended);
  if (result.outcome.type === "done" && handler.schedule?.missed === "once") {
    runner.ranAt = { ...runner.ranAt, [handler.id]: new Date(time.wall).toISOString() };
  }
  timers.set(handler.id, after.ended ? { ...after, endedFor: digest } : after);
  const nextAt = timerDueAt(handler, after, memory.sight.changedAt);
  const { outcome, error, runId } = result;
  if (outcome.type === "temporary" || outcome.type === "failed") {
    const retryInMs = after.ended || nextAt === undefined ? undefined : nextAt - now;
    const { message } = outcome;
    const trouble = {
      what: "timer",
      reason: "timer",
      handler,
      runId,
      error,
      message,
      attempts: attempts + 1,
      retryInMs,
    } as const;
    reportTrouble(work, memory, body, trouble, logger);
  } else if (error !== undefined && outcome.type === "done") {
    logger.warn("timer failed, which is ignored", { ...named(handler, runId), ...errorFields(error, true) });
  } else logger.debug("timer ran", { handler: handler.id, runId, took: formatDuration(now - begunAt) });
  return nextAt;
}
