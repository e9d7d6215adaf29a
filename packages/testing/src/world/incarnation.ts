/** Starts, stops and kills one life of an operator on a cluster: its client, its connection, its clock. */
import { Client, type Kubeconfig } from "@lotse/client";
import { type Clock, systemClock } from "@lotse/client/meta";
import type { Cluster } from "@lotse/cluster";
import type { Operator, RunningOperator, StartOptions } from "lotse";
import type { Interference } from "./interference.ts";
import { currentActor, currentLife, type Life } from "./life.ts";
import { LifeClock } from "./life-clock.ts";
import { Relay } from "./relay.ts";

/** What an {@link Incarnation} goes by. */
export interface IncarnationParts {
  readonly operator: Operator;
  readonly cluster: Cluster;
  readonly life: Life;
  /** Its requests carry this, so that they can be told from others'. */
  readonly userAgent: string;
  /** Whom it is for the cluster; the administrator unless told. */
  readonly kubeconfig?: Kubeconfig | undefined;
  /** The clock that the operator goes by; undefined in real time. */
  readonly clock?: Clock | undefined;
  /** The clock that the test moves, where that is another one: it notes no time of its own at which something is due. */
  readonly testClock?: Clock | undefined;
  readonly interference?: Interference | undefined;
  /** Whether somebody asks on whose behalf requests are made, besides whoever interferes. */
  readonly knowsActors?: boolean;
  /** A view of the operator's client. */
  readonly view?: ((client: Client) => Client) | undefined;
  readonly start: Omit<StartOptions, "client" | "clock">;
}

/** See the module comment. */
export class Incarnation {
  readonly running: RunningOperator;
  readonly relay: Relay;
  readonly life: Life;
  /** Resolves when it is killed. */
  readonly dead: Promise<void>;
  readonly #clock: LifeClock;
  #onDeath: () => void = () => {};
  #ended: Promise<void> | undefined;

  private constructor(running: RunningOperator, relay: Relay, life: Life, clock: LifeClock) {
    this.running = running;
    this.relay = relay;
    this.life = life;
    this.#clock = clock;
    this.dead = new Promise((resolve) => {
      this.#onDeath = resolve;
    });
  }

  /** Sets the operator to work; `running.ready` tells when it is. */
  static async start(parts: IncarnationParts): Promise<Incarnation> {
    const { cluster, life, userAgent, kubeconfig, testClock = parts.clock } = parts;
    // Sockets and timers belong to the life as well: what they call later is still known to be its doing.
    return currentLife.run(life, async () => {
      const connection = await cluster.connect({ userAgent, ...(kubeconfig && { kubeconfig }) });
      let born: Incarnation | undefined;
      const relay = new Relay({
        client: connection,
        clock: testClock,
        interference: parts.interference,
        crash: () => born?.kill(),
      });
      const client = await Client.connect({ url: cluster.url, transport: relay });
      const clock = new LifeClock(parts.clock ?? systemClock);
      const running = parts.operator.start({
        ...parts.start,
        client: parts.view?.(client) ?? client,
        clock,
        // Where nobody asks who did it, handlers run exactly as they do elsewhere.
        ...((parts.interference || parts.knowsActors) && { onBehalf: (actor, work) => currentActor.run(actor, work) }),
      });
      born = new Incarnation(running, relay, life, clock);
      return born;
    });
  }

  /** Whether it was killed. */
  get isDead(): boolean {
    return this.life.isOver;
  }

  /** Stops it as a deployment does. */
  async stop(): Promise<void> {
    if (this.isDead) return this.#ended;
    try {
      await this.running.stop();
    } finally {
      this.life.end();
      this.#clock.end();
      await this.relay.close();
    }
  }

  /**
   * Ends it in this instant, as a process does that is killed: nothing is written down, nobody is told. Calls that it
   * waits for neither return nor throw.
   */
  kill(): void {
    if (this.isDead) return;
    this.life.end();
    this.#clock.end();
    this.#onDeath();
    this.#ended = Promise.all([this.relay.die(), this.running.kill()]).then(() => {});
    // Told by whoever waits for the end.
    this.#ended.catch(() => {});
  }

  /** As {@link kill}; resolves when nothing of it is left: its port is free, its connections are closed. */
  async crash(): Promise<void> {
    this.kill();
    await this.#ended;
  }
}
