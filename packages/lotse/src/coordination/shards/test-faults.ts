/** What can happen to members of a sharded operator, in any order. */
import fc from "fast-check";
import { SLICES } from "./index.ts";
import { type Process, TIMES, World } from "./test-world.ts";

/** What happens to a process of the world. */
export type Fault =
  | { readonly do: "join" }
  | {
      readonly do:
        | "leave"
        | "kill"
        | "stop"
        | "sleep"
        | "go on"
        | "cut off"
        | "connect"
        | "stall"
        | "flow"
        | "go back"
        | "slow down"
        | "lose requests"
        | "lose answers"
        | "delete its Lease"
        | "annotate its Lease";
      readonly who: number;
    }
  | { readonly do: "set its clock"; readonly who: number; readonly by: number };

const who = fc.nat({ max: 7 });
const one = (what: Exclude<Fault["do"], "join" | "set its clock">, weight: number) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(what), who }) as fc.Arbitrary<Fault>,
});
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: "join" } as const) },
  one("leave", 3),
  one("kill", 3),
  one("stop", 4),
  one("sleep", 2),
  one("go on", 6),
  one("cut off", 4),
  one("connect", 5),
  one("stall", 3),
  one("flow", 4),
  one("go back", 2),
  one("slow down", 2),
  one("lose requests", 2),
  one("lose answers", 3),
  one("annotate its Lease", 1),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("set its clock" as const),
      who,
      by: fc.integer({ min: -100_000, max: 100_000 }),
    }),
  },
);
const wait = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 3_000 }), fc.nat({ max: 25_000 }));
/** Faults, and how long it takes until the next one. */
export const story = fc.array(fc.tuple(fault, wait), { minLength: 1, maxLength: 25 });

const FAULTS: Readonly<
  Record<Exclude<Fault["do"], "join" | "set its clock">, (process: Process, world: World) => void>
> = {
  leave: (process) => process.leave(),
  kill: (process) => process.kill(),
  stop: (process) => process.stop(false),
  sleep: (process) => process.stop(true),
  "go on": (process) => process.goOn(),
  "cut off": (process) => {
    process.cutOff = true;
  },
  connect: (process) => {
    process.cutOff = false;
    process.look();
  },
  stall: (process) => {
    process.stalled = true;
  },
  flow: (process) => {
    process.stalled = false;
    process.look();
  },
  // A list from a server that lags; the watch goes on from there.
  "go back": (process, world) => {
    process.show(Math.max(0, world.server.revision - 12), true);
    process.look();
  },
  "slow down": (process) => {
    process.slow = !process.slow;
  },
  "lose requests": (process) => {
    process.loseRequests = 2;
  },
  "lose answers": (process) => {
    process.loseAnswers = 2;
  },
  "delete its Lease": ({ state }, world) => {
    if (state.stay) world.server.delete(state.stay.seat);
    world.changed();
  },
  "annotate its Lease": ({ state }, world) => {
    const seat = state.stay && world.server.get(state.stay.seat);
    if (seat) world.server.write(seat.seat, seat, seat);
    world.changed();
  },
};

/** Lets it happen. */
export function inflict(world: World, fault: Fault): void {
  if (fault.do === "join") {
    if (world.living.length < 6) world.start();
    return;
  }
  const process = world.living[fault.who % Math.max(1, world.living.length)];
  if (!process) return;
  if (fault.do === "set its clock") process.setClock(fault.by);
  else FAULTS[fault.do](process, world);
}

/** A world with so many members, which have come one after the other. */
export function begin(seed: number, members: number): World {
  const world = new World(seed);
  for (let i = 0; i < members; i++) {
    world.start();
    world.advance(Math.floor(world.random() * 500));
  }
  return world;
}

/** Everything is repaired, and all have had time to find each other again. */
export function recover(world: World): void {
  world.calm();
  world.advance(2 * TIMES.durationMs + 30_000);
}

/** How many members work on each slice. */
export function owners(world: World): number[] {
  const counts = new Array<number>(SLICES).fill(0);
  for (const process of world.living) {
    process.owned().forEach((own, slice) => {
      const works = own === 1 && process.running[slice] === 1 && process.passes(slice);
      if (works) counts[slice] = (counts[slice] as number) + 1;
    });
  }
  return counts;
}

/** The same number for every slice. */
export const each = (count: number): number[] => new Array<number>(SLICES).fill(count);
