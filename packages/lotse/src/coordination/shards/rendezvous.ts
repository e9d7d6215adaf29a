/**
 * Who of several has what, without asking anybody: rendezvous hashing (highest random weight). Everything that is shared
 * falls into one of {@link SLICES} slices by its key, and each slice goes to the seat that has the largest weight for it.
 * A seat that comes takes slices and moves none between the others; one that goes gives its slices to the others and moves
 * nothing else. Pure.
 *
 * Slices, and not keys, are what members hold and hand over: a few numbers say of every object in the world whose it is.
 * They are cut where API servers cut shards, by the upper bits of the hash of the uid, so that a server that can filter by
 * ranges of it (`shardSelector`) can be asked for exactly what is in some slices.
 */
import { fnv1a64, type ShardSelector, spread32 } from "@lotse/client/meta";

/** How many slices there are: a few for each of many members, and few enough to be named in one request. */
export const SLICES = 256;

/** Seats, in ascending order. */
export type View = readonly number[];

/** Slice by slice: 1 if it belongs to the set. Never changed after it was made. */
export type Slices = Readonly<Uint8Array>;

/** No slice at all. */
export const NO_SLICES: Slices = new Uint8Array(SLICES);

/** The slice of an object's uid: the upper bits of the hash that API servers cut into shards. */
export function sliceOfUid(uid: string): number {
  return fnv1a64(uid).high >>> 24;
}

/** The slice of any other text. Names that differ in their last letter only share their upper bits, hence the spreading. */
export function sliceOfText(text: string): number {
  const { high, low } = fnv1a64(text);
  return spread32(high ^ low) >>> 24;
}

/** The weight of a seat for a slice. */
function weight(slice: number, seed: number): number {
  return spread32(Math.imul(slice + 1, 0x9e3779b1) ^ seed);
}

/** Which seat has which slice, if these seats are taken; -1 where there is none. */
export function winners(view: View): Readonly<Int16Array> {
  const best = new Int16Array(SLICES).fill(-1);
  const heaviest = new Float64Array(SLICES).fill(-1);
  for (const seat of view) {
    const seed = seedOf(seat);
    for (let slice = 0; slice < SLICES; slice++) {
      const own = weight(slice, seed);
      // In ascending order of seats: of equal weights the lower one wins.
      if (own <= (heaviest[slice] as number)) continue;
      heaviest[slice] = own;
      best[slice] = seat;
    }
  }
  return best;
}

/** The slices of a seat, if these seats are taken. */
export function slicesOf(seat: number, view: View): Slices {
  const won = new Uint8Array(SLICES);
  winners(view).forEach((winner, slice) => {
    if (winner === seat) won[slice] = 1;
  });
  return won;
}

/** How many slices of all: from 0 to 1. */
export function share(slices: Slices): number {
  return countOf(slices) / SLICES;
}

/** How many slices the set has. */
export function countOf(slices: Slices): number {
  return slices.reduce((sum, one) => sum + one, 0);
}

/** The slices that are in both. */
export function both(a: Slices, b: Slices): Slices {
  return a === b ? a : combined(a, b, (one, other) => one & other);
}

/** The slices that are in one of them or in both. */
export function either(a: Slices, b: Slices): Slices {
  return a === b ? a : combined(a, b, (one, other) => one | other);
}

/** The slices that are in the first only. */
export function without(a: Slices, b: Slices): Slices {
  return combined(a, b, (one, other) => one & ~other);
}

/** Asked at every sign of life of every member: a plain loop is ten times as fast as `map` here. */
function combined(a: Slices, b: Slices, combine: (one: number, other: number) => number): Slices {
  const result = new Uint8Array(SLICES);
  for (let slice = 0; slice < SLICES; slice++) result[slice] = combine(a[slice] as number, b[slice] as number);
  return result;
}

/** Whether they are the same. */
export function isSame(a: Slices, b: Slices): boolean {
  return a.every((one, slice) => one === b[slice]);
}

/** How a server that filters by shards is asked for the objects whose own uid is in the slices; undefined: for none. */
export function selectorOf(slices: Slices): ShardSelector | undefined {
  const ranges: { from: bigint; to: bigint }[] = [];
  const width = 2n ** 64n / BigInt(SLICES);
  slices.forEach((one, slice) => {
    if (one === 0) return;
    const from = BigInt(slice) * width;
    const last = ranges.at(-1);
    if (last?.to === from) last.to = from + width;
    else ranges.push({ from, to: from + width });
  });
  return ranges.length === 0 ? undefined : { by: "uid", ranges };
}

/**
 * The seeds of the first seats. Seats are taken from 0 on, so that it is known which of them are taken together: these seeds
 * were chosen one after the other so that the first n seats have nearly equal parts (within 4 % up to 14 of them), and
 * nearly so when one of them is empty. They are part of what members agree on: changed seeds need another rule.
 */
const SEEDS: readonly number[] = [
  1364076727, 2738242809, 1888190279, 2912916029, 3121296209, 1055145929, 3525527473, 3311029085, 107472021, 4291053286,
  2170407317, 2772154507, 2911445488, 1302280218, 2285808864, 529573683, 1081255847, 1486611492, 4222022710, 2513499983,
  1319569674, 218548857, 3914035721, 2117017291, 1165378585, 947163928, 1764446936, 1904328041, 209997015, 2139095327,
  2776760047, 3757334236,
];

function seedOf(seat: number): number {
  return SEEDS[seat] ?? spread32(seat + 0x5eed);
}
