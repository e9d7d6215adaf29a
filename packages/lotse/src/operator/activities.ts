/** Handlers of the operator itself, not of objects: startup, cleanup, lead, follow, login and probe. */
import type { Client, Login } from "@lotse/client";
import { type Clock, errorMessage, formatDuration, KubeError } from "@lotse/client/meta";
import {
  type ActivityContext,
  type ActivityHandler,
  type Indexes,
  type LoginContext,
  type Memo,
  type Settings,
  type SettingsPlan,
  withUsualBackoff,
} from "../declare/index.ts";
import { HandlerMeasures, type Logger, type Metrics, type Reporting, type Traces } from "../report/index.ts";
import { errorFields, named } from "../turn/index.ts";
import { makeEffort } from "./effort.ts";

/** What the operator's own handlers are given. */
export interface ActivityParts {
  readonly handlers: readonly ActivityHandler[];
  readonly settings: Settings;
  /** As it is at the moment: startup handlers change it. */
  readonly plan: () => SettingsPlan;
  readonly memo: Memo;
  readonly indexes: () => Indexes;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly nextRunId: () => string;
  readonly metrics: Metrics;
  /** Looked for while the operator begins. */
  readonly traces: () => Promise<Traces | undefined>;
  /** Hears of every request of a handler. */
  readonly onHandlerRequest: Reporting["onHandlerRequest"];
  /** Told who does something; known when the operator begins. */
  readonly onBehalf: () => Reporting["onBehalf"];
}

/**
 * A handler of the operator itself failed for good. The message names it and its place: it may be all that a person sees
 * of a start that failed.
 */
export class LifecycleError extends KubeError {
  override readonly code: string = "LOTSE_LIFECYCLE";

  constructor({ type, id, sourceLocation }: ActivityHandler, cause: unknown) {
    const { hint } = (cause ?? {}) as { hint?: unknown };
    const which = sourceLocation === undefined ? id : `${id} (${sourceLocation})`;
    super(`the ${type} handler ${which} failed for good: ${errorMessage(cause)}`, {
      cause,
      ...(typeof hint === "string" && { hint }),
    });
  }
}

/** For how long the answers of probes count. */
const PROBE_MS = 10_000;

/** See the module comment. */
export class Activities {
  readonly #parts: ActivityParts;
  readonly #measures: HandlerMeasures;
  #probed: { readonly at: number; readonly results: Promise<Readonly<Record<string, unknown>>> } | undefined;

  constructor(parts: ActivityParts) {
    this.#parts = parts;
    this.#measures = new HandlerMeasures(parts.metrics);
  }

  /** Whether a handler brings the credentials. */
  get hasLogin(): boolean {
    return this.#of("login").length > 0;
  }

  /** Startup handlers, one after another; one that fails for good fails the operator. */
  async startup(client: Client, signal: AbortSignal): Promise<void> {
    for (const handler of this.#of("startup")) await this.#run(handler, signal, client);
  }

  /** Cleanup handlers, one after another; one that fails for good keeps no other from cleaning up. */
  async cleanup(client: Client, signal: AbortSignal): Promise<void> {
    for (const handler of this.#of("cleanup")) {
      await this.#run(handler, signal, client).catch((error: unknown) => {
        // A failure for good has been told.
        if (error instanceof LifecycleError) return;
        this.#parts.logger.error("cleanup handler was given up, there is no time for another attempt", {
          ...named(handler),
          ...errorFields(error, false),
        });
      });
    }
  }

  /** This process leads: none of its handlers can end the operator. Never rejects. */
  async lead(client: Client, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#of("lead").map((handler) => this.#attend(handler, client, signal)));
  }

  /** This process leads no longer: none of its handlers can end the operator. Never rejects. */
  async follow(client: Client, signal: AbortSignal): Promise<void> {
    for (const handler of this.#of("follow")) await this.#attend(handler, client, signal);
  }

  async #attend(handler: ActivityHandler, client: Client, signal: AbortSignal): Promise<void> {
    try {
      if (!signal.aborted) await this.#run(handler, signal, client);
    } catch (error) {
      // A failure for good has been told.
      if (error instanceof LifecycleError) return;
      const why = signal.reason instanceof Error ? signal.reason.message : undefined;
      this.#parts.logger.info(`${handler.type} handler was given up`, {
        ...named(handler),
        ...errorFields(error, false),
        why,
      });
    }
  }

  /** What the login handlers bring, all of them. */
  async login(signal: AbortSignal): Promise<readonly Login[]> {
    const logins: Login[] = [];
    for (const handler of this.#of("login")) {
      const brought = (await this.#run(handler, signal)) as Login | readonly Login[] | undefined | null;
      if (brought) logins.push(...(Array.isArray(brought) ? brought : [brought as Login]));
    }
    return logins;
  }

  /** What the probes say; see {@link RunningOperator.probe}. */
  probe(client: Client, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const now = this.#parts.clock.monotonic();
    if (!this.#probed || now - this.#probed.at >= PROBE_MS) {
      this.#probed = { at: now, results: this.#probeAll(client, signal) };
    }
    return this.#probed.results;
  }

  async #probeAll(client: Client, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const results = await Promise.all(
      this.#of("probe").map(async (handler) => [handler.id, await this.#run(handler, signal, client)] as const),
    );
    return Object.fromEntries(results);
  }

  #of(type: ActivityHandler["type"]): ActivityHandler[] {
    return this.#parts.handlers.filter((handler) => handler.type === type);
  }

  /** One handler until it succeeds, which gives its result, or fails for good, which throws. */
  async #run(handler: ActivityHandler, signal: AbortSignal, client?: Client): Promise<unknown> {
    const { clock, random, nextRunId } = this.#parts;
    const plan = this.#parts.plan();
    const traces = await this.#parts.traces();
    const logger = this.#parts.logger.with({ handler: handler.id });
    const end = await makeEffort({
      surroundings: {
        runtime: { clock, plan, nextRunId },
        reporting: { traces, measures: this.#measures, onBehalf: this.#parts.onBehalf() },
      },
      handler,
      logger,
      call: (stop, effort) => handler.fn(this.#context(handler, stop.signal, client, effort)),
      retry: withUsualBackoff(handler.retry, plan.backoff),
      random,
      signal,
      graceMs: plan.gracefulMs,
      onRetry: (error, retry, delayMs, runId) =>
        logger.warn(`${handler.type} handler failed, will be tried again`, {
          ...named(handler, runId),
          ...errorFields(error, retry === 0),
          retryIn: formatDuration(delayMs),
        }),
    });
    if (end.type === "done") return end.result;
    if (end.type === "aborted") {
      if (end.error !== undefined) throw end.error;
      return undefined;
    }
    const fields = { ...named(handler, end.runId), ...errorFields(end.error, true) };
    logger.error(`${handler.type} handler failed for good`, fields);
    throw new LifecycleError(handler, end.error);
  }

  #context(
    handler: ActivityHandler,
    signal: AbortSignal,
    client: Client | undefined,
    effort: Pick<ActivityContext, "runId" | "retry" | "started" | "runtime">,
  ): ActivityContext & LoginContext {
    const { settings, memo, indexes, logger, onHandlerRequest } = this.#parts;
    const { id } = handler;
    const common = {
      ...effort,
      signal,
      settings,
      memo,
      param: handler.param,
      logger: logger.with({ handler: handler.id, runId: effort.runId }),
    };
    if (!client) return common as ActivityContext & LoginContext;
    return {
      ...common,
      client: client.with({
        signal,
        ...(onHandlerRequest && { onRequest: (request) => onHandlerRequest({ handler: id, ...request }) }),
      }),
      indexes: indexes(),
      activity: handler.type as ActivityContext["activity"],
    };
  }
}
