/**
 * Finds the kinds that an operator handles, now and as they come and go.
 *
 * What must stay true:
 * - No answer of the server ends anything: what cannot be found out now is told once and asked again, for ever. Only a
 *   declaration that does not fit the kinds that there are is an error that nothing heals.
 * - A kind is given up only when two say that it is gone: discovery, and the kind's own path. A part of the API that does
 *   not answer hides its kinds, it does not take them away.
 * - What changes while kinds are being looked up is looked up again at once.
 */
import {
  type Client,
  type Discovery,
  type DiscoveryFailure,
  ForbiddenError,
  type KindDescription,
  mayBeHidden,
  NotFoundError,
  pathOf,
  type StreamState,
} from "@lotse/client";
import { type Clock, errorMessage, formatDuration, type KindKey, kindKey, sleep } from "@lotse/client/meta";
import {
  DeclarationError,
  type KindPlan,
  needsDiscovery,
  type PlanProblem,
  planKinds,
  type ResourceDeclaration,
} from "../declare/index.ts";
import type { Logger, StreamHealth } from "../report/index.ts";
import { Bell } from "./bell.ts";
import { Definitions } from "./definitions.ts";
import { retryDelayMs, Trouble } from "./retry.ts";

/** CRDs come in groups, and are established a moment after they are created. */
const SETTLE_MS = 250;
/** How soon to look again while discovery lags behind the definitions: at first, and growing. */
const CATCH_UP_MS = 500;

/** What a {@link KindScanner} needs. */
export interface KindScannerOptions {
  readonly client: Client;
  readonly declarations: readonly ResourceDeclaration[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** A namespace that the operator serves; undefined when it serves the whole cluster. */
  readonly namespace: () => string | undefined;
  /** New kinds are noticed through their CRDs; those of aggregated APIs, and without that permission, this much later. */
  readonly intervalMs: number;
}

/** Told what became of the kinds. */
export interface KindListener {
  /** A kind is there that was not, or it is served in another version. */
  found(plan: KindPlan): void;
  /** A kind is there, whether or not it was declared: its readers need not wait for it. */
  there(key: KindKey): void;
  /** A kind is gone that was found. */
  vanished(kind: KindDescription): void;
}

/** What was found out about the kinds, beside them. */
export interface ScannerHealth {
  /** Why the kinds could not be found out, if so. */
  readonly error?: string | undefined;
  /** Parts of the API that do not answer. */
  readonly broken: readonly DiscoveryFailure[];
  /** Declared names that the cluster does not have. */
  readonly missing: readonly string[];
  readonly streams: readonly StreamHealth[];
}

interface Look {
  readonly discovery: Discovery;
  readonly keys: ReadonlySet<KindKey>;
  readonly plans: ReadonlyMap<KindKey, KindPlan>;
  /** The core group, or the list of all others, could not be had: there may be anything beside what was found. */
  readonly halved: DiscoveryFailure | undefined;
}

const NOTHING: Discovery = { kinds: [], apiVersions: [], failures: [] };

/** See the module comment. */
export class KindScanner {
  readonly #options: KindScannerOptions;
  readonly #needed: boolean;
  /** The kinds that were found, in the version that is handled. */
  readonly #known = new Map<KindKey, KindDescription>();
  /** What is told of declarations, as long as it is so. */
  #told = new Set<string>();
  #missing: readonly string[] = [];
  #broken: readonly DiscoveryFailure[] = [];
  readonly #trouble = new Trouble();
  readonly #bell: Bell;
  #definitions: Definitions | undefined;
  #definitionsTold = false;

  constructor(options: KindScannerOptions) {
    this.#options = options;
    this.#needed = needsDiscovery(options.declarations);
    this.#bell = new Bell(options.clock, options.signal);
  }

  /** All kinds that are there at the start. */
  async first(): Promise<KindPlan[]> {
    const { plans, halved } = await this.#look();
    if (halved) throw halved.error;
    for (const [key, { kind }] of plans) this.#known.set(key, kind);
    return [...plans.values()];
  }

  /** Looks again whenever the cluster's kinds may have changed, until the signal aborts; rejects for no answer of the server. */
  async follow(listener: KindListener): Promise<void> {
    if (!this.#needed) return;
    const { client, clock, random, signal } = this.#options;
    this.#definitions = new Definitions({
      client,
      clock,
      random,
      signal,
      onChange: () => this.#bell.ring(),
      onState: (state) => this.#onDefinitions(state),
    });
    await Promise.all([this.#definitions.follow(), this.#scan(this.#definitions, listener)]);
  }

  health(): ScannerHealth {
    return {
      ...(this.#trouble.isThere && { error: this.#trouble.text }),
      broken: this.#broken,
      missing: this.#missing,
      streams: this.#definitions ? [this.#definitions.health()] : [],
    };
  }

  async #scan(definitions: Definitions, listener: KindListener): Promise<void> {
    const { clock, random, signal, intervalMs } = this.#options;
    let failures = 0;
    let lagging = 0;
    while (!signal.aborted) {
      const pauseMs = lagging > 0 ? Math.min(intervalMs, CATCH_UP_MS * 2 ** (lagging - 1)) : intervalMs;
      if (failures === 0 && (await this.#bell.heard(pauseMs))) await quietly(sleep(clock, SETTLE_MS, signal));
      if (signal.aborted) return;
      // From here on: what rings now may be about something that this look does not see.
      this.#bell.answer();
      try {
        const look = await this.#look();
        await this.#compare(look, listener);
        if (look.halved) throw look.halved.error;
        failures = 0;
        if (this.#trouble.ends()) this.#options.logger.info("the kinds of the cluster can be found out again");
        lagging = definitions.lags(look.keys) ? lagging + 1 : 0;
      } catch (error) {
        if (signal.aborted) return;
        // No answer of the server: what the operator declares does not fit the kinds that there are now.
        if (error instanceof DeclarationError) throw error;
        failures++;
        const delayMs = retryDelayMs(failures, error, random());
        this.#tellTrouble(error, delayMs);
        await quietly(sleep(clock, delayMs, signal));
      }
    }
  }

  /** What the cluster has, and what of it is to be handled. */
  async #look(): Promise<Look> {
    const { client, declarations, signal } = this.#options;
    const discovery = this.#needed ? await client.discover({ refresh: true, signal }) : NOTHING;
    const { kinds: plans, problems } = planKinds(declarations, discovery.kinds);
    // A group version that does not answer is listed all the same; a list that was not had lists nothing.
    const halved = discovery.failures.find(({ apiVersion }) => !discovery.apiVersions.includes(apiVersion));
    if (!halved) {
      for (const problem of problems) this.#tell(problem);
      this.#told = new Set(problems.map(nameOf));
      this.#missing = problems.filter(({ problem }) => problem === "missing").map(({ resource }) => resource);
    }
    this.#tellBroken(discovery.failures.filter((failure) => failure !== halved));
    return { discovery, keys: new Set(discovery.kinds.map(kindKey)), plans, halved };
  }

  async #compare({ discovery, keys, plans }: Look, listener: KindListener): Promise<void> {
    for (const [key, kind] of [...this.#known]) {
      if (keys.has(key) || plans.has(key) || mayBeHidden(discovery, kind.group)) continue;
      if (!(await this.#isGone(kind))) continue;
      this.#known.delete(key);
      listener.vanished(kind);
    }
    for (const [key, plan] of plans) {
      if (this.#known.get(key)?.version !== plan.kind.version) {
        this.#known.set(key, plan.kind);
        listener.found(plan);
      }
    }
    for (const key of keys) listener.there(key);
  }

  /** Asks the kind's own path: where one API server of several is behind, discovery lacks kinds that are there. */
  async #isGone(kind: KindDescription): Promise<boolean> {
    const { client, signal, namespace } = this.#options;
    const path = pathOf(kind, { namespace: namespace() });
    try {
      await client.raw({ method: "GET", path, query: { limit: 1 }, signal });
      return false;
    } catch (error) {
      // Without a permission for it there is nothing to follow either.
      return error instanceof NotFoundError || error instanceof ForbiddenError;
    }
  }

  #tellTrouble(error: unknown, delayMs: number): void {
    if (!this.#trouble.begins(error)) return;
    const { hint } = (error ?? {}) as { hint?: string };
    this.#options.logger.warn("the kinds of the cluster cannot be found out, those that are known are handled", {
      error: errorMessage(error),
      hint,
      retryIn: formatDuration(delayMs),
    });
  }

  /** Each part of the API once, when it stops answering and when it answers again. */
  #tellBroken(failures: readonly DiscoveryFailure[]): void {
    const { logger } = this.#options;
    const [before, now] = [this.#broken, failures].map((list) => new Set(list.map(({ apiVersion }) => apiVersion)));
    this.#broken = failures;
    for (const { apiVersion, message } of failures) {
      if (before?.has(apiVersion)) continue;
      logger.warn("a part of the API does not answer, its kinds are waited for", {
        apiVersion,
        error: message,
        hint: "is the server behind it running? kubectl get apiservices tells",
      });
    }
    for (const apiVersion of before ?? []) {
      if (!now?.has(apiVersion)) logger.info("a part of the API answers again", { apiVersion });
    }
  }

  #onDefinitions({ phase, error }: StreamState): void {
    if (phase === "watching") this.#definitionsTold = false;
    if (phase !== "waiting" || !(error instanceof ForbiddenError) || this.#definitionsTold) return;
    this.#definitionsTold = true;
    this.#options.logger.warn("custom resource definitions cannot be watched, new kinds are noticed later", {
      every: formatDuration(this.#options.intervalMs),
      error: errorMessage(error),
      hint: "allow list and watch of customresourcedefinitions",
    });
  }

  #tell(one: PlanProblem): void {
    if (this.#told.has(nameOf(one))) return;
    const { resource, problem, kinds } = one;
    const { logger } = this.#options;
    const names = kinds.map(kindKey).join(", ");
    if (problem === "missing") {
      logger.warn("waiting for a kind that the cluster does not have", {
        kind: resource,
        hint: "install it, or check its name",
      });
    } else if (problem === "ambiguous") {
      logger.warn("a name that several kinds have is not handled", {
        kind: resource,
        kinds: names,
        hint: "add the group: things.example.com",
      });
    } else {
      logger.warn("kinds that cannot be listed, watched and patched are not handled", {
        kind: resource,
        kinds: names,
      });
    }
  }
}

function nameOf({ resource, problem }: PlanProblem): string {
  return `${resource} ${problem}`;
}

/** A sleep that only ends sooner when its signal aborts. */
async function quietly(sleeping: Promise<void>): Promise<void> {
  await sleeping.catch(() => undefined);
}
