/**
 * Deadlines of retries lie on the object as wall-clock times, so that a restart waits the rest of them. But the wall
 * clock is set, by people and by NTP: what this process has promised itself, it knows by the monotonic clock as well,
 * and whichever comes first counts.
 */
import type { Clock } from "@lotse/client/meta";
import type { ObjectRecord } from "./record.ts";

/** When deadlines are over that this process has set: ISO time on the object → monotonic milliseconds. */
export type Deadlines = ReadonlyMap<string, number>;

type Now = Pick<Clock, "now" | "monotonic">;

/** Milliseconds until `due`; not a number when it cannot be read. */
export function remainingMs(due: string, deadlines: Deadlines | undefined, clock: Now): number {
  const byWall = Date.parse(due) - clock.now();
  const at = deadlines?.get(due);
  return at === undefined ? byWall : Math.min(byWall, at - clock.monotonic());
}

/** The deadlines in `record`: those that were known stay as they are, new ones begin now. Undefined: none. */
export function deadlinesIn(
  record: ObjectRecord | undefined,
  known: Deadlines | undefined,
  clock: Now,
): Deadlines | undefined {
  if (!record?.runs) return undefined;
  let deadlines: Map<string, number> | undefined;
  for (const run of Object.values(record.runs)) {
    for (const { due } of [run, ...Object.values(run.steps ?? {})]) {
      if (due === undefined) continue;
      deadlines ??= new Map();
      deadlines.set(due, known?.get(due) ?? clock.monotonic() + Date.parse(due) - clock.now());
    }
  }
  return deadlines;
}
