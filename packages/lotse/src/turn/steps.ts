/**
 * Steps of one attempt. A finished step is on the object before the next one begins, so that a crash repeats at most
 * the step that it interrupted. Steps that finish in the same burst share one write.
 */
import { type Clock, errorMessage } from "@lotse/client/meta";
import {
  type BackoffPlan,
  backoffMs,
  callerLocation,
  PermanentError,
  planRetries,
  type RetryOptions,
  type RetryPlan,
  type Step,
  type StepFunction,
  TemporaryError,
  withUsualBackoff,
} from "../declare/index.ts";
import type { StepRecord } from "./record.ts";

/** What steps need. */
export interface StepsOptions {
  readonly recorded: Readonly<Record<string, StepRecord>>;
  readonly clock: Clock;
  readonly random: () => number;
  /** The wait between attempts of steps that do not say. */
  readonly backoff: BackoffPlan;
  /** Milliseconds until a deadline on the object. */
  readonly remainingMs: (due: string) => number;
  /** Writes what is remembered of the steps; resolves when it is on the object. */
  readonly persist: (steps: Readonly<Record<string, StepRecord>>) => Promise<void>;
}

/** A step waits for its next attempt: the handler ends here, and is called again then. It is not the handler's failure. */
export class StepPending extends TemporaryError {
  /** Whether it waits for something, rather than to recover from a failure. */
  readonly waits: boolean;

  constructor(name: string, message: string, delayMs: number, waits: boolean) {
    super(`step "${name}": ${message}`, { delay: Math.max(0, delayMs) });
    this.waits = waits;
  }
}

/** An attempt of a step that did not succeed, for people. */
export interface StepFailure {
  readonly step: string;
  /** Where the step is: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  readonly attempts: number;
  readonly error: unknown;
  /** Milliseconds until it is tried again; undefined when its failure is ignored. */
  readonly retryInMs: number | undefined;
}

/** See the module comment. */
export class Steps {
  readonly #options: StepsOptions;
  readonly #records: Record<string, StepRecord>;
  readonly #used = new Set<string>();
  #scheduled: Promise<void> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;
  /** What went wrong in this attempt and the handler does not fail for: nothing else would tell. */
  readonly failures: StepFailure[] = [];
  /** What the handler gets. */
  readonly step: Step;

  constructor(options: StepsOptions) {
    this.#options = options;
    this.#records = { ...options.recorded };
    this.step = Object.assign(
      <T>(name: string, fn: StepFunction<T>, retry?: RetryOptions) => this.#run(name, fn, this.#plan(retry ?? {})),
      { all: (steps: Record<string, StepFunction<unknown>>, retry?: RetryOptions) => this.#all(steps, retry ?? {}) },
    ) as Step;
  }

  /** Why what they did could not be written down. */
  get failure(): unknown {
    return this.#failure;
  }

  /** What is to be remembered of them; undefined when there were none. */
  get records(): Readonly<Record<string, StepRecord>> | undefined {
    return Object.keys(this.#records).length > 0 ? this.#records : undefined;
  }

  #plan(retry: RetryOptions): RetryPlan {
    return withUsualBackoff(planRetries(retry), this.#options.backoff);
  }

  async #all(steps: Record<string, StepFunction<unknown>>, retry: RetryOptions): Promise<Record<string, unknown>> {
    const plan = this.#plan(retry);
    const names = Object.keys(steps);
    const ends = await Promise.allSettled(
      names.map((name) => this.#run(name, steps[name] as StepFunction<unknown>, plan)),
    );
    const errors = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    // A step that failed for good decides; else the one that is due first says when to come again.
    const final = errors.find((error) => !(error instanceof StepPending));
    if (final !== undefined) throw final;
    const [first] = (errors as StepPending[]).sort((a, b) => (a.delayMs ?? 0) - (b.delayMs ?? 0));
    if (first) throw first;
    return Object.fromEntries(ends.map((end, i) => [names[i], end.status === "fulfilled" ? end.value : undefined]));
  }

  async #run<T>(name: string, fn: StepFunction<T>, plan: RetryPlan): Promise<T> {
    if (this.#used.has(name)) {
      throw new PermanentError(`the step name "${name}" is used twice in one handler`, {
        hint: "a step is remembered by its name; give each its own",
      });
    }
    this.#used.add(name);
    const sourceLocation = callerLocation();
    const before = this.#records[name];
    if (before?.outcome === "done") return before.result as T;
    if (before?.outcome === "failed") throw new PermanentError(`step "${name}": ${before.message ?? "failed"}`);
    const left = before?.due === undefined ? 0 : this.#options.remainingMs(before.due);
    if (left > 0) throw new StepPending(name, before?.message ?? "waits", left, before?.waits === true);
    return this.#attempt(name, fn, plan, before, sourceLocation);
  }

  async #attempt<T>(
    name: string,
    fn: StepFunction<T>,
    plan: RetryPlan,
    before: StepRecord | undefined,
    sourceLocation: string | undefined,
  ): Promise<T> {
    const { clock } = this.#options;
    const attempts = (before?.attempts ?? 0) + 1;
    const started = before?.started ?? new Date(clock.now()).toISOString();
    try {
      const result = await fn();
      this.#records[name] = { attempts, outcome: "done", ...(result !== undefined && { result: json(name, result) }) };
      await this.#persist();
      return result;
    } catch (error) {
      if (error instanceof PersistFailure) throw error.cause;
      // A step inside this one waits: that is no failure of this one.
      if (error instanceof StepPending) throw error;
      const message = errorMessage(error);
      const retryAt = this.#retryAt(error, plan, attempts, Date.parse(started));
      if (retryAt === undefined && plan.errors === "ignored" && !(error instanceof PermanentError)) {
        this.failures.push({ step: name, sourceLocation, attempts, error, retryInMs: undefined });
        this.#records[name] = { attempts, outcome: "done" };
        await this.#persist();
        return undefined as T;
      }
      if (retryAt === undefined) {
        this.#records[name] = { attempts, outcome: "failed", message };
        await this.#persist();
        throw error instanceof PermanentError
          ? error
          : new PermanentError(`step "${name}": ${message}`, { cause: error });
      }
      const waits = error instanceof TemporaryError;
      const due = new Date(retryAt).toISOString();
      this.#records[name] = { attempts, started, message, due, ...(waits && { waits }) };
      const retryInMs = retryAt - clock.now();
      this.failures.push({ step: name, sourceLocation, attempts, error, retryInMs });
      throw new StepPending(name, message, retryInMs, waits);
    }
  }

  /** When to try again; undefined when it is final. */
  #retryAt(error: unknown, plan: RetryPlan, attempts: number, startedAt: number): number | undefined {
    if (error instanceof PermanentError) return undefined;
    if (!(error instanceof TemporaryError) && plan.errors !== "temporary") return undefined;
    if (plan.retries !== undefined && attempts >= plan.retries) return undefined;
    const exact = error instanceof TemporaryError ? error.delayMs : undefined;
    const retryAt = this.#options.clock.now() + (exact ?? backoffMs(plan.backoff, attempts, this.#options.random()));
    return plan.timeoutMs !== undefined && retryAt - startedAt >= plan.timeoutMs ? undefined : retryAt;
  }

  /** One write at a time; what finishes while one waits to begin goes with it. */
  #persist(): Promise<void> {
    this.#scheduled ??= (async () => {
      // Let everything that is finishing right now finish.
      await new Promise((resolve) => setImmediate(resolve));
      await this.#writing;
      this.#scheduled = undefined;
      this.#writing = this.#options.persist({ ...this.#records }).catch((cause: unknown) => {
        this.#failure ??= cause;
        throw new PersistFailure(cause);
      });
      await this.#writing;
    })();
    return this.#scheduled;
  }
}

/** The write failed, not the step. */
class PersistFailure extends Error {
  constructor(cause: unknown) {
    super("what a step did could not be written down", { cause });
  }
}

function json(name: string, result: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(result)) as unknown;
  } catch (cause) {
    throw new PermanentError(`the result of step "${name}" is not JSON: ${(cause as Error).message}`, { cause });
  }
}
