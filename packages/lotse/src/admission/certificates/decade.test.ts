import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import type { CertificateKeeper } from "./keeper.ts";
import { DAY_MS, HOUR_MS, keep, SharedSecret, StrictClient, skewed } from "./test-keeping.ts";

/** `npm run test:full` has the time for all ten. */
const YEARS = process.env.LOTSE_FULL === "1" ? 10 : 1;
const HOURS = YEARS * 365 * 24;
/** Two thirds of a leaf's life. */
const RENEWALS = Math.floor((YEARS * 365) / 60);

/** A small generator, so that each run is the same. */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

type Killing = "never" | "before" | "after" | "in turns";

interface Story {
  readonly skews: readonly number[];
  readonly kills: Killing;
  readonly seed: number;
}

/** Replicas, one Secret, one webhook configuration, and a request each hour to any replica that is ready. */
class World {
  readonly clock = new VirtualClock();
  readonly secret = new SharedSecret();
  readonly refused: string[] = [];
  readonly leaves = new Set<string>();
  readonly authorities = new Set<string>();
  served = 0;
  kills = 0;
  registered: string | undefined;
  readonly #story: Story;
  readonly #random: () => number;
  readonly #client = new StrictClient();
  readonly #replicas: (Replica | undefined)[] = [];

  constructor(story: Story) {
    this.#story = story;
    this.#random = randomness(story.seed);
    for (let i = 0; i < story.skews.length; i++) this.#start(i);
  }

  #start(i: number): void {
    const replica = new Replica();
    this.#replicas[i] = replica;
    const dies = async (when: "before" | "after") => {
      const { kills } = this.#story;
      const chosen = kills === "in turns" ? (this.kills % 2 === 0 ? "before" : "after") : kills;
      if (chosen !== when) return;
      this.kills++;
      this.#kill(i);
      // A process that was killed goes no further.
      await new Promise(() => undefined);
    };
    const { keeper } = keep(skewed(this.clock, this.#story.skews[i] ?? 0), this.secret.seenBy(dies), {
      random: this.#random,
      pollMs: 6 * HOUR_MS,
    });
    replica.keeper = keeper;
    keeper.onChange(({ caBundle }) => {
      // The API server hears of it, and acts on it, some time later.
      this.clock.after(this.#random() * HOUR_MS, () => {
        if (!replica.isDead) this.registered = caBundle;
      });
    });
    keeper.ready.then(
      () => {
        replica.isReady = true;
      },
      () => undefined,
    );
  }

  #kill(i: number): void {
    const replica = this.#replicas[i];
    if (replica) replica.isDead = true;
    this.#replicas[i] = undefined;
    this.clock.after(5 * 60_000, () => this.#start(i));
  }

  async run(): Promise<void> {
    // The operator has started when its configurations are registered.
    await this.clock.advance(DAY_MS);
    for (let hour = 0; hour < HOURS; hour++) {
      await this.clock.advance(HOUR_MS);
      this.#ask();
    }
    for (const replica of this.#replicas) if (replica) await replica.keeper?.stop();
  }

  #ask(): void {
    const ready = this.#replicas.filter((one) => one?.isReady && !one.isDead);
    const chosen = ready[Math.floor(this.#random() * ready.length)];
    const at = new Date(this.clock.now()).toISOString();
    if (!chosen?.keeper) {
      this.refused.push(`${at}: no replica is ready`);
      return;
    }
    const inUse = chosen.keeper.current();
    const objection = this.#client.objection(this.clock.now(), inUse, this.registered);
    if (objection !== undefined) this.refused.push(`${at}: ${objection}`);
    else this.served++;
    this.leaves.add(inUse.credentials.cert);
    for (const one of (inUse.caBundle ?? "").split(/(?<=END CERTIFICATE-----\n)/)) this.authorities.add(one);
  }
}

class Replica {
  keeper: CertificateKeeper | undefined;
  isReady = false;
  isDead = false;
}

describe("years of two replicas and a request each hour", () => {
  it.each<[string, Story]>([
    ["with exact clocks", { skews: [0, 0], kills: "never", seed: 1 }],
    ["with clocks that are ten minutes apart", { skews: [-4 * 60_000, 6 * 60_000], kills: "never", seed: 2 }],
    ["when who writes is killed before it has written", { skews: [0, 90_000], kills: "in turns", seed: 3 }],
    ["when who writes is killed before it hears of it", { skews: [0, -90_000], kills: "after", seed: 4 }],
  ])("none is refused, and each rotation is written once, %s", async (_name, story) => {
    const world = new World(story);
    await world.run();
    expect(world.refused.slice(0, 5)).toEqual([]);
    expect(world.served).toBe(HOURS);
    // One for each leaf: that authorities change costs no write of its own.
    expect(world.secret.writes).toBe(world.leaves.size);
    expect(world.leaves.size).toBeGreaterThanOrEqual(RENEWALS);
    expect(world.leaves.size).toBeLessThanOrEqual(RENEWALS + 2);
    // An authority lives for two years, and its successor is announced after two thirds of them.
    expect(world.authorities.size).toBeGreaterThanOrEqual(YEARS * 0.6);
    expect(world.authorities.size).toBeLessThanOrEqual(YEARS * 0.9 + 1);
    if (story.kills !== "never") expect(world.kills).toBeGreaterThanOrEqual(RENEWALS);
  });
});
