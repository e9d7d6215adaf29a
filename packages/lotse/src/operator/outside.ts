/**
 * What goes on beside the objects for as long as the operator is at work: its sources, and what it does by the clock. Each
 * is a task of its own; none of them can end the operator, and none outlives it.
 */
import type { Client } from "@lotse/client";
import { type Clock, durationMs, sleep } from "@lotse/client/meta";
import type { Declarations, FixedSettings, Memo, OutsideContext, SettingsPlan, WokenObject } from "../declare/index.ts";
import { HandlerMeasures, type Logger, type Metrics, type RecordedRequest, type Traces } from "../report/index.ts";
import type { Ender } from "./ending.ts";
import type { OperatorIndexes } from "./indexes.ts";
import { runSchedule } from "./schedules.ts";
import { runSource } from "./sources.ts";

/** What {@link Outside} is made of. */
export interface OutsideParts {
  readonly operator: string;
  readonly declarations: Pick<Declarations, "sources" | "schedules">;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined when the project has no OpenTelemetry. */
  readonly traces: Traces | undefined;
  readonly memo: Memo;
  readonly settings: FixedSettings;
  readonly plan: SettingsPlan;
  readonly indexes: OperatorIndexes;
  readonly stopping: AbortSignal;
  /** Hears of every request of a source or a scheduled function. */
  readonly onHandlerRequest: ((request: RecordedRequest) => void) | undefined;
  readonly wake: (object: WokenObject, why: string) => boolean;
}

/** See the module comment. */
export class Outside implements Ender {
  readonly #parts: OutsideParts;
  #tasks: readonly Promise<void>[] = [];

  constructor(parts: OutsideParts) {
    this.#parts = parts;
  }

  /** Handlers have begun: whoever is woken now is known. */
  begin(): void {
    const { declarations, operator, clock, random, metrics, traces, plan, client, wake } = this.#parts;
    const reporting = { traces, measures: new HandlerMeasures(metrics) };
    const common = { operator, surroundings: { runtime: { clock, plan }, reporting }, random, metrics };
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
    const { client, logger, memo, settings, indexes, clock, stopping: signal, onHandlerRequest } = this.#parts;
    return {
      client: client.with({
        signal,
        ...(onHandlerRequest && { onRequest: (request) => onHandlerRequest({ handler, ...request }) }),
      }),
      logger: logger.with(about),
      memo,
      signal,
      settings,
      indexes: indexes.view,
      sleep: (duration) => sleep(clock, durationMs(duration), signal),
    };
  }
}
