/**
 * Values may nest this deep. A real server takes ten times as much; here much of what looks at a value calls itself for
 * each level, and must never run out of stack.
 */
export const DEEPEST = 1_000;

/** Whether a value nests deeper than `most` levels. */
export function nestsDeeperThan(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (most === 0) return true;
  const members = Array.isArray(value) ? value : Object.values(value);
  return members.some((member) => nestsDeeperThan(member, most - 1));
}
