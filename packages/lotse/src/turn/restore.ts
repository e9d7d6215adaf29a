/**
 * A record that another client wipes while the process remembers the object is put back. A client that wipes it each time would make
 * that a war without an end, so it is put back a few times at once and then ever more rarely. Pure.
 */

/** What is remembered of the times that a record was put back; monotonic milliseconds. */
export interface RestoreState {
  /** How often in a row. */
  readonly times: number;
  readonly last: number;
}

const AT_ONCE = 3;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;
/** After this long without it the count begins anew. */
const FORGOTTEN_MS = 1_200_000;

/** When the record may be put back again. */
export function restoreAt(state: RestoreState | undefined): number {
  if (!state || state.times < AT_ONCE) return 0;
  return state.last + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (state.times - AT_ONCE));
}

/** The state after it was put back. */
export function afterRestore(state: RestoreState | undefined, now: number): RestoreState {
  const fresh = !state || now - state.last > FORGOTTEN_MS;
  return { times: fresh ? 1 : state.times + 1, last: now };
}

/** Whether it is time to say that another client takes the record away again and again. */
export function isWar({ times }: RestoreState): boolean {
  return times === AT_ONCE;
}
