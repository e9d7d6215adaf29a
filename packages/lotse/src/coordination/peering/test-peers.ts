/** A peering object without a server, and peers around it: each step of each of them is taken when the test says so. */

import { formatPeer, parsePeers } from "../peers/index.ts";
import {
  decide,
  mayPass,
  type OwnPeer,
  objectSeen,
  type PeeringState,
  recordWritten,
  renewalMs,
  type Says,
  scopeIs,
  scopesKnown,
  UNKNOWN,
} from "./machine.ts";

const KEY = "/default";

/** The object, and time, which is the same for all. */
export class PeeringWorld {
  time = 0;
  /** Never changed in place: those who have seen it keep what they have seen. */
  status: Readonly<Record<string, unknown>> = {};
  version = 1;

  get at() {
    return { now: Date.parse("2026-01-01T00:00:00Z") + this.time, monotonic: this.time };
  }

  patch(status: Readonly<Record<string, unknown>>): void {
    this.version++;
    const records = Object.entries({ ...this.status, ...status });
    this.status = Object.fromEntries(records.filter(([, record]) => record !== null));
  }

  sighting() {
    return { scope: "", key: KEY, version: String(this.version), status: this.status };
  }
}

interface Sent {
  readonly says: Says;
  readonly at: { readonly now: number; readonly monotonic: number };
}

/** A process of Lotse: the machine, and what the coordinator does around it. */
export class LotsePeer {
  readonly world: PeeringWorld;
  readonly own: OwnPeer;
  state: PeeringState;
  running = false;
  /** A write that has left the process and not arrived yet. */
  sent: Sent | undefined;
  /** It does nothing, as a process that is stopped by a signal. */
  frozen = false;
  gone = false;

  constructor(world: PeeringWorld, own: Partial<OwnPeer> & Pick<OwnPeer, "identity">) {
    this.world = world;
    this.own = {
      instance: `instance-${own.identity}`,
      since: new Date(world.at.now).toISOString(),
      priority: 0,
      lifetimeMs: 60_000,
      mandatory: false,
      ...own,
    };
    this.state = scopesKnown(scopeIs(UNKNOWN, "", undefined));
    this.look();
  }

  /** Whether a write of its operator would leave now. */
  get works(): boolean {
    return !this.gone && mayPass(this.state, this.own, this.world.at);
  }

  get decision() {
    return decide(this.state, this.own, this.running, this.world.at).decision;
  }

  /** The stream shows the object. */
  look(): void {
    if (this.gone || this.frozen) return;
    this.state = objectSeen(this.state, this.own, this.world.sighting(), this.world.at);
    this.decide();
  }

  decide(): void {
    if (this.gone || this.frozen) return;
    const { state, decision } = decide(this.state, this.own, this.running, this.world.at);
    this.state = state;
    if (state.stance === "working") this.running = true;
    const [write] = decision.writes;
    if (write && !this.sent) this.sent = { says: write.says, at: this.world.at };
    const [removal] = decision.removals;
    if (removal?.version === String(this.world.version)) {
      this.world.patch(Object.fromEntries(removal.identities.map((identity) => [identity, null])));
    }
  }

  /** The write arrives, and its answer comes back. */
  land(): void {
    const { sent, own, world } = this;
    if (!sent || this.gone) return;
    const { says, at } = sent;
    const lotse = { says, since: own.since, instance: own.instance };
    world.patch({ [own.identity]: formatPeer({ ...own, now: at.now, lotse }) });
    if (this.frozen) return;
    this.sent = undefined;
    const confirmation = { says, sentAt: at, renewalMs: renewalMs(own.lifetimeMs, 0) };
    this.state = recordWritten(this.state, own, world.sighting(), confirmation);
    this.look();
  }

  /** Nothing of the operator runs any more. */
  drained(): void {
    if (this.frozen || this.state.stance === "working") return;
    this.running = false;
    this.decide();
  }

  /** A clean end. */
  leave(): void {
    if (this.gone || this.frozen) return;
    this.gone = true;
    this.world.patch({ [this.own.identity]: null });
  }

  /** Killed. */
  crash(): void {
    this.gone = true;
  }
}

/** A process of Kopf: it pauses for live peers with its priority or a higher one, and looks at nothing else. */
export class KopfPeer {
  readonly world: PeeringWorld;
  readonly identity: string;
  readonly priority: number;
  readonly #lifetimeMs: number;
  #touchedAt = Number.NEGATIVE_INFINITY;
  works = false;
  gone = false;

  constructor(world: PeeringWorld, { identity, priority = 0, lifetimeMs = 60_000 }: Partial<OwnPeer>) {
    this.world = world;
    this.identity = identity ?? "kopf";
    this.priority = priority;
    this.#lifetimeMs = lifetimeMs;
    this.land();
  }

  look(): void {
    if (this.gone) return;
    const { now } = this.world.at;
    this.works = [...parsePeers(this.world.status).values()].every(
      ({ identity, priority, lastSeen = now, lifetimeMs }) =>
        identity === this.identity || lastSeen + lifetimeMs <= now || priority < this.priority,
    );
  }

  land(): void {
    if (this.gone || this.world.time < this.#touchedAt + this.#lifetimeMs - 7_000) return;
    this.#touchedAt = this.world.time;
    const { priority } = this;
    this.world.patch({
      [this.identity]: formatPeer({ priority, lifetimeMs: this.#lifetimeMs, now: this.world.at.now }),
    });
  }

  drained(): void {}

  leave(): void {
    this.crash();
    this.world.patch({ [this.identity]: null });
  }

  crash(): void {
    this.gone = true;
    this.works = false;
  }
}

/** Everybody sees everything and answers, second by second, or in longer steps. */
export function settle(world: PeeringWorld, peers: readonly (LotsePeer | KopfPeer)[], seconds = 1, step = 1): void {
  for (let i = 0; i < seconds; i += step) {
    world.time += step * 1_000;
    // Until nothing more follows from what was written.
    for (let version = -1; version !== world.version; ) {
      version = world.version;
      for (const peer of peers) {
        peer.look();
        peer.land();
        peer.drained();
      }
    }
  }
}
