/** Finds the kinds that an operator handles, now and as they appear. */
import { type Client, CustomResourceDefinition, type KindDescription, openStream } from "@lotse/client";
import { type Clock, sleep } from "@lotse/client/meta";
import type { ResourceDeclaration } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import { type KindPlan, needsDiscovery, type PlanProblem, planKinds } from "./plan.ts";

/** CRDs come in groups, and are established a moment after they are created. */
const SETTLE_MS = 250;

/** What a {@link KindScanner} needs. */
export interface KindScannerOptions {
  readonly client: Client;
  readonly declarations: readonly ResourceDeclaration[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** New kinds are noticed through their CRDs; those of aggregated APIs, and without that permission, this much later. */
  readonly intervalMs: number;
}

/** See the module comment. */
export class KindScanner {
  readonly #client: Client;
  readonly #declarations: readonly ResourceDeclaration[];
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #signal: AbortSignal;
  readonly #intervalMs: number;
  /** Versions of the kinds that are handled. */
  readonly #known = new Map<string, string>();
  readonly #told = new Set<string>();

  constructor({ client, declarations, clock, logger, signal, intervalMs }: KindScannerOptions) {
    this.#client = client;
    this.#declarations = declarations;
    this.#clock = clock;
    this.#logger = logger;
    this.#signal = signal;
    this.#intervalMs = intervalMs;
  }

  /** The kinds that were not known before, and those that are served in another version now. */
  async scan(): Promise<KindPlan[]> {
    const discovered = needsDiscovery(this.#declarations) ? await this.#discover() : [];
    const plan = planKinds(this.#declarations, discovered);
    for (const problem of plan.problems) this.#tell(problem);
    const news = [...plan.kinds].filter(([key, { kind }]) => this.#known.get(key) !== kind.version);
    for (const [key, { kind }] of news) this.#known.set(key, kind.version);
    return news.map(([, kind]) => kind);
  }

  /** Looks again whenever the cluster's kinds may have changed, until the signal aborts. */
  async follow(onKind: (plan: KindPlan) => void): Promise<void> {
    if (!needsDiscovery(this.#declarations)) return;
    let wake: () => void = () => {};
    const changed = () => wake();
    const sink = { replace: changed, apply: changed, remove: changed };
    const stream = openStream(
      this.#client,
      CustomResourceDefinition.description,
      { clock: this.#clock },
      sink,
      this.#signal,
    );
    while (!this.#signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const idle = new AbortController();
      await Promise.race([
        woken,
        sleep(this.#clock, this.#intervalMs, AbortSignal.any([this.#signal, idle.signal])).catch(() => {}),
      ]);
      idle.abort();
      await sleep(this.#clock, SETTLE_MS, this.#signal).catch(() => {});
      if (this.#signal.aborted) break;
      for (const plan of await this.scan()) onKind(plan);
    }
    await stream;
  }

  async #discover(): Promise<readonly KindDescription[]> {
    const { kinds } = await this.#client.discover({ refresh: true });
    return kinds;
  }

  #tell({ resource, problem, kinds }: PlanProblem): void {
    const key = `${resource} ${problem}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const names = kinds.map(({ plural, group }) => (group ? `${plural}.${group}` : plural)).join(", ");
    if (problem === "missing") {
      this.#logger.warn("waiting for a kind that the cluster does not have", {
        kind: resource,
        hint: "install it, or check its name",
      });
    } else if (problem === "ambiguous") {
      this.#logger.warn("a name that several kinds have is not handled", {
        kind: resource,
        kinds: names,
        hint: "add the group: things.example.com",
      });
    } else {
      this.#logger.warn("kinds that cannot be listed, watched and patched are not handled", {
        kind: resource,
        kinds: names,
      });
    }
  }
}
