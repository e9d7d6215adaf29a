/**
 * States of a cluster as they are compared: what is there and what is said of it, and not how it came about. Pure.
 *
 * Left out: versions, times, uids that belong to nobody else, messages and reasons of conditions, and the condition
 * Reconciling, which tells of work and not of a state. A condition that is absent says the same as one that is not true.
 * What is empty is absent.
 */
import { isObject } from "@lotse/client/meta";
import { type LeafDifference, leafDifferences, maskObjects, type StoredBody } from "../objects/index.ts";

/** Objects by their titles, ready to be compared. */
export type State = Readonly<Record<string, unknown>>;

/** Where two states differ. */
export interface StateDifference extends LeafDifference {
  /** The object: `ConfigMap default/settings`. */
  readonly title: string;
}

/** What is in a cluster, as a {@link State}. */
export function stateOf(bodies: readonly StoredBody[]): State {
  const snapshot = maskObjects(bodies);
  const titles = new Map(
    Object.entries(snapshot).map(([title, { metadata }]) => [(metadata as { uid?: string }).uid, title]),
  );
  const named = (value: unknown): unknown => {
    if (value === "<time>") return undefined;
    if (typeof value === "string") {
      return value.replaceAll(/<uid \d+>/g, (uid) => `<uid of ${titles.get(uid) ?? "nobody"}>`);
    }
    if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(named);
    if (!isObject(value)) return value ?? undefined;
    const entries = Object.entries(value).flatMap(([key, member]) => {
      const kept = key === "conditions" && Array.isArray(member) ? conditionsOf(member) : named(member);
      return kept === undefined ? [] : [[key, kept] as const];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  return Object.fromEntries(
    Object.entries(snapshot).map(([title, { metadata, ...rest }]) => {
      const { uid: _, ...kept } = metadata as Record<string, unknown>;
      return [title, named({ ...rest, metadata: kept })];
    }),
  );
}

function conditionsOf(conditions: readonly unknown[]): unknown {
  const holding = conditions.filter(isObject).filter(({ type, status }) => status === "True" && type !== "Reconciling");
  return holding.length === 0 ? undefined : Object.fromEntries(holding.map(({ type }) => [String(type), "True"]));
}

/** Every place where the two differ. */
export function stateDifferences(wanted: State, found: State): StateDifference[] {
  const titles = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].sort();
  return titles.flatMap((title) => {
    const [one, other] = [wanted[title], found[title]];
    if (one === undefined) return [{ title, path: "", wanted: undefined, found: "it is there" }];
    if (other === undefined) return [{ title, path: "", wanted: "it is there", found: undefined }];
    return leafDifferences(one, other).map((difference) => ({ title, ...difference }));
  });
}

/**
 * Two states with the numbers in names of objects left out: a name that counts attempts tells how often, and not what.
 * Undefined where the names would still differ, or where a number tells of a spec: `wanted` has one that only the last
 * spec has, or `found` one that only the specs before it have.
 */
export function withoutCounters(
  wanted: State,
  found: State,
  walk: readonly unknown[],
): { readonly wanted: State; readonly found: State } | undefined {
  const [one, other] = [uncounted(wanted), uncounted(found)];
  if (Object.keys(one.state).sort().join() !== Object.keys(other.state).sort().join()) return undefined;
  const [last, before] = [numbersIn(walk.at(-1)), numbersIn(walk.slice(0, -1))];
  const lost = [...one.numbers].filter((number) => !other.numbers.has(number));
  const gained = [...other.numbers].filter((number) => !one.numbers.has(number));
  const tells = lost.some((n) => last.has(n) && !before.has(n)) || gained.some((n) => before.has(n) && !last.has(n));
  return tells ? undefined : { wanted: one.state, found: other.state };
}

function numbersIn(value: unknown): ReadonlySet<string> {
  return new Set(JSON.stringify(value ?? null).match(/\d+/g) ?? []);
}

function uncounted(state: State): { readonly state: State; readonly numbers: ReadonlySet<string> } {
  const names = Object.keys(state).flatMap((title) => {
    const name = title.slice(title.indexOf(" ") + 1).replace(/^[^/]*\//, "");
    return /\d/.test(name) ? [name] : [];
  });
  // Longer ones first: a name may be the beginning of another.
  const inOrder = [...new Set(names)].sort((a, b) => b.length - a.length);
  const rename = (text: string) =>
    inOrder.reduce((result, name) => result.replaceAll(name, name.replaceAll(/\d+/g, "#")), text);
  const entries = Object.entries(state)
    .map(([title, body]) => [rename(title), JSON.parse(rename(JSON.stringify(body)))] as const)
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const counts = new Map<string, number>();
  const numbered = entries.map(([title, body]) => {
    const count = (counts.get(title) ?? 0) + 1;
    counts.set(title, count);
    return [count === 1 ? title : `${title} (${count})`, body] as const;
  });
  return { state: Object.fromEntries(numbered), numbers: numbersIn(names) };
}

/** What objects are called together whose names differ by numbers alone: `Pod default/web-#`. */
export function groupOf(title: string): string {
  return title.replace(/ \(\d+\)$/, "");
}

/** An object by its title, also by one in which numbers are left out. */
export function objectAt(state: State, title: string): unknown {
  return state[title] ?? (title.includes("#") ? uncounted(state).state[title] : undefined);
}

/** What is not compared: `status.history`, or `ConfigMap default/settings: data.stamp`. */
export function isIgnored({ title, path }: StateDifference, ignored: ReadonlySet<string>): boolean {
  return [...ignored].some((one) => {
    const [object, place] = one.includes(": ")
      ? [one.slice(0, one.indexOf(": ")), one.slice(one.indexOf(": ") + 2)]
      : [undefined, one];
    if (object !== undefined && object !== groupOf(title)) return false;
    return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
  });
}
