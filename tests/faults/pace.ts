/**
 * How fast time passes for the clusters and operators of this suite: fifty times as fast as it does, and less on a machine
 * that has other things to do. What takes a process some moments there must not be minutes of its clock, after which
 * requests, streams and stops are given up as they should be.
 */
const FASTEST = 50;
const SLOWEST = 3;
/** As long as others leave it at least half of a core, this machine is no busy one. */
const CALM = 2;
const TRIED_MS = 60;

/** See the module comment. */
export const SPEED = speedAt(waitPerWork());

/** The busier the machine, the longer are also the moments in which a process gets nothing: hence more than in proportion. */
function speedAt(wait: number): number {
  const busy = Math.max(1, wait / CALM);
  return Math.max(SLOWEST, FASTEST / busy ** 1.5);
}

/** How long this process takes for a millisecond of work. */
function waitPerWork(): number {
  const since = performance.now();
  const before = process.cpuUsage();
  let workedMs = 0;
  while (workedMs < TRIED_MS) {
    const { user, system } = process.cpuUsage(before);
    workedMs = (user + system) / 1_000;
  }
  return (performance.now() - since) / workedMs;
}
