/** Works through children in their order, as far as it goes. */

/** A thing with its place among others. */
export interface Ordered {
  readonly key: string;
  readonly after: readonly string[];
}

/**
 * Does `work` for each item whose predecessors are ready, side by side, and goes on with those that come after them.
 * Returns the items that still wait, with what they wait for.
 */
export async function inOrder<T extends Ordered>(
  items: readonly T[],
  work: (item: T) => Promise<boolean>,
): Promise<{ readonly item: T; readonly for: readonly string[] }[]> {
  const ready = new Set<string>();
  let left = [...items];
  for (;;) {
    const free = left.filter(({ after }) => after.every((key) => ready.has(key)));
    if (free.length === 0) break;
    left = left.filter((item) => !free.includes(item));
    const before = ready.size;
    await Promise.all(
      free.map(async (item) => {
        if (await work(item)) ready.add(item.key);
      }),
    );
    if (ready.size === before) break;
  }
  return left.map((item) => ({ item, for: item.after.filter((key) => !ready.has(key)) }));
}

/** Those of `items` that nothing else among them comes after: they may go first. */
export function lastOnes<T extends Ordered>(items: readonly T[]): T[] {
  const last = items.filter(({ key }) => !items.some(({ after }) => after.includes(key)));
  // Marks that another client edited may form a circle: then order means nothing.
  return last.length > 0 ? last : [...items];
}
