/** What disturbed runs are compared with: an undisturbed one, without what differs by chance. Pure. */
import { leaves } from "./leaves.ts";
import type { ObjectsByPlace, Outcome } from "./stage.ts";

/** One thing that differs. */
export interface Difference {
  /** `configmaps default/rate-*`, or the call to the world outside. */
  readonly what: string;
  /** Where in the object: `.status.rate`; absent when it is about the object as such. */
  readonly path?: string;
  /** In a sentence. */
  readonly text: string;
}

/** What is in the cluster at one moment, and what of it was found to differ by chance. */
export interface StableState {
  readonly objects: ObjectsByPlace;
  /** `configmaps default/a .data.token` */
  readonly unstable: ReadonlySet<string>;
  /** Objects that were there in one of two equal runs only, or not as often. */
  readonly unstableKeys: ReadonlySet<string>;
  /** By resource and namespace: how many objects have names that are otherwise in each run. */
  readonly nameless: ReadonlyMap<string, number>;
}

/** An undisturbed run, and what was found to differ by chance from another one. */
export interface Reference {
  readonly outcome: Outcome;
  /** In the end. */
  readonly state: StableState;
  /** At the end of each step. */
  readonly rests: readonly StableState[];
  /** Names of functions that called the world outside with other arguments in the other run. */
  readonly unstableCalls: ReadonlySet<string>;
}

/** Masks what differs between two undisturbed runs. */
export function referenceOf(one: Outcome, other: Outcome, ignore: readonly string[]): Reference {
  const rests = one.rests.map((objects, step) => stableState(objects, other.rests[step] ?? new Map(), ignore));
  const state = stableState(one.objects, other.objects, ignore);
  const texts = ({ calls, mask }: Outcome) =>
    calls.map(({ call }) => ({ name: call.name, text: `${call.name} ${JSON.stringify(mask.value(call.args))}` }));
  const [here, there] = [texts(one), texts(other)];
  const unstableCalls = new Set([...onlyIn(here, there), ...onlyIn(there, here)]);
  return { outcome: one, state, rests, unstableCalls };
}

function onlyIn(
  here: readonly { readonly name: string; readonly text: string }[],
  there: readonly { readonly text: string }[],
): string[] {
  const known = new Set(there.map(({ text }) => text));
  return here.filter(({ text }) => !known.has(text)).map(({ name }) => name);
}

function stableState(one: ObjectsByPlace, other: ObjectsByPlace, ignore: readonly string[]): StableState {
  const unstable = new Set(ignore);
  const unstableKeys = new Set<string>();
  for (const key of new Set([...one.keys(), ...other.keys()])) {
    const [here, there] = [one.get(key) ?? [], other.get(key) ?? []];
    if (here.length !== there.length) unstableKeys.add(key);
    here.forEach((object, i) => {
      for (const { path } of leaves(object, there[i], "")) unstable.add(`${key} ${path}`);
    });
  }
  return { objects: one, unstable, unstableKeys, nameless: namelessOf(unstableKeys, one, other) };
}

/** An operator that makes names up makes others each time; but as many of them. */
function namelessOf(
  unstableKeys: ReadonlySet<string>,
  one: ObjectsByPlace,
  other: ObjectsByPlace,
): ReadonlyMap<string, number> {
  const [here, there] = [countIn(one, unstableKeys), countIn(other, unstableKeys)];
  return new Map([...here].filter(([group, count]) => there.get(group) === count));
}

/** How many of these there are, by resource and namespace. */
export function countIn(objects: ObjectsByPlace, keys: { has(key: string): boolean }): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [key, several] of objects) {
    if (keys.has(key)) counts.set(groupOf(key), (counts.get(groupOf(key)) ?? 0) + several.length);
  }
  return counts;
}

/** `configmaps default/a` → `configmaps default` */
export function groupOf(key: string): string {
  return key.includes("/") ? key.slice(0, key.lastIndexOf("/")) : key.slice(0, key.lastIndexOf(" "));
}
