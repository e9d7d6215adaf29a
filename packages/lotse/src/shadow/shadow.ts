/** A shadow at work: the client that its operator gets, and what comes out of it. */
import { Client, type KubeBody } from "@lotse/client";
import { type Clock, type Duration, durationMs, sleep } from "@lotse/client/meta";
import type { Actor, Logger, Metrics, ObjectReference, OnBehalf, StreamHealth } from "../report/index.ts";
import { Actors } from "./actors.ts";
import { Aliases } from "./aliases.ts";
import { ABOUT_THE_SAME, ANY_MOMENT } from "./compare.ts";
import { DryRun } from "./dry-run.ts";
import { Judge } from "./judge.ts";
import type { Bookkeeping } from "./normal-form.ts";
import type { ShadowDifference, ShadowReport } from "./report.ts";
import { resourceOf } from "./request-target.ts";
import { Sweep } from "./sweep.ts";
import { ShadowTransport } from "./transport.ts";
import { Worker } from "./worker.ts";
import { World } from "./world.ts";
import { Writes } from "./writes.ts";

/**
 * How a new version of an operator runs beside the old one, without writing anything.
 *
 * @example
 * ```ts
 * const running = operator.start({ client, shadow: { settle: "2s" } });
 * ```
 */
export interface ShadowOptions {
  /** Field managers of the version that works. Default: the operator's name, and those that it had before. */
  readonly beside?: readonly string[] | undefined;
  /**
   * Keeps everything that the old version has ever written from the new one, so that every object is handled anew and
   * compared. Default: what is there when the shadow begins counts as done by both.
   */
  readonly fromScratch?: boolean | undefined;
  /** How long an object must not change before it is compared. Default 5 s. */
  readonly settle?: Duration | undefined;
  /** Kinds to compare although the new version may not touch them any more; others are found after some minutes. */
  readonly compare?: readonly string[] | undefined;
  /** Really runs commands in containers: for handlers that only look there. Default: they are refused. */
  readonly allowExec?: boolean | undefined;
  /** Hears of each difference when it is found, and when it is over. */
  readonly onDifference?: ((difference: ShadowDifference, event: "found" | "over") => void) | undefined;
}

/** What a {@link Shadow} is made of. */
export interface ShadowParts {
  readonly operator: string;
  readonly formerNames: readonly string[];
  /** Of the cluster. */
  readonly client: Client;
  readonly options: ShadowOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly bookkeeping: Bookkeeping;
  /** Whether the operator serves only some namespaces. */
  readonly byNamespace: boolean;
  readonly isBusy: (object: ObjectReference) => boolean;
}

const SETTLE = "5s";
const LOOK_MS = 1_000;

/** See the module comment. */
export class Shadow {
  readonly #parts: ShadowParts;
  readonly #end = new AbortController();
  readonly #actors = new Actors();
  readonly #worker: Worker;
  readonly #judge: Judge;
  readonly #world: World;
  readonly #sweep: Sweep;
  readonly #writes: Writes;
  readonly #transport: ShadowTransport;

  private constructor(parts: ShadowParts, begunAt: number) {
    this.#parts = parts;
    const { client, options, clock, random, logger, metrics, bookkeeping, operator } = parts;
    const { signal } = this.#end;
    const lens = { aliases: new Aliases(() => this.#judge.reconsider()), bookkeeping };
    const worker = new Worker(options.beside ?? [operator, ...parts.formerNames]);
    this.#worker = worker;
    const fromScratch = options.fromScratch === true;
    this.#judge = new Judge({
      clock,
      bench: { lens, worker, same: fromScratch ? ANY_MOMENT : ABOUT_THE_SAME },
      settleMs: durationMs(options.settle ?? SETTLE),
      isCurrent: (world) => this.#world.following.isCurrent(world),
      isBusy: parts.isBusy,
      goesWithOwner: (body) => this.#world.goesWithOwner(body),
      onFound: (difference) => this.#tell(difference, "found"),
      onOver: (difference) => this.#tell(difference, "over"),
    });
    this.#world = new World({
      client,
      worker,
      lens,
      clock,
      random,
      logger,
      signal,
      begunAt,
      byNamespace: parts.byNamespace,
      fromScratch,
      onChanged: (world, key) => this.#judge.changed(world, key),
    });
    const dryRun = new DryRun(client, worker);
    const hasNamespace = (name: string) => this.#world.hasNamespace(name);
    this.#writes = new Writes({ dryRun, worker, clock, hasNamespace });
    this.#transport = new ShadowTransport({
      client,
      world: this.#world,
      writes: this.#writes,
      dryRun,
      actors: this.#actors,
      clock,
      allowExec: options.allowExec === true,
      onUntried: (what, refused, actor) => this.#tellUntried(what, refused, actor),
    });
    const namespaces = () => (parts.byNamespace ? this.#namespaces() : undefined);
    this.#sweep = new Sweep({ client, world: this.#world, worker, clock, logger, signal, namespaces });
    metrics.gauge("lotse_shadow_differences", "Objects about which the shadow and the working version differ.", () => [
      [{ operator }, this.#judge.differences.length],
    ]);
  }

  /** Begins to look at the cluster. */
  static async open(parts: ShadowParts): Promise<Shadow> {
    const shadow = new Shadow(parts, await serverTime(parts.client, parts.clock));
    await shadow.#followWanted();
    return shadow;
  }

  /** A client that lives in the shadow's world. */
  connect(): Promise<Client> {
    const { client, clock, random } = this.#parts;
    const { server: url } = client.config;
    return Client.connect({ url, namespace: client.namespace, transport: this.#transport, clock, random });
  }

  /** Does something on behalf of a handler. */
  get onBehalf(): OnBehalf {
    return this.#actors.run;
  }

  /** The operator has begun to work: kinds that only the old version writes are looked for. */
  begin(): void {
    this.#judge.begin();
    this.#sweep.begin();
  }

  /** Resolves when nothing has begun or ceased to differ for so long, kinds included that were not looked at before. */
  async quiet(ms: number, signal?: AbortSignal): Promise<ShadowReport> {
    const { clock } = this.#parts;
    for (;;) {
      const left = ms - this.#judge.quietMs;
      if (left > 0) {
        // While something is not settled, nothing says when it will be.
        await sleep(clock, Math.min(left, LOOK_MS), signal);
        continue;
      }
      await this.#sweep.now();
      signal?.throwIfAborted();
      if (this.#judge.quietMs >= ms) return this.report();
    }
  }

  /** The streams by which the cluster is seen: those of the operator itself only show the shadow's world. */
  health(): StreamHealth[] {
    return this.#world.following.health();
  }

  /** What is known so far. */
  report(): ShadowReport {
    const { operator, options } = this.#parts;
    const { differences, undecided, untried, unsettled, counts, quietMs } = this.#judge;
    return {
      operator,
      beside: this.#worker.names,
      fromScratch: options.fromScratch === true,
      differences,
      undecided,
      untried,
      kinds: this.#world.kinds.map(({ kind }) => resourceOf(kind)).sort(),
      ...counts,
      unsettled,
      quietMs,
    };
  }

  /** Ends everything; resolves when nothing is followed any more. */
  async close(): Promise<void> {
    this.#judge.close();
    this.#sweep.close();
    this.#end.abort();
    this.#writes.close();
    await this.#world.following.ended();
    this.#actors.end();
  }

  async #followWanted(): Promise<void> {
    const { client, options, logger } = this.#parts;
    for (const name of options.compare ?? []) {
      const world = await this.#world.follow(await client.resolve(name), undefined);
      if (!world) logger.warn("a kind cannot be compared, it may not be listed", { kind: name });
    }
  }

  /** Where the shadow has seen objects. */
  #namespaces(): readonly string[] {
    const all = this.#world.kinds.flatMap((world) =>
      [...world.bodies()].flatMap((body) => body.metadata?.namespace ?? []),
    );
    return [...new Set(all)];
  }

  #tell(difference: ShadowDifference, event: "found" | "over"): void {
    const { logger, options } = this.#parts;
    const { verdict, apiVersion, kind, namespace, name, uid, fields, handlers } = difference;
    const about = logger.about({ apiVersion, kind, namespace, name, uid });
    const paths = fields.map(({ path }) => path).join(", ");
    const told = {
      verdict,
      ...(paths !== "" && { paths }),
      ...(handlers.length > 0 && { handlers: handlers.join(", ") }),
    };
    if (event === "found") about.warn("the new version would have it otherwise", told);
    else about.info("the versions agree again", told);
    options.onDifference?.(difference, event);
  }

  #tellUntried(what: string, refused: boolean, actor: Actor | undefined): void {
    if (!this.#judge.untriedBy(what, refused, actor)) return;
    const { logger } = this.#parts;
    const about = actor?.object ? logger.about(actor.object) : logger;
    const fields = { what, ...(actor && { handlers: actor.handlers.join(", ") }) };
    if (refused) about.warn("the new version would have done something that a shadow cannot try", fields);
    else about.warn("the new version would have done something that is not compared", fields);
  }
}

/** The server's clock is the one that objects are dated by; of whom it is asked does not matter. */
async function serverTime(client: Client, clock: Clock): Promise<number> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const asked = await client.raw({ method: "POST", path, body }).then(
    (response) => response.json<KubeBody>(),
    () => undefined,
  );
  const time = Date.parse(asked?.metadata?.creationTimestamp ?? "");
  return Number.isNaN(time) ? Math.floor(clock.now() / 1_000) * 1_000 : time;
}
