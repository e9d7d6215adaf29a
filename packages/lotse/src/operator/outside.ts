/**
 * What goes on beside the objects for as long as the operator is at work: its sources, and what it does by the clock. Each
 * is a task of its own; none of them can end the operator, and none outlives it. Beside other processes each runs in the
 * one whose task it is.
 */
import { durationMs, sleep } from "@lotse/client/meta";
import {
  Aborted,
  type Declarations,
  FencedError,
  type Indexes,
  type Memo,
  type WokenObject,
} from "../declare/index.ts";
import { firstOfSignals } from "../informers/index.ts";
import { HandlerMeasures, type Reporting } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
import type { Owner } from "./coordinating.ts";
import type { TaskContext } from "./effort.ts";
import type { Ender } from "./ending.ts";
import { runSchedule } from "./schedules.ts";
import { runSource } from "./sources.ts";

/** What {@link Outside} is made of. */
export interface OutsideParts {
  readonly runtime: Runtime;
  readonly reporting: Reporting;
  readonly declarations: Pick<Declarations, "sources" | "schedules">;
  readonly memo: Memo;
  readonly indexes: Indexes;
  readonly wake: (object: WokenObject, why: string) => boolean;
}

/** What goes on beside the objects, by its id. */
interface Task {
  readonly id: string;
  /** Runs until the signal aborts. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A task at work. */
interface RunningTask {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** See the module comment. */
export class Outside implements Ender, Owner {
  readonly #parts: OutsideParts;
  readonly #tasks: readonly Task[];
  readonly #running = new Map<Task, RunningTask>();
  #begun = false;

  constructor(parts: OutsideParts) {
    this.#parts = parts;
    this.#tasks = this.#declared();
  }

  /** Handlers have begun: the objects that sources wake are known. */
  begin(): void {
    this.#begun = true;
    this.#beginOwned();
  }

  async ownershipChanged(why: string): Promise<void> {
    const { ownership } = this.#parts.runtime;
    const lost = [...this.#running].filter(([{ id }]) => !ownership.ownsTask(id));
    await Promise.all(
      lost.map(async ([task, { stop, ended }]) => {
        stop.abort(new Aborted("ownership", why));
        await ended;
        this.#running.delete(task);
      }),
    );
    this.#beginOwned();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** What they have done is theirs to remember. */
  unwritten(): [] {
    return [];
  }

  #beginOwned(): void {
    const { ownership, stopping } = this.#parts.runtime;
    if (!this.#begun || stopping.aborted) return;
    for (const task of this.#tasks) {
      if (this.#running.has(task) || !ownership.ownsTask(task.id)) continue;
      const stop = new AbortController();
      const { signal, letGo } = firstOfSignals([stopping, stop.signal]);
      this.#running.set(task, { stop, ended: task.run(signal).finally(letGo) });
    }
  }

  #declared(): Task[] {
    const { declarations, runtime, reporting, wake } = this.#parts;
    const { operator, random, client, plan } = runtime;
    const { metrics, traces, onBehalf } = reporting;
    const surroundings = { runtime, reporting: { traces, onBehalf, measures: new HandlerMeasures(metrics) } };
    const common = { operator, surroundings, random, metrics };
    return [
      ...declarations.sources.map(
        (source): Task => ({
          id: source.id,
          run: (signal) => {
            const context = this.#context(source.id, { source: source.id }, signal);
            return runSource(source, { ...common, context, graceMs: plan.gracefulMs, wake });
          },
        }),
      ),
      ...declarations.schedules.map(
        (schedule): Task => ({
          id: schedule.id,
          run: (signal) => {
            const context = this.#context(schedule.id, { schedule: schedule.id }, signal);
            return runSchedule(schedule, { ...common, context, client });
          },
        }),
      ),
    ];
  }

  #context(handler: string, about: Readonly<Record<string, string>>, signal: AbortSignal): TaskContext {
    const { runtime, reporting, memo, indexes } = this.#parts;
    const { client, settings, clock, ownership } = runtime;
    const { logger, onHandlerRequest } = reporting;
    return {
      client: client.with({
        signal,
        ...(!ownership.alone && {
          guard: () => {
            ownership.pass();
            // Of what is shared, a process may have some, and not this.
            if (!ownership.ownsTask(handler)) throw new FencedError("nothing was sent: another process does this now");
          },
        }),
        ...(onHandlerRequest && { onRequest: (request) => onHandlerRequest({ handler, ...request }) }),
      }),
      logger: logger.with(about),
      memo,
      signal,
      settings,
      indexes,
      sleep: (duration) => sleep(clock, durationMs(duration), signal),
    };
  }
}
