/** How two values differ, as the server tells it: their JSON line by line, what is the same left out but for three lines. */

const CONTEXT = 3;

/** A block of lines that both have: where it is in each, and how long it is. */
type Match = readonly [a: number, b: number, length: number];

/** The difference between two values, line by line, as a real server shows refused changes. */
export function diffOf(before: unknown, after: unknown): string {
  const [a, b] = [before, after].map((value) => JSON.stringify(value, undefined, 1).split("\n")) as [
    string[],
    string[],
  ];
  return groupsOf(matchesOf(a, b), a.length, b.length)
    .map((group) => printGroup(group, a, b))
    .join("");
}

/** The longest block between these bounds, the first one of those that are as long. */
function longest(a: readonly string[], b: ReadonlyMap<string, number[]>, bounds: readonly number[]): Match {
  const [fromA = 0, toA = 0, fromB = 0, toB = 0] = bounds;
  let best: Match = [fromA, fromB, 0];
  let lengths = new Map<number, number>();
  for (let i = fromA; i < toA; i++) {
    const next = new Map<number, number>();
    for (const j of b.get(a[i] as string) ?? []) {
      if (j < fromB) continue;
      if (j >= toB) break;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > best[2]) best = [i - length + 1, j - length + 1, length];
    }
    lengths = next;
  }
  return best;
}

/** All blocks that both have, in order: the longest one, and then those on both sides of it. */
function matchesOf(a: readonly string[], b: readonly string[]): Match[] {
  const places = new Map<string, number[]>();
  for (const [j, line] of b.entries()) places.set(line, [...(places.get(line) ?? []), j]);
  const found: Match[] = [];
  const left: number[][] = [[0, a.length, 0, b.length]];
  for (let bounds = left.pop(); bounds !== undefined; bounds = left.pop()) {
    const match = longest(a, places, bounds);
    const [fromA = 0, toA = 0, fromB = 0, toB = 0] = bounds;
    const [i, j, length] = match;
    if (length === 0) continue;
    found.push(match);
    if (fromA < i && fromB < j) left.push([fromA, i, fromB, j]);
    if (i + length < toA && j + length < toB) left.push([i + length, toA, j + length, toB]);
  }
  return found.sort(([x], [y]) => x - y);
}

interface Change {
  readonly same: boolean;
  readonly a: readonly [number, number];
  readonly b: readonly [number, number];
}

/** Changes with what surrounds them; those that are near each other stand together. */
function groupsOf(matches: readonly Match[], lengthA: number, lengthB: number): Change[][] {
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  for (const [x, y, length] of [...matches, [lengthA, lengthB, 0] as const]) {
    if (i < x || j < y) changes.push({ same: false, a: [i, x], b: [j, y] });
    if (length > 0) changes.push({ same: true, a: [x, x + length], b: [y, y + length] });
    [i, j] = [x + length, y + length];
  }
  const groups: Change[][] = [];
  let group: Change[] = [];
  for (const [at, change] of changes.entries()) {
    const { same, a, b } = change;
    if (!same) {
      group.push(change);
      continue;
    }
    const [isFirst, isLast] = [at === 0, at === changes.length - 1];
    const length = a[1] - a[0];
    const head: Change = { same, a: [a[0], Math.min(a[1], a[0] + CONTEXT)], b: [b[0], Math.min(b[1], b[0] + CONTEXT)] };
    const tail: Change = { same, a: [Math.max(a[0], a[1] - CONTEXT), a[1]], b: [Math.max(b[0], b[1] - CONTEXT), b[1]] };
    if (isFirst) group = [tail];
    else if (isLast) group.push(head);
    else if (length > 2 * CONTEXT) {
      groups.push([...group, head]);
      group = [tail];
    } else group.push(change);
  }
  if (group.some(({ same }) => !same)) groups.push(group);
  return groups;
}

function printGroup(group: readonly Change[], a: readonly string[], b: readonly string[]): string {
  const range = (key: "a" | "b"): string => {
    const from = group[0]?.[key][0] ?? 0;
    const length = (group.at(-1)?.[key][1] ?? 0) - from;
    if (length === 1) return String(from + 1);
    return `${length === 0 ? from : from + 1},${length}`;
  };
  const lines = group.flatMap((change) => {
    if (change.same) return a.slice(...change.a).map((line) => ` ${line}\n`);
    return [...a.slice(...change.a).map((line) => `-${line}\n`), ...b.slice(...change.b).map((line) => `+${line}\n`)];
  });
  return `@@ -${range("a")} +${range("b")} @@\n${lines.join("")}`;
}
