/**
 * A hot loop: what the operator writes wakes its own handlers, which write again, with nobody else in between. Pure.
 *
 *     calm ── more than `limit` own changes in a minute ──► hot ── own change ──► hotter, longer pauses
 *       ▲                                                    │
 *       └──────────────── somebody else changes the object ──┘
 */

/** What is remembered of one object's own changes; times are monotonic milliseconds. */
export interface LoopState {
  /** Own changes of the last minute, with none of somebody else between them. */
  readonly changes: readonly number[];
  /** How hot: 0 is calm. */
  readonly level: number;
  /** Handlers of changes wait until then. */
  readonly until: number;
}

export const CALM: LoopState = Object.freeze({ changes: [], level: 0, until: 0 });

const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

/** The state after one more change that the operator itself has made. */
export function afterOwnChange(state: LoopState, now: number, limit: number): LoopState {
  const changes = [...state.changes.filter((time) => time > now - WINDOW_MS), now].slice(-limit - 1);
  if (state.level === 0 && changes.length <= limit) return { changes, level: 0, until: 0 };
  const level = state.level + 1;
  return { changes, level, until: now + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (level - 1)) };
}
