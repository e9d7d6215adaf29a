/** What disturbed runs are compared with: an undisturbed one, without what differs by chance. Pure. */
import { leaves } from "./leaves.ts";
import type { Outcome } from "./stage.ts";

/** One thing that differs. */
export interface Difference {
  /** `configmaps default/rate-*`, or the call to the world outside. */
  readonly what: string;
  /** Where in the object: `.status.rate`; absent when it is about the object as such. */
  readonly path?: string;
  /** In a sentence. */
  readonly text: string;
}

/** An undisturbed run, and what was found to differ by chance from another one. */
export interface Reference {
  readonly outcome: Outcome;
  /** `configmaps default/a .data.token` */
  readonly unstable: ReadonlySet<string>;
  /** Objects that were there in one of the two only. */
  readonly unstableKeys: ReadonlySet<string>;
  /** Names of functions that called the world outside with other arguments in the other run. */
  readonly unstableCalls: ReadonlySet<string>;
}

/** Masks what differs between two undisturbed runs. */
export function referenceOf(one: Outcome, other: Outcome, ignore: readonly string[]): Reference {
  const unstable = new Set<string>(ignore);
  const unstableKeys = new Set<string>();
  for (const key of new Set([...one.objects.keys(), ...other.objects.keys()])) {
    const [here, there] = [one.objects.get(key) ?? [], other.objects.get(key) ?? []];
    if (here.length !== there.length) unstableKeys.add(key);
    else here.forEach((object, i) => {
      for (const { path } of leaves(object, there[i], "")) unstable.add(`${key} ${path}`);
    });
  }
  const texts = ({ calls, mask }: Outcome) =>
    calls.map(({ call }) => ({ name: call.name, text: `${call.name} ${JSON.stringify(mask.value(call.args))}` }));
  const unstableCalls = new Set<string>();
  for (const [from, to] of [[texts(one), texts(other)], [texts(other), texts(one)]] as const) {
    const known = new Set(to.map(({ text }) => text));
    for (const { name, text } of from) if (!known.has(text)) unstableCalls.add(name);
  }
  return { outcome: one, unstable, unstableKeys, unstableCalls };
}

