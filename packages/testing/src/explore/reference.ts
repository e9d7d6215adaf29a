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
  /** Objects that were there in one of two equal runs only. */
  readonly unstableKeys: ReadonlySet<string>;
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
  return { objects: one, unstable, unstableKeys };
}
