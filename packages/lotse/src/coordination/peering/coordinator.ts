/**
 * Gives way to peers, and has others give way: keeps the own record in the peering objects, follows what they say, and does
 * what the machine decides. Everything or nothing: a process that is paused works on no object.
 */
import { type Client, ConflictError, ForbiddenError, type KubeBody, NotFoundError } from "@lotse/client";
import { durationMs, errorMessage, formatDuration, namespaceIn, type ObjectKey } from "@lotse/client/meta";
import { FencedError, type PeeringCoordination } from "../../declare/index.ts";
import type { Logger } from "../../report/index.ts";
import type { Coordinated, CoordinationHealth, Coordinator, CoordinatorParts } from "../coordinator.ts";
import { newRun } from "../identity.ts";
import type { Moment } from "../pause/index.ts";
import { formatPeer, peerIdentity, peeringNames, wholeSeconds } from "../peers/index.ts";
import {
  type Decision,
  decide,
  mayPass,
  type OwnPeer,
  objectGone,
  objectSeen,
  type PeeringState,
  recordWritten,
  removalTried,
  renewalMs,
  type Says,
  scopeClosed,
  scopeIs,
  scopesKnown,
  UNKNOWN,
  type WriteReason,
  writeFailed,
} from "./machine.ts";
import { aborted, PeeringStreams, sightingOf } from "./streams.ts";

/** After a failed write the next one comes so much later. */
const RETRY_MS = 1_000;

/** Leaving must not hold a process back that wants to end. */
const FAREWELL = "5s";

/** See the module comment. */
export class PeeringCoordinator implements Coordinator {
  readonly alone = false;
  readonly #name: string;
  readonly #own: OwnPeer;
  readonly #stealth: boolean;
  readonly #clusterwide: boolean;
  readonly #parts: CoordinatorParts;
  readonly #logger: Logger;
  /** A write that takes longer than others wait for it is of no use. */
  readonly #client: Client;
  readonly #streams: PeeringStreams;
  #state: PeeringState = UNKNOWN;
  #decision: Decision | undefined;
  #coordinated: Coordinated | undefined;
  /** Something of the operator may run. */
  #running = false;
  /** What the operator was told last, and whether it is being told. */
  #told = false;
  #telling: Promise<void> | undefined;
  readonly #writing = new Map<string, Promise<void>>();
  #failure: string | undefined;
  #cancelTimer: () => void = () => undefined;
  readonly #over = new AbortController();
  #following: Promise<void> | undefined;

  constructor(plan: PeeringCoordination, parts: CoordinatorParts, run: string = newRun()) {
    const { clock, random, environment, client, namespaces } = parts;
    const lifetimeMs = wholeSeconds(durationMs(plan.lifetime ?? "60s")) * 1_000;
    const clusterwide = plan.clusterwide ?? namespaces === undefined;
    this.#parts = parts;
    this.#name = plan.name ?? "default";
    this.#stealth = plan.stealth === true;
    this.#clusterwide = clusterwide;
    this.#own = {
      identity: plan.identity ?? peerIdentity({ environment, now: clock.now(), random }),
      instance: run.slice(0, 8),
      since: new Date(clock.now()).toISOString(),
      priority: plan.priority ?? 0,
      lifetimeMs,
      mandatory: plan.mandatory === true,
    };
    this.#logger = parts.logger.with({ peering: this.#name });
    this.#client = client.with({ timeout: Math.min(10_000, lifetimeMs / 3) });
    parts.metrics.gauge(
      "lotse_peering_working",
      "Whether no peer has precedence: 1 if this process works, else 0.",
      () => [[{ name: this.#name }, this.owns() ? 1 : 0]],
    );
    const strict = this.#own.mandatory;
    this.#streams = new PeeringStreams({
      ...{ client, clock, random, namespaces, clusterwide, strict },
      logger: this.#logger,
      name: this.#name,
      listener: {
        scope: (scope, problem) => this.#changed(scopeIs(this.#state, scope, problem)),
        closed: (scope) => this.#changed(scopeClosed(this.#state, scope)),
        known: () => this.#changed(scopesKnown(this.#state)),
        seen: (sighting) => this.#changed(objectSeen(this.#state, this.#own, sighting, this.#now())),
        gone: (key) => this.#changed(objectGone(this.#state, key)),
      },
    });
  }

  owns(): boolean {
    return this.#state.stance === "working";
  }

  ownsTask(): boolean {
    return this.owns();
  }

  pass(): void {
    if (mayPass(this.#state, this.#own, this.#now())) return;
    const { reason = "its record in the peering object is too old" } = this.#decision ?? {};
    throw new FencedError(`this process does not work now: ${reason}`, {
      hint: "the work is done by the peer that has precedence, or by this process when it goes on",
    });
  }

  /** See {@link Coordinator.run}. The own record is kept until {@link release}: what ends is written under it. */
  async run(coordinated: Coordinated, stopping: AbortSignal): Promise<void> {
    this.#coordinated = coordinated;
    const { identity, priority } = this.#own;
    this.#logger.info("taking part in the peering", { identity, priority });
    this.#following = this.#streams.follow(this.#over.signal);
    await aborted(stopping);
    this.#coordinated = undefined;
  }

  async release(): Promise<void> {
    this.#over.abort();
    this.#cancelTimer();
    this.#coordinated = undefined;
    await this.#following;
    await this.#telling;
    await Promise.all(this.#writing.values());
    const keys = [...this.#state.objects].filter(([, { written }]) => written).map(([key]) => key);
    this.#state = { ...this.#state, stance: "paused" };
    await Promise.all(keys.map((key) => this.#leave(key)));
  }

  health(): CoordinationHealth {
    const { stance, objects } = this.#state;
    const renewed = [...objects.values()].flatMap(({ written }) => (written ? [written.at.monotonic] : []));
    const { holder, reason } = this.#decision ?? {};
    return {
      type: "peering",
      identity: this.#own.identity,
      state: stance,
      ...(holder !== undefined && { holder }),
      ...(reason !== undefined && { reason }),
      ...(renewed.length > 0 && { renewedMs: this.#now().monotonic - Math.min(...renewed) }),
    };
  }

  #now(): Moment {
    const { clock } = this.#parts;
    return { now: clock.now(), monotonic: clock.monotonic() };
  }

  #changed(state: PeeringState): void {
    this.#state = state;
    this.#step();
  }

  /** Decides, and does what follows. What takes time goes on beside it, and steps again when it is done. */
  #step(): void {
    if (this.#over.signal.aborted) return;
    const at = this.#now();
    const { state, decision } = decide(this.#state, this.#own, this.#running, at);
    this.#state = state;
    this.#tell(decision);
    this.#decision = decision;
    if (state.stance === "working") this.#running = true;
    for (const { key, says, why } of decision.writes) this.#beside(key, () => this.#write(key, says, why));
    for (const removal of decision.removals) this.#beside(removal.key, () => this.#remove(removal));
    this.#cancelTimer();
    const { clock } = this.#parts;
    if (decision.lookAt < Number.POSITIVE_INFINITY) {
      this.#cancelTimer = clock.after(Math.max(1, decision.lookAt - at.monotonic), () => this.#step());
    }
    if (this.#coordinated && this.owns() !== this.#told) this.#telling ??= this.#tellOperator();
  }

  /** One request at a time for each object; what is not begun now is decided anew when the other has ended. */
  #beside(key: string, work: () => Promise<void>): void {
    if (this.#writing.has(key)) return;
    // Its work catches its own errors.
    const done = work().finally(() => {
      this.#writing.delete(key);
      this.#step();
    });
    this.#writing.set(key, done);
  }

  /** Tells the operator until it knows how things are. */
  async #tellOperator(): Promise<void> {
    while (this.#coordinated && this.owns() !== this.#told) {
      const coordinated = this.#coordinated;
      const working = this.owns();
      const { reason } = this.#decision ?? {};
      coordinated.leads(working);
      await coordinated.ownershipChanged(working ? "no peer has precedence" : (reason ?? "a peer has precedence"));
      this.#told = working;
      // Nothing runs any more, and nothing has begun anew meanwhile: others may know.
      if (!working && !this.owns()) this.#running = false;
    }
    this.#telling = undefined;
    this.#step();
  }

  async #write(key: string, says: Says, why: WriteReason): Promise<void> {
    const { clock, random } = this.#parts;
    const { identity, priority, lifetimeMs, since, instance } = this.#own;
    const sentAt = this.#now();
    if (why === "missing") {
      this.#logger.warn("another peer has removed the record of this process, it is written again", {
        ...placeOf(key),
        identity,
        hint: "peers take each other for dead by the time: check that the clocks agree",
      });
    }
    try {
      const record = formatPeer({ priority, lifetimeMs, now: sentAt.now, lotse: { says, since, instance } });
      const body = await this.#patch(key, { status: { [identity]: record } });
      const scope = this.#state.objects.get(key)?.scope;
      if (scope === undefined) return;
      const sighting = sightingOf(scope, body);
      const news = this.#streams.wrote(scope, body);
      const confirmation = { says, sentAt, renewalMs: renewalMs(lifetimeMs, random()) };
      this.#state = recordWritten(this.#state, this.#own, sighting, confirmation);
      // The stream may have shown more than this answer knows.
      if (news) this.#state = objectSeen(this.#state, this.#own, sighting, this.#now());
      if (this.#failure !== undefined)
        this.#logger.info("the record of this process can be written again", placeOf(key));
      this.#failure = undefined;
      if (!this.#stealth) {
        const took = formatDuration(clock.monotonic() - sentAt.monotonic);
        this.#logger.debug("the record of this process is renewed", { ...placeOf(key), says, why, took });
      }
    } catch (error) {
      this.#state = writeFailed(this.#state, key, this.#now(), RETRY_MS);
      // The object is gone: its stream says so, too.
      if (!(error instanceof NotFoundError)) this.#tellFailure(key, error);
    }
  }

  async #remove({ key, version, identities }: Decision["removals"][number]): Promise<void> {
    this.#state = removalTried(this.#state, key, this.#now());
    try {
      const status = Object.fromEntries(identities.map((identity) => [identity, null]));
      // Only what was seen: one that has come back meanwhile stays.
      const body = await this.#patch(key, { ...(version && { metadata: { resourceVersion: version } }), status });
      const scope = this.#state.objects.get(key)?.scope;
      this.#logger.info("dead peers are removed from the peering object", { ...placeOf(key), peers: identities });
      if (scope === undefined || !this.#streams.wrote(scope, body)) return;
      this.#state = objectSeen(this.#state, this.#own, sightingOf(scope, body), this.#now());
    } catch (error) {
      if (error instanceof ConflictError || error instanceof NotFoundError) return;
      this.#tellFailure(key, error);
    }
  }

  async #leave(key: string): Promise<void> {
    try {
      const client = this.#parts.client.with({ timeout: FAREWELL });
      await this.#patch(key, { status: { [this.#own.identity]: null } }, client);
    } catch (error) {
      if (error instanceof NotFoundError) return;
      this.#logger.warn("the record of this process cannot be removed, others wait until its time has run out", {
        ...placeOf(key),
        lifetime: formatDuration(this.#own.lifetimeMs),
        error: errorMessage(error),
      });
    }
  }

  async #patch(key: string, patch: object, client = this.#client): Promise<KubeBody> {
    const { kind } = this.#streams;
    if (!kind) throw new Error("the kind for peering is not known");
    const subresource = kind.subresources.includes("status") ? { subresource: "status" } : {};
    const namespace = namespaceIn(key as ObjectKey);
    const object = await client.patch(kind, this.#name, patch as never, {
      ...subresource,
      ...(namespace && { namespace }),
    });
    return object.body as KubeBody;
  }

  #tellFailure(key: string, error: unknown): void {
    const text = errorMessage(error);
    const { plural = "", group = "" } = this.#streams.kind ?? {};
    const hint =
      error instanceof ForbiddenError ? `allow patch of ${plural}.${group}` : (error as { hint?: string }).hint;
    const fields = { ...placeOf(key), error: text, hint };
    if (this.#failure === text) this.#logger.debug("the peering object cannot be written, will be tried again", fields);
    else this.#logger.warn("the peering object cannot be written, will be tried again", fields);
    this.#failure = text;
  }

  /** People hear of changes, not of repetitions. */
  #tell(decision: Decision): void {
    const before = this.#decision;
    const { stance, reason, holder, equals, absent } = decision;
    if (equals.length > 0 && equals.join() !== before?.equals.join()) {
      this.#logger.warn("there are peers with the same priority, all of them pause", {
        priority: this.#own.priority,
        peers: equals,
        hint: "give each its own priority",
      });
    }
    if (absent && !before?.absent) {
      const { kind } = peeringNames(this.#clusterwide);
      this.#logger.warn("the peering object is not there, the operator waits for it", {
        hint: `create the ${kind} ${this.#name}, or leave \`mandatory\` out`,
      });
    }
    if (stance === before?.stance && holder === before.holder && reason === before.reason) return;
    const fields = { ...(holder !== undefined && { holder }), ...(reason !== undefined && { reason }) };
    if (stance === "working") {
      const alone = this.#state.objects.size === 0;
      if (alone) this.#logger.info("there is no peering object, the operator works as if it were alone");
      else if (before?.stance !== "working") this.#logger.info("no peer has precedence, the operator works");
    } else if (stance === "paused") this.#logger.info("the operator pauses", fields);
    else if (stance === "standby") this.#logger.info("the operator stands by", fields);
    else if (before?.stance === "working") this.#logger.warn("the operator pauses", fields);
    else this.#logger.debug("the operator waits", fields);
  }
}

function placeOf(key: string): { readonly namespace?: string } {
  const namespace = namespaceIn(key as ObjectKey);
  return namespace === undefined ? {} : { namespace };
}
