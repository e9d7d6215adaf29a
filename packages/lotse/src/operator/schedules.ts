/**
 * What the operator does by the clock on the wall. A run that takes long is not begun twice; times that have gone by are
 * skipped, or made up for once: then the last run is remembered as the renewal of a Lease, which outlives the process.
 */
import { type Client, Lease, NotFoundError } from "@lotse/client";
import { type Clock, formatDuration, sleep } from "@lotse/client/meta";
import { leaseOf, type ScheduledHandler, withUsualBackoff } from "../declare/index.ts";
import type { Logger, Metrics } from "../report/index.ts";
import { errorFields, type Surroundings } from "../turn/index.ts";
import { contextFor, makeEffort, REFUSED_PAUSE_MS, type TaskContext } from "./effort.ts";

/** What a scheduled function is run with. */
export interface ScheduleParts {
  readonly operator: string;
  readonly context: TaskContext;
  /** Makes and reads the Lease that a schedule remembers its last run by: the framework's own. */
  readonly client: Client;
  readonly surroundings: Surroundings;
  readonly random: () => number;
  readonly metrics: Metrics;
}

/** The clock on the wall may be set: however far away the next time is, it is looked for again after this long. */
const LOOK_AGAIN_MS = 3_600_000;

/** Runs a function by its schedule until its signal aborts. Never rejects. */
export async function runSchedule(handler: ScheduledHandler, parts: ScheduleParts): Promise<void> {
  const { context } = parts;
  const { clock } = parts.surroundings.runtime;
  const { signal: stopping } = context;
  const { schedule } = handler;
  const memory = schedule.missed === "once" ? new LastRun(handler.id, parts) : undefined;
  let since = (await memory?.read()) ?? clock.now();
  for (;;) {
    const next = schedule.next(since);
    if (next === undefined || !(await untilTime(next, clock, stopping))) return;
    const begunAt = clock.now();
    const ended = await runOnce(handler, next, parts);
    if (stopping.aborted) return;
    if (!ended) {
      await sleep(clock, REFUSED_PAUSE_MS, stopping).catch(() => undefined);
      continue;
    }
    await memory?.write(begunAt);
    since = schedule.missed === "once" ? begunAt : clock.now();
  }
}

/** Resolves with whether the time has come; false when the signal aborts before. */
async function untilTime(time: number, clock: Clock, stopping: AbortSignal): Promise<boolean> {
  for (let left = time - clock.now(); left > 0 && !stopping.aborted; left = time - clock.now()) {
    await sleep(clock, Math.min(left, LOOK_AGAIN_MS), stopping).catch(() => undefined);
  }
  return !stopping.aborted;
}

/** Resolves with whether it has come to its end; false when it was told to stop, or may not write. */
async function runOnce(handler: ScheduledHandler, at: number, parts: ScheduleParts): Promise<boolean> {
  const { surroundings, random, context, metrics, operator } = parts;
  const { clock, plan } = surroundings.runtime;
  const { logger } = context;
  const { id, sourceLocation, fn } = handler;
  const begunAt = clock.monotonic();
  logger.debug("scheduled run begins", { scheduled: new Date(at).toISOString() });
  const end = await makeEffort({
    surroundings,
    handler: { id, type: "schedule", sourceLocation },
    logger,
    call: (stop, effort) =>
      fn({ ...contextFor(context, stop, clock, effort.runId), ...effort, scheduled: new Date(at) }),
    retry: withUsualBackoff(handler.retry, plan.backoff),
    random,
    signal: context.signal,
    graceMs: plan.gracefulMs,
    onRetry: (error, retry, delayMs, runId) =>
      logger.warn("scheduled run failed, will be tried again", {
        at: sourceLocation,
        runId,
        ...errorFields(error, retry === 0),
        retryIn: formatDuration(delayMs),
      }),
  });
  if (end.type === "aborted") return false;
  const took = formatDuration(clock.monotonic() - begunAt);
  if (end.type === "done") logger.info("scheduled run succeeded", { runId: end.runId, took });
  else {
    const fields = { at: sourceLocation, runId: end.runId, took, ...errorFields(end.error, true) };
    logger.error("scheduled run failed for good", fields);
  }
  const result = end.type === "done" ? "succeeded" : "failed";
  metrics.count("lotse_scheduled_runs_total", "Runs by the operator's schedules.", { operator, schedule: id, result });
  return true;
}

/** When a schedule last ran, kept as the renewal of a Lease in the operator's namespace. */
class LastRun {
  readonly #name: string;
  readonly #client: Client;
  readonly #logger: Logger;

  constructor(id: string, { operator, client, context }: ScheduleParts) {
    this.#name = leaseOf(operator, id);
    this.#client = client;
    this.#logger = context.logger;
  }

  /** Wall-clock milliseconds; undefined when it is not known. */
  async read(): Promise<number | undefined> {
    try {
      const { spec } = await this.#client.get(Lease, this.#name);
      return Date.parse(spec?.renewTime ?? "") || undefined;
    } catch (error) {
      if (!(error instanceof NotFoundError)) this.#tell("when the schedule last ran is not known", error);
      return undefined;
    }
  }

  async write(at: number): Promise<void> {
    // Kubernetes' MicroTime has six digits.
    const renewTime = new Date(at).toISOString().replace("Z", "000Z");
    try {
      await this.#client.apply(new Lease({ metadata: { name: this.#name }, spec: { renewTime } }), { force: true });
    } catch (error) {
      this.#tell("when the schedule ran could not be remembered", error);
    }
  }

  #tell(what: string, error: unknown): void {
    const hint = "what is missed while the operator is away is not made up for";
    this.#logger.warn(what, { lease: this.#name, ...errorFields(error, false), hint });
  }
}
