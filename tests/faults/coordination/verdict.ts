/** What became of the changes, judged by what an independent witness has written down. Pure. */
import { isOlderVersion } from "@lotse/client/meta";
import type { Begun } from "./order.ts";

/** The mark of a run on an object, as a version of the object shows it. */
export interface Mark {
  readonly run: string;
  readonly by: string;
  readonly change: number;
}

/** A version of an object that the witness has seen. */
export interface SeenVersion {
  readonly uid: string;
  readonly name: string;
  readonly version: string;
  readonly mark: Mark | undefined;
  /** The change that is asked for; of orders alone. */
  readonly wanted?: number | undefined;
}

/** A version of the Lease. */
export interface SeenLease {
  readonly version: string;
  readonly holder: string;
}

/** All that was seen, in the order in which it was. */
export interface Evidence {
  readonly begun: readonly Begun[];
  readonly orders: readonly SeenVersion[];
  /** What handlers have written by their clients. */
  readonly receipts: readonly SeenVersion[];
  readonly leases: readonly SeenLease[];
}

/** What must not be; each is a line for people. */
export interface Verdict {
  /** A handler was called once more for a change: by the same holder of the Lease, or though the first had left its mark. */
  readonly doubled: readonly string[];
  /** The mark of an older change has replaced that of a newer one. */
  readonly backwards: readonly string[];
  /** Written by a process that did not hold the Lease then. */
  readonly unowned: readonly string[];
  /** Changes that are not handled. */
  readonly lost: readonly string[];
}

/** See the module comment. */
export function judge({ begun, orders, receipts, leases }: Evidence, hasRight: Right = holdsLease(leases)): Verdict {
  return {
    doubled: doubledIn(begun, orders),
    backwards: [...backwardsIn(orders), ...backwardsIn(receipts)],
    unowned: [...unownedIn(orders, hasRight), ...unownedIn(receipts, hasRight)],
    lost: lostIn(orders),
  };
}

function doubledIn(begun: readonly Begun[], orders: readonly SeenVersion[]): string[] {
  const landed = new Set(orders.flatMap(({ mark }) => mark?.run ?? []));
  const byChange = new Map<string, Begun[]>();
  for (const one of begun) {
    const key = `${one.uid} ${one.change}`;
    byChange.set(key, [...(byChange.get(key) ?? []), one]);
  }
  return [...byChange.values()].flatMap((runs) =>
    runs.slice(1).flatMap((again, i) => {
      const before = runs.slice(0, i + 1);
      const same = before.some(({ by, reign }) => by === again.by && reign === again.reign);
      const done = before.some(({ run }) => landed.has(run));
      return same || done ? [`change ${again.change}: ${[...before, again].map(tell).join(", then ")}`] : [];
    }),
  );
}

const tell = ({ by, reign, run }: Begun) => `${by} in its reign ${reign} (${run})`;

/** Versions that carry another mark than the one before them. */
function* marksIn(
  seen: readonly SeenVersion[],
): Generator<SeenVersion & { readonly mark: Mark; readonly last?: Mark }> {
  const known = new Map<string, Mark>();
  for (const one of seen) {
    const { uid, mark } = one;
    const last = known.get(uid);
    if (!mark || mark.run === last?.run) continue;
    known.set(uid, mark);
    yield { ...one, mark, ...(last && { last }) };
  }
}

function backwardsIn(seen: readonly SeenVersion[]): string[] {
  return [...marksIn(seen)].flatMap(({ name, version, mark, last }) =>
    last && last.change > mark.change
      ? [`${name}, version ${version}: ${mark.change} by ${mark.by} after ${last.change} by ${last.by}`]
      : [],
  );
}

/** Whether who wrote a version was the one to do so then: true, or who it was instead. */
export type Right = (written: {
  readonly name: string;
  readonly version: string;
  readonly by: string;
}) => true | string;

/** Of processes of which one works. */
function holdsLease(leases: readonly SeenLease[]): Right {
  return ({ version, by }) => {
    const lease = leases.findLast((one) => isOlderVersion(one.version, version));
    return lease?.holder === by || `${lease?.holder || "nobody"} held the Lease`;
  };
}

function unownedIn(seen: readonly SeenVersion[], hasRight: Right): string[] {
  return [...marksIn(seen)].flatMap(({ name, version, mark }) => {
    const right = hasRight({ name, version, by: mark.by });
    return right === true ? [] : [`${name}, version ${version}: written by ${mark.by} while ${right}`];
  });
}

function lostIn(orders: readonly SeenVersion[]): string[] {
  const newest = new Map(orders.map((one) => [one.uid, one]));
  return [...newest.values()].flatMap(({ name, wanted, mark }) =>
    mark?.change === wanted ? [] : [`${name}: ${wanted} is wanted, and ${mark?.change ?? "nothing"} is handled`],
  );
}
