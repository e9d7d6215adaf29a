/** Handlers of the operator itself, not of objects: startup, cleanup, login and probe. */
import type { Client, Login } from "@lotse/client";
import { type Clock, errorMessage, formatDuration, KubeError, sleep } from "@lotse/client/meta";
import {
  Aborted,
  backoffMs,
  type Indexes,
  type LifecycleContext,
  type LifecycleHandler,
  type LoginContext,
  type Memo,
  type Settings,
  type SettingsPlan,
  withUsualBackoff,
} from "../declare/index.ts";
import type { RecordedRequest } from "../generate/index.ts";
import type { Logger } from "../report/index.ts";
import { attempt, errorFields, named, Stop } from "../turn/index.ts";

/** What the operator's own handlers are given. */
export interface ActivityParts {
  readonly handlers: readonly LifecycleHandler[];
  readonly settings: Settings;
  /** As it is at the moment: startup handlers change it. */
  readonly plan: () => SettingsPlan;
  readonly memo: Memo;
  readonly indexes: () => Indexes;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  /** Hears of every request of a handler. */
  readonly record: ((request: RecordedRequest) => void) | undefined;
}

/**
 * A handler of the operator itself failed for good. The message names it and its place: it may be all that somebody sees
 * of a start that failed.
 */
export class LifecycleError extends KubeError {
  override readonly code: string = "LOTSE_LIFECYCLE";

  constructor({ type, id, place }: LifecycleHandler, cause: unknown) {
    const { hint } = (cause ?? {}) as { hint?: unknown };
    const which = place === undefined ? id : `${id} (${place})`;
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
  #probed: { readonly at: number; readonly results: Promise<Readonly<Record<string, unknown>>> } | undefined;

  constructor(parts: ActivityParts) {
    this.#parts = parts;
  }

  /** Whether somebody brings the credentials. */
  get hasLogin(): boolean {
    return this.#of("login").length > 0;
  }

  /** Startup handlers, one after another; one that fails for good fails the operator. */
  async startup(client: Client, signal: AbortSignal): Promise<void> {
    for (const handler of this.#of("startup")) await this.#run(handler, signal, client);
  }

  /** Cleanup handlers, one after another; one that fails for good keeps nobody else from cleaning up. */
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

  #of(type: LifecycleHandler["type"]): LifecycleHandler[] {
    return this.#parts.handlers.filter((handler) => handler.type === type);
  }

  /** One handler until it succeeds, which gives its result, or fails for good, which throws. */
  async #run(handler: LifecycleHandler, signal: AbortSignal, client?: Client): Promise<unknown> {
    const parent = new Stop();
    const unlink = forward(signal, parent);
    try {
      return await this.#attempts(handler, signal, parent, client);
    } finally {
      unlink();
    }
  }

  async #attempts(handler: LifecycleHandler, signal: AbortSignal, parent: Stop, client?: Client): Promise<unknown> {
    const { clock, random } = this.#parts;
    const startedAt = clock.now();
    const logger = this.#parts.logger.with({ handler: handler.id });
    for (let retry = 0; ; retry++) {
      const { gracefulMs, backoff } = this.#parts.plan();
      const plan = withUsualBackoff(handler.retry, backoff);
      const spent = clock.now() - startedAt;
      const { outcome, error } = await attempt(
        ({ signal: own }) =>
          handler.fn(this.#context(handler, own, client, { retry, started: new Date(startedAt), runtime: spent })),
        {
          clock,
          parent,
          timeoutMs: plan.timeoutMs === undefined ? undefined : Math.max(0, plan.timeoutMs - spent),
          graceMs: gracefulMs,
          errors: plan.errors,
        },
      );
      if (outcome.type === "done") return outcome.result;
      if (outcome.type === "aborted") return undefined;
      const delayMs = outcome.type === "failed" ? 0 : (outcome.delayMs ?? backoffMs(plan.backoff, retry + 1, random()));
      const late = plan.timeoutMs !== undefined && spent + delayMs >= plan.timeoutMs;
      const exhausted = plan.retries !== undefined && retry + 1 >= plan.retries;
      if (outcome.type === "failed" || exhausted || late) {
        logger.error(`${handler.type} handler failed for good`, { ...named(handler), ...errorFields(error, true) });
        throw new LifecycleError(handler, error);
      }
      logger.warn(`${handler.type} handler failed, will be tried again`, {
        ...named(handler),
        ...errorFields(error, retry === 0),
        retryIn: formatDuration(delayMs),
      });
      await sleep(clock, delayMs, signal);
    }
  }

  #context(
    handler: LifecycleHandler,
    signal: AbortSignal,
    client: Client | undefined,
    effort: Pick<LifecycleContext, "retry" | "started" | "runtime">,
  ): LifecycleContext & LoginContext {
    const { settings, memo, indexes, logger, record } = this.#parts;
    const { id } = handler;
    const common = {
      ...effort,
      signal,
      settings,
      memo,
      param: handler.param,
      logger: logger.with({ handler: handler.id }),
    };
    if (!client) return common as LifecycleContext & LoginContext;
    return {
      ...common,
      client: client.with({ signal, ...(record && { onRequest: (request) => record({ handler: id, ...request }) }) }),
      indexes: indexes(),
      activity: handler.type as LifecycleContext["activity"],
    };
  }
}

function forward(signal: AbortSignal, stop: Stop): () => void {
  const onAbort = () => stop.stop(signal.reason instanceof Aborted ? signal.reason : SHUTDOWN);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}

const SHUTDOWN = new Aborted("shutdown", "the operator stops");
