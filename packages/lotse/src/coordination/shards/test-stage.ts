/**
 * What may happen to processes that share objects, in any order, with the whole coordinator of each, its client and a
 * server: never may two of them write about one slice at the same moment, and when all is calm each slice has one of them.
 */
import { Client, describeKind, type KubeBody } from "@lotse/client";
import fc from "fast-check";
import { planCoordination, shards } from "../../declare/index.ts";
import { Logger, Metrics } from "../../report/index.ts";
import { GOOD, Host, type Network, World } from "../test-world.ts";
import { ShardsCoordinator, type ShardsPlan } from "./index.ts";

const kind = describeKind({ group: "example.com", version: "v1", kind: "Thing" });
/** A sample of objects: as many as fit into the time of a test. */
const OBJECTS: readonly KubeBody[] = Array.from({ length: 40 }, (_, at) => ({
  metadata: { name: `thing-${at}`, namespace: "default", uid: `5a3f-${at * 7919}` },
}));

/** So much longer than the one before it a member needs to know the objects. */
const WARM_MS = 1_500;

const TIMES = [
  { duration: 15_000, renew: 10_000, retry: 2_000 },
  { duration: 3_000, renew: 2_990, retry: 400 },
] as const;

type Step = { readonly afterMs: number; readonly member: number } & (
  | { readonly do: "network"; readonly network: Network }
  | { readonly do: "stop" | "go on" | "kill" | "start" | "leave" | "heal" | "touch" }
);

const delay = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 3_500 }), fc.integer({ min: 1, max: 12_000 }));
const network: fc.Arbitrary<Network> = fc.record({
  there: delay,
  back: delay,
  lost: fc.constantFrom(undefined, undefined, "requests" as const, "answers" as const, "refused" as const),
});
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("network" as const), network }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom(
        ...(["stop", "stop", "go on", "go on", "kill", "start", "start", "leave", "heal", "heal", "touch"] as const),
      ),
    }),
  },
);
const wait = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 16_000 }));
const step: fc.Arbitrary<Step> = fc
  .tuple(wait, fc.nat({ max: 3 }), happening)
  .map(([afterMs, member, one]) => ({ afterMs, member, ...one }));

/** Who takes part, and what happens. */
export interface Play {
  readonly times: (typeof TIMES)[number];
  /** How long each takes to let go. */
  readonly letGoMs: readonly number[];
  readonly script: readonly Step[];
}

/** Any play of two to four members. */
export const plays: fc.Arbitrary<Play> = fc.record({
  times: fc.constantFrom(...TIMES),
  letGoMs: fc.array(fc.constantFrom(0, 500, 7_000), { minLength: 2, maxLength: 4 }),
  script: fc.array(step, { minLength: 4, maxLength: 20, size: "max" }),
});

interface Life {
  readonly host: Host;
  readonly stopping: AbortController;
  readonly coordinator: ShardsCoordinator;
  /** Objects that something runs for. */
  readonly runs: Set<KubeBody>;
  running: Promise<void>;
}

/** Plays it; rejects with the story of what went wrong. */
export async function play({ times, letGoMs, script }: Play, settle: () => Promise<void>): Promise<void> {
  const world = new World(settle);
  const stage = new Stage(world, times, letGoMs);
  for (let at = 0; at < letGoMs.length; at++) await stage.start(at);
  for (const one of script) {
    await world.pass(one.afterMs);
    await stage.step(one);
    stage.check();
  }
  await stage.calm();
}

class Stage {
  readonly #world: World;
  readonly #times: Play["times"];
  readonly #letGoMs: readonly number[];
  readonly #lives = new Map<number, Life>();
  readonly #story: string[] = [];
  readonly #wrong: string[] = [];
  #started = 0;

  constructor(world: World, times: Play["times"], letGoMs: readonly number[]) {
    this.#world = world;
    this.#times = times;
    this.#letGoMs = letGoMs;
  }

  /** Begins, unless it runs. */
  async start(at: number): Promise<void> {
    if (this.#lives.has(at)) return;
    const host = new Host(this.#world, 0);
    const client = await Client.connect({ url: "https://test", transport: host, clock: host, random: () => 0.5 });
    const name = `m${at}-${++this.#started}`;
    const coordinator = new ShardsCoordinator(
      planCoordination(shards(this.#times)) as ShardsPlan,
      {
        operator: "rates",
        client,
        clock: host,
        random: () => 0.5,
        logger: new Logger(
          ({ message, fields }) => this.#note(`${name} says: ${message} ${JSON.stringify(fields)}`),
          () => host.now(),
        ),
        metrics: new Metrics(),
        environment: { POD_NAMESPACE: "default", POD_NAME: name },
        namespaces: undefined,
      },
      name,
    );
    const life: Life = {
      host,
      stopping: new AbortController(),
      coordinator,
      runs: new Set(),
      running: Promise.resolve(),
    };
    this.#lives.set(at, life);
    const ownershipChanged = async () => {
      const lost = [...life.runs].filter((body) => !coordinator.owns(body, kind));
      for (const body of OBJECTS) if (coordinator.owns(body, kind)) life.runs.add(body);
      this.#watch();
      if (lost.length > 0) await new Promise<void>((resolve) => host.after(this.#letGoMs[at] ?? 0, resolve));
      for (const body of lost) life.runs.delete(body);
    };
    const coordinated = { ownershipChanged, leads: () => undefined };
    const { signal } = life.stopping;
    // It takes a while until the objects are known, for one longer than for another.
    life.running = coordinator
      .prepare(coordinated, signal)
      .then(() => new Promise<void>((resolve) => host.after(at * WARM_MS, resolve)))
      .then(() => coordinator.run(coordinated, signal));
  }

  async step({ afterMs: _, member, ...one }: Step): Promise<void> {
    const at = member % this.#letGoMs.length;
    const life = this.#lives.get(at);
    this.#note(`m${at}: ${JSON.stringify(one)}`);
    if (one.do === "start") return this.start(at);
    if (!life) return;
    if (one.do === "network") life.host.network = one.network;
    else if (one.do === "heal") life.host.network = GOOD;
    else if (one.do === "stop") life.host.stop("stopped");
    else if (one.do === "go on") {
      this.#watch();
      life.host.goOn("answers");
    } else if (one.do === "kill") this.#kill(at, life);
    else if (one.do === "touch") this.#world.touch("example.com/touched");
    // Takes the world's time, which this step does not. Never rejects.
    else if (one.do === "leave" && life.host.runs) void this.#leave(at, life);
  }

  /** Faults end: then each object has one, soon, and keeps it. */
  async calm(): Promise<void> {
    this.#note("all is calm");
    for (const { host } of this.#lives.values()) {
      host.network = GOOD;
      host.goOn("answers");
    }
    const { duration, retry } = this.#times;
    await this.#world.pass(30_000);
    for (let at = 0; at < this.#letGoMs.length; at++) await this.start(at);
    await this.#world.pass(2 * duration + 10 * retry + 30_000);
    for (const body of OBJECTS) {
      const owners = [...this.#lives.values()].filter(({ coordinator }) => coordinator.owns(body, kind));
      if (owners.length !== 1) this.#complain(`when all is calm ${body.metadata?.name} has ${owners.length} members`);
    }
    this.check();
  }

  check(): void {
    this.#watch();
    if (this.#wrong.length > 0) throw new Error(`${this.#wrong.join("; ")}\n${this.#story.join("\n")}`);
  }

  /** No object is worked on by two that may write about it. */
  #watch(): void {
    for (const body of OBJECTS) {
      const passing = [...this.#lives].filter(([, life]) => passes(life, body));
      if (passing.length < 2) continue;
      this.#complain(`${passing.map(([at]) => `m${at}`).join(" and ")} may both write about ${body.metadata?.name}`);
    }
  }

  #kill(at: number, { host }: Life): void {
    host.kill();
    this.#lives.delete(at);
  }

  async #leave(at: number, life: Life): Promise<void> {
    try {
      life.stopping.abort();
      await life.running;
      await life.coordinator.release();
    } catch (error) {
      this.#complain(`m${at} could not leave: ${error}`);
    }
    if (this.#lives.get(at) === life) this.#kill(at, life);
  }

  #note(text: string): void {
    this.#story.push(`${this.#world.now} ${text}`);
  }

  #complain(text: string): void {
    this.#note(text);
    this.#wrong.push(text);
  }
}

/** Whether a write would leave now: asked of a process that is stopped, as if it went on at this moment. */
function passes({ coordinator }: Life, body: KubeBody): boolean {
  try {
    coordinator.pass(body, kind);
    return true;
  } catch {
    return false;
  }
}
