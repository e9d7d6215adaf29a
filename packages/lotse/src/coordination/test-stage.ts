/**
 * What may happen to processes that share a Lease, in any order, and what must be true whatever happens: never may two of
 * them write at the same moment, and when all is calm exactly one does.
 */
import fc from "fast-check";
import type { LeaseOptions } from "../declare/index.ts";
import { GOOD, type Host, type Network, World } from "./test-world.ts";

/** How a member is. */
export interface MemberSettings {
  readonly lease: LeaseOptions;
  /** What its clock on the wall differs from real time. */
  readonly wallMs: number;
  /** How long the work for what was lost goes on. */
  readonly letGoMs: number;
}

/** A process that wants to lead, and may be killed and started again. */
export interface Member {
  readonly name: string;
  /** Where it runs; undefined while it does not. */
  readonly host: Host | undefined;
  /** Whether a write would leave now: asked of a process that is stopped, as if it went on at this moment. */
  readonly passes: boolean;
  /** What must not have happened. */
  readonly violations: string[];
  /** Called at the moment when it begins to lead. */
  onLead: () => void;
  /** Begins, unless it runs. */
  start(): Promise<void>;
  kill(): void;
  /** Stops cleanly, if it runs. Never rejects; never ends where the process is killed meanwhile. */
  leave(): Promise<void>;
}

/** Makes a member. */
export type MakeMember = (world: World, name: string, settings: MemberSettings, random: () => number) => Member;

/** Usual times, and such whose fence closes at the last moment: what is a little wrong shows there. */
const TIMES = [
  { duration: 15_000, renew: 10_000, retry: 2_000 },
  { duration: 10_000, renew: 9_999, retry: 2_000 },
  { duration: 3_000, renew: 2_990, retry: 400 },
] as const;

type Step = { readonly afterMs: number; readonly member: number } & (
  | { readonly do: "network"; readonly network: Network }
  | { readonly do: "stop"; readonly asleep: boolean }
  | { readonly do: "go on"; readonly first: "answers" | "timers" }
  | { readonly do: "jump"; readonly ms: number }
  | { readonly do: "kill" | "start" | "leave" | "touch" | "write" | "heal" }
);

const LONGEST_DELAY_MS = 12_000;

const delay = fc.oneof(
  fc.constant(1),
  fc.integer({ min: 1, max: 3_500 }),
  fc.integer({ min: 1, max: LONGEST_DELAY_MS }),
);

const network: fc.Arbitrary<Network> = fc.record({
  there: delay,
  back: delay,
  lost: fc.constantFrom(undefined, undefined, "requests" as const, "answers" as const, "refused" as const),
});

const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("network" as const), network }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("stop" as const), asleep: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("go on" as const),
      first: fc.constantFrom("answers" as const, "timers" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("jump" as const), ms: fc.integer({ min: -60_000, max: 60_000 }) }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "heal" as const,
        "heal" as const,
        "kill" as const,
        "leave" as const,
        "start" as const,
        "start" as const,
        "touch" as const,
        "write" as const,
        "write" as const,
      ),
    }),
  },
);

const step: fc.Arbitrary<Step> = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 16_000 })),
    fc.nat({ max: 3 }),
    happening,
  )
  .map(([afterMs, member, one]) => ({ afterMs, member, ...one }));

const setting = fc.record({
  /** Two processes with one identity are two all the same. */
  identity: fc.constantFrom(undefined, "same"),
  wallMs: fc.constantFrom(0, -45_000, 45_000),
  /** Sleeps, and its clock is set forward only: a sleep behind a clock that was set back by as much cannot be seen. */
  isLaptop: fc.boolean(),
  letGoMs: fc.constantFrom(0, 500, 7_000),
});

/** A play: who takes part, and what happens. */
export interface Play {
  readonly times: (typeof TIMES)[number];
  readonly settings: readonly {
    readonly identity: string | undefined;
    readonly wallMs: number;
    readonly isLaptop: boolean;
    readonly letGoMs: number;
  }[];
  readonly seed: number;
  readonly script: readonly Step[];
}

/** Any play of two to four members. */
export const plays: fc.Arbitrary<Play> = fc.record({
  times: fc.constantFrom(...TIMES),
  settings: fc.array(setting, { minLength: 2, maxLength: 4 }),
  seed: fc.nat(),
  script: fc.array(step, { minLength: 5, maxLength: 30, size: "max" }),
});

const member = { identity: undefined, wallMs: 0, isLaptop: false, letGoMs: 0 };
const cut: Network = { ...GOOD, lost: "requests" };

/** Plays that have found something, or would: they are tried in every run. */
export const examples: [Play][] = [
  [
    {
      // The answer to the last renewal that lands takes its time: the fence must not count from it.
      times: TIMES[1],
      settings: [member, member],
      seed: 0,
      script: [
        { afterMs: 10, member: 0, do: "network", network: { there: 1, back: 3_000 } },
        { afterMs: 3_000, member: 0, do: "network", network: cut },
        { afterMs: 12_000, member: 1, do: "write" },
      ],
    },
  ],
  [
    {
      // A laptop sleeps while it leads, and goes on when another process does.
      times: TIMES[0],
      settings: [{ ...member, isLaptop: true }, member],
      seed: 0,
      script: [
        { afterMs: 3_000, member: 0, do: "stop", asleep: true },
        { afterMs: 30_000, member: 0, do: "go on", first: "timers" },
      ],
    },
  ],
  [
    {
      // A leader without a network goes on working on what it has lost when it could lead again.
      times: TIMES[0],
      settings: [{ ...member, letGoMs: 7_000 }, member],
      seed: 0,
      script: [
        { afterMs: 10, member: 1, do: "kill" },
        { afterMs: 10, member: 0, do: "network", network: cut },
        { afterMs: 11_000, member: 0, do: "heal" },
        { afterMs: 3_000, member: 0, do: "write" },
      ],
    },
  ],
];

/** Plays it; rejects with the story of what went wrong. */
export async function play(played: Play, make: MakeMember, settle?: () => Promise<void>): Promise<void> {
  await new Stage(played, make, settle).play(played.script);
}

class Stage {
  readonly #world: World;
  readonly #members: Member[];
  readonly #times: Play["times"];
  readonly #settings: Play["settings"];
  readonly #story: string[] = [];
  readonly #wrong: string[] = [];
  #touched = false;

  constructor({ times, settings, seed }: Play, make: MakeMember, settle: (() => Promise<void>) | undefined) {
    this.#world = new World(settle);
    this.#times = times;
    this.#settings = settings;
    const random = randomFrom(seed);
    this.#members = settings.map(({ identity, wallMs, letGoMs }, at) => {
      const lease = { ...times, ...(identity !== undefined && { identity }) };
      const member = make(this.#world, `m${at}`, { lease, wallMs, letGoMs }, random);
      member.onLead = () => {
        this.#note(`${member.name} leads`);
        this.#alone(member);
      };
      return member;
    });
  }

  async play(script: readonly Step[]): Promise<void> {
    for (const member of this.#members) await member.start();
    for (const one of script) {
      await this.#world.pass(one.afterMs);
      await this.#step(one);
      this.#check();
    }
    await this.#calm();
  }

  async #step({ afterMs: _, member: at, ...one }: Step): Promise<void> {
    const member = this.#members[at % this.#members.length] as Member;
    const { isLaptop } = this.#settings[at % this.#members.length] as Play["settings"][number];
    const { host } = member;
    this.#note(`${member.name}: ${JSON.stringify(one)}`);
    switch (one.do) {
      case "network":
        if (host) host.network = one.network;
        return;
      case "heal":
        if (host) host.network = GOOD;
        return;
      case "stop":
        return host?.stop(one.asleep && isLaptop ? "asleep" : "stopped");
      case "go on":
        // The first thing that a process does when it goes on may be a write.
        if (host && member.passes) this.#alone(member);
        return host?.goOn(one.first);
      case "jump":
        return host?.jump(isLaptop ? Math.abs(one.ms) : one.ms);
      case "kill":
        return member.kill();
      case "start":
        return member.start();
      case "leave":
        // Never rejects. It takes the world's time, which this step does not.
        void member.leave();
        return;
      case "touch":
        this.#touched ||= this.#world.lease !== undefined;
        return this.#world.touch("example.com/touched");
      case "write":
        if (member.passes) this.#alone(member);
    }
  }

  /** At the moment when one may write, no other may. */
  #alone(member: Member): void {
    for (const other of this.#members) {
      if (other !== member && other.passes) this.#complain(`${member.name} and ${other.name} may both write`);
    }
  }

  /** Faults end: then one leads, soon, and stays. */
  async #calm(): Promise<void> {
    this.#note("all is calm");
    for (const { host } of this.#members) {
      if (!host) continue;
      host.network = GOOD;
      host.goOn("answers");
    }
    const { duration, retry } = this.#times;
    // What was sent before may still arrive, what was lost may still be worked on, and one may be about to leave.
    await this.#world.pass(2 * LONGEST_DELAY_MS);
    for (const member of this.#members) await member.start();
    await this.#world.pass(duration + 3 * retry);
    const leaders = this.#leaders();
    if (leaders.length !== 1) this.#complain(`when all is calm ${leaders.length} lead`);
    await this.#world.pass(2 * duration);
    if (this.#leaders().join() !== leaders.join()) this.#complain(`${leaders.join()} does not lead on`);
    if (this.#touched && this.#world.lease?.metadata?.annotations?.["example.com/touched"] === undefined) {
      this.#complain("what another program wrote into the Lease is gone");
    }
    this.#check();
  }

  #leaders(): string[] {
    return this.#members.filter(({ passes }) => passes).map(({ name }) => name);
  }

  #note(text: string): void {
    this.#story.push(`${this.#world.now} ${text}`);
  }

  #complain(text: string): void {
    this.#note(text);
    this.#wrong.push(text);
  }

  #check(): void {
    const wrong = [...this.#wrong, ...this.#members.flatMap(({ violations }) => violations)];
    if (wrong.length > 0) throw new Error(`${wrong.join("; ")}\n${this.#story.join("\n")}`);
  }
}

/** Numbers from 0 up to 1 that follow from a seed. */
function randomFrom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
