/**
 * What goes on beside the objects for as long as the operator is at work: its sources, and what it does by the clock. Each
 * is a task of its own; none of them can end the operator, and none outlives it.
 */
import { durationMs, sleep } from "@lotse/client/meta";
import type { Declarations, Indexes, Memo, OutsideContext, WokenObject } from "../declare/index.ts";
import { HandlerMeasures, type Reporting } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
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

/** See the module comment. */
export class Outside implements Ender {
  readonly #parts: OutsideParts;
  #tasks: readonly Promise<void>[] = [];

  constructor(parts: OutsideParts) {
    this.#parts = parts;
  }

  /** Handlers have begun: the objects that sources wake are known. */
  begin(): void {
    const { declarations, runtime, reporting, wake } = this.#parts;
    const { operator, random, client, plan } = runtime;
    const { metrics, traces } = reporting;
    const surroundings = { runtime, reporting: { traces, measures: new HandlerMeasures(metrics) } };
    const common = { operator, surroundings, random, metrics };
    // None of them can reject.
    this.#tasks = [
      ...declarations.sources.map((source) => {
        const context = this.#context(source.id, { source: source.id });
        return runSource(source, { ...common, context, graceMs: plan.gracefulMs, wake });
      }),
      ...declarations.schedules.map((schedule) => {
        const context = this.#context(schedule.id, { schedule: schedule.id });
        return runSchedule(schedule, { ...common, context, client });
      }),
    ];
  }

  async close(): Promise<void> {
    await Promise.all(this.#tasks);
  }

  /** What they have done is theirs to remember. */
  unwritten(): [] {
    return [];
  }

  #context(handler: string, about: Readonly<Record<string, string>>): OutsideContext {
    const { runtime, reporting, memo, indexes } = this.#parts;
    const { client, settings, clock, stopping: signal } = runtime;
    const { logger, onHandlerRequest } = reporting;
    return {
      client: client.with({
        signal,
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
