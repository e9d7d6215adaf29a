/**
 * All processes share the objects: a Lease for each says who takes part, and by that whose an object is. The decisions are
 * in membership.ts; here they meet the operator.
 *
 * What must stay true: what is lost is lost at once, what is gained is gained when the operator is told. Between the two
 * the operator lets go of what it has lost, and only then is that said to others.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import {
  dns1123SubdomainErrors,
  errorMessage,
  formatDuration,
  isOlderVersion,
  type ShardSelector,
} from "@lotse/client/meta";
import { type CoordinationPlan, DeclarationError, FencedError } from "../../declare/index.ts";
import type { Coordinated, CoordinationHealth, Coordinator, CoordinatorParts } from "../coordinator.ts";
import { leaseNamespace, newRun, processIdentity } from "../identity.ts";
import { requestMs, Tenure } from "../lease/index.ts";
import { describePause, PauseWatch } from "../pause/index.ts";
import { Gathering } from "./gathering.ts";
import { SeatKeeper } from "./keeper.ts";
import { ShardKeys } from "./keys.ts";
import { measureShards } from "./measures.ts";
import { isYielding, lastOf, type MemberState } from "./member.ts";
import { heldOf, keptOf, ownedOf } from "./membership.ts";
import { both, isSame, NO_SLICES, type Slices, selectorOf, share, winners, without } from "./rendezvous.ts";
import type { SeatClaim } from "./requests.ts";
import type { Seat } from "./seat.ts";

/** The plan of an operator whose processes share its objects. */
export type ShardsPlan = Extract<CoordinationPlan, { readonly type: "shards" }>;

/** Of the time between two renewals: so long members that start together wait for each other. */
const GATHERING_PART = 1 / 4;

/** See the module comment. */
export class ShardsCoordinator implements Coordinator {
  readonly alone = false;
  readonly #claim: SeatClaim;
  readonly #parts: CoordinatorParts;
  readonly #keys: ShardKeys;
  readonly #keeper: SeatKeeper;
  readonly #tenure: Tenure;
  readonly #pauses: PauseWatch;
  #coordinated: Coordinated | undefined;
  /** Who hears what is worth its memory, before the objects are known. */
  #preparing: Coordinated | undefined;
  #gathering: Gathering | undefined;
  /** What the operator was told last. */
  #told: Slices = NO_SLICES;
  /** What it works on: what it was told, without what is lost since. */
  #granted: Slices = NO_SLICES;
  /** What is worth its memory; undefined: everything. */
  #kept: Slices | undefined;
  /** What the operator is to let go before it is said that it has. */
  #letting: { readonly id: number; readonly why: string }[] = [];
  /** The operator is being told. */
  #telling = false;
  #released = false;

  /** Throws a `DeclarationError` when there can be no such Leases. */
  constructor(plan: ShardsPlan, parts: CoordinatorParts, run: string = newRun()) {
    this.#parts = parts;
    const { client, clock, random, logger, metrics } = parts;
    this.#keys = new ShardKeys({
      by: plan.by,
      parents: parts.parents ?? [],
      onProblem: (kind, problem) =>
        logger.warn("the function that chooses shards fails, such objects are shared by their uid", {
          kind,
          problem,
          hint: "it has to return a text for every object of every kind",
        }),
    });
    this.#claim = claimOf(plan, parts, run, this.#keys.rule);
    this.#pauses = new PauseWatch({ clock, logger, priority: plan.priority, ended: () => this.#changed() });
    this.#keeper = new SeatKeeper(this.#claim, {
      client,
      clock,
      random,
      logger,
      metrics,
      changed: () => this.#changed(),
      lettingGo: (id, why) => this.#letGo(id, why),
    });
    this.#tenure = new Tenure(this.#keeper);
    measureShards(metrics, this.#claim.name, () => this.#view());
  }

  owns(body: KubeBody, kind: KindDescription): boolean {
    return this.#grants(this.#keys.sliceOf(body, kind));
  }

  keeps(body: KubeBody, kind: KindDescription): boolean {
    return this.#kept === undefined || this.#kept[this.#keys.sliceOf(body, kind)] === 1;
  }

  shardOf(kind: KindDescription): ShardSelector | undefined {
    return this.#kept && this.#keys.isByOwnUid(kind) ? selectorOf(this.#kept) : undefined;
  }

  async prepare(coordinated: Coordinated, stopping: AbortSignal): Promise<void> {
    const { retryMs } = this.#claim;
    const gathering = new Gathering(this.#parts.clock, {
      quietMs: retryMs * GATHERING_PART,
      longestMs: requestMs(this.#claim),
    });
    const end = () => gathering.end();
    stopping.addEventListener("abort", end, { once: true });
    this.#preparing = coordinated;
    this.#gathering = gathering;
    this.#tenure.begin();
    await gathering.over;
    stopping.removeEventListener("abort", end);
    this.#gathering = undefined;
  }

  ownsTask(id: string): boolean {
    return this.#grants(this.#keys.sliceOfTask(id));
  }

  pass(body?: KubeBody, kind?: KindDescription): void {
    const held = this.#may(heldOf(this.#keeper.state));
    const passes =
      this.#keeper.isOpen() && (body && kind ? held[this.#keys.sliceOf(body, kind)] === 1 : held.includes(1));
    if (passes) return;
    const { name, namespace } = this.#claim;
    throw new FencedError(`nothing was sent: ${this.#why(body, kind)}`, {
      hint: `the Leases ${namespace}/${name}-shard-… say who takes part; the work is done by whoever has the object`,
    });
  }

  /** Who works on an object, as far as this process knows. */
  ownerOf(body: KubeBody, kind: KindDescription): string | undefined {
    const { stay, seats } = this.#keeper.state;
    if (!stay || !seats) return undefined;
    const seat = winners(lastOf(stay).view)[this.#keys.sliceOf(body, kind)];
    return seat === stay.seat ? this.#claim.identity : seats.find((one) => one.seat === seat)?.holder;
  }

  async run(coordinated: Coordinated, stopping: AbortSignal): Promise<void> {
    this.#coordinated = coordinated;
    this.#keeper.warm();
    await this.#tenure.last(stopping);
  }

  async release(): Promise<void> {
    this.#released = true;
    this.#granted = NO_SLICES;
    this.#pauses.stop();
    await this.#tenure.end(this.#parts.logger);
  }

  health(): CoordinationHealth {
    const { stay, seats = [] } = this.#keeper.state;
    const pause = this.#pauses.current;
    const { members, epoch, share } = this.#view();
    const yields = isYielding(stay);
    const works = this.#granted.includes(1) && this.#keeper.isOpen();
    const other = yields ? seats.find(({ seat, holder }) => seat !== stay?.seat && holder !== undefined) : undefined;
    const reason = pause ? describePause(pause) : works ? undefined : this.#keeper.log.problem;
    const { renewedMs } = this.#keeper;
    return {
      type: "shards",
      identity: this.#claim.identity,
      state: pause ? "paused" : works ? "working" : yields ? "standby" : "waiting",
      members,
      epoch,
      share,
      ...(other?.holder !== undefined && { holder: other.holder }),
      ...(reason !== undefined && { reason }),
      ...(renewedMs !== undefined && { renewedMs }),
    };
  }

  /** What is told of this member's part. */
  #view(): { readonly members: readonly string[]; readonly epoch: number; readonly share: number } {
    const { stay, seats = [] } = this.#keeper.state;
    const said = stay && lastOf(stay);
    const holders = (said?.view ?? []).map((seat) =>
      seat === stay?.seat ? this.#claim.identity : seats.find((one) => one.seat === seat)?.holder,
    );
    return {
      members: holders.filter((holder) => holder !== undefined),
      epoch: said?.epoch ?? 0,
      share: share(this.#granted),
    };
  }

  #grants(slice: number): boolean {
    // Most slices are not granted, and the clock is not asked for them. Where it is, it may show that the Lease is late,
    // which takes the grant away: hence it is read again.
    return this.#granted[slice] === 1 && this.#keeper.isOpen() && this.#granted[slice] === 1;
  }

  /** Nothing of it while there is a pause. */
  #may(slices: Slices): Slices {
    return this.#released || this.#pauses.current ? NO_SLICES : slices;
  }

  /** Something is known, or due. What is lost takes effect at once. */
  #changed(): void {
    const { state } = this.#keeper;
    const seen = state.stay?.seen ? state.seats : undefined;
    this.#gathering?.see(seen?.map(({ seat, writer }) => `${seat} ${writer}`).join());
    this.#pauses.look(newestOf(state).map(({ record }) => record.body.metadata?.annotations));
    const owned = this.#may(ownedOf(state, this.#keeper));
    this.#granted = both(this.#granted, owned);
    this.#keep(keptOf(state, this.#keeper));
    if (this.#letting.length > 0 || !isSame(owned, this.#told)) this.#tell();
  }

  #letGo(id: number, why: string): void {
    if (this.#coordinated) this.#letting.push({ id, why });
    // Nothing runs yet.
    else queueMicrotask(() => this.#keeper.letGo(id));
  }

  /** Other objects are worth their memory. Who has no seat for a moment keeps what it has. */
  #keep(kept: Slices | undefined): void {
    const before = this.#kept;
    if (!kept || this.#released || (before && isSame(before, kept))) return;
    this.#kept = kept;
    const coordinated = this.#coordinated ?? this.#preparing;
    coordinated?.keepingChanged?.(before !== undefined && without(kept, before).includes(1));
  }

  /** Tells the operator until it knows the newest. Calls follow each other. */
  #tell(): void {
    const coordinated = this.#coordinated;
    if (this.#telling || this.#released || !coordinated) return;
    this.#telling = true;
    // Cannot reject.
    void this.#tellAll(coordinated).finally(() => {
      this.#telling = false;
    });
  }

  async #tellAll(coordinated: Coordinated): Promise<void> {
    while (!this.#released) {
      const letting = this.#letting;
      const owned = this.#may(ownedOf(this.#keeper.state, this.#keeper));
      if (letting.length === 0 && isSame(owned, this.#told)) return;
      this.#letting = [];
      const pause = this.#pauses.current;
      const why = letting.at(-1)?.why ?? (pause ? describePause(pause) : "the members have changed");
      if (!isSame(owned, this.#told)) this.#keeper.log.share(owned);
      this.#told = owned;
      this.#granted = owned;
      try {
        await coordinated.ownershipChanged(why);
      } catch (error) {
        this.#parts.logger.error("the operator could not be told what is its own", { error: errorMessage(error) });
      }
      for (const { id } of letting) this.#keeper.letGo(id);
    }
  }

  /** Why nothing may be sent. */
  #why(body: KubeBody | undefined, kind: KindDescription | undefined): string {
    const pause = this.#pauses.current;
    if (pause) return `the operator is ${describePause(pause)}`;
    if (this.#released) return "this process has given its Lease back";
    const { renewedMs, state } = this.#keeper;
    if (renewedMs === undefined) return "this process has no Lease yet";
    if (state.stay?.late) return `this process renewed its Lease ${formatDuration(Math.round(renewedMs))} ago`;
    const owner = body && kind && this.ownerOf(body, kind);
    return owner === undefined || owner === this.#claim.identity
      ? "it is not this process's turn yet"
      : `another process works on the object, ${owner}`;
  }
}

/** All seats; of the own one what is newer, the last look or the last answer. */
function newestOf({ seats = [], stay }: MemberState): readonly Seat[] {
  if (!stay) return seats;
  const isOld = ({ seat, version }: Seat) => seat === stay.seat && !isOlderVersion(stay.base.version, version);
  return seats.some(({ seat }) => seat === stay.seat)
    ? seats.map((one) => (isOld(one) ? stay.base : one))
    : [...seats, stay.base];
}

function claimOf(plan: ShardsPlan, parts: CoordinatorParts, run: string, rule: string): SeatClaim {
  const { operator, environment, client } = parts;
  const { durationMs, renewMs, retryMs, name = operator } = plan;
  const [wrong] = dns1123SubdomainErrors(name);
  if (wrong !== undefined) {
    throw new DeclarationError(`${JSON.stringify(name)} is no name for Leases: ${wrong}`, {
      hint: 'use lower case letters, digits and dashes: shards({ name: "exchange-rates" })',
    });
  }
  return {
    operator,
    name,
    namespace: leaseNamespace(plan.namespace, environment, client),
    identity: plan.identity || processIdentity({ environment, run }),
    run,
    rule,
    durationMs,
    renewMs,
    retryMs,
  };
}
