/**
 * Two kinds of loops without an end, both pure:
 *
 * A hot loop: what the operator writes wakes its own handlers, which write again, with nobody else in between.
 *
 *     calm ── more than `limit` own changes in a minute ──► hot ── own change ──► hotter, longer pauses
 *       ▲                                                    │
 *       └── somebody else changes the object, or a minute ───┘
 *
 * A fight: somebody else undoes what the operator writes, and it writes the same again. Here every other change is
 * somebody else's, so only time cools it down.
 *
 *     calm ── the same write more than `limit` times in a minute, each after somebody else's change ──► hot ─► hotter
 *       ▲                                                                                                │
 *       └──────────────────────── a minute without it ───────────────────────────────────────────────────┘
 */

/** What is remembered of one object's own changes; times are monotonic milliseconds. */
export interface LoopState {
  /** Own changes of the last minute, with none of somebody else between them. */
  readonly changes: readonly number[];
  /** The last different writes, and when each was made again although somebody had changed the object. */
  readonly repeats: readonly Repeat[];
  /** How hot: 0 is calm. */
  readonly level: number;
  /** What made it hot. */
  readonly by: "own changes" | "events" | "fight" | undefined;
  /** Work for the object waits until then. */
  readonly until: number;
}

interface Repeat {
  readonly write: string;
  readonly times: readonly number[];
}

export const CALM: LoopState = Object.freeze({ changes: [], repeats: [], level: 0, by: undefined, until: 0 });

const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
/** Two sides of a fight may take turns with more than one field. */
const MOST_WRITES = 4;

/** The state after one more change that the operator itself has made, or one more event of its own making. */
export function afterOwnChange(
  state: LoopState,
  now: number,
  limit: number,
  by: "own changes" | "events" = "own changes",
): LoopState {
  const changes = recent([...state.changes, now], now).slice(-limit - 1);
  // In a fight every answer is followed by one own change, which is not what heats it.
  if ((state.level === 0 || state.by === "fight") && changes.length <= limit) return { ...state, changes };
  return hotter({ ...state, changes }, now, by);
}

/** The state after a write of the operator that came after somebody else's change; `write` says what was written. */
export function afterAnswer(state: LoopState, write: string, now: number, limit: number): LoopState {
  const known = state.repeats.find((one) => one.write === write);
  const times = recent([...(known?.times ?? []), now], now).slice(-limit - 1);
  const repeats = [...state.repeats.filter((one) => one !== known), { write, times }].slice(-MOST_WRITES);
  const next = { ...state, repeats };
  // However slow a fight has become: the same once more, less than a minute after the pause, makes it slower.
  const goesOn = state.by === "fight" && known !== undefined && now < state.until + WINDOW_MS;
  if (goesOn || times.length > limit) return hotter(next, now, "fight");
  return state.by === "fight" ? { ...next, level: 0, by: undefined, until: 0 } : next;
}

/** Somebody else has changed the object: what the operator did by itself is over, a fight is not. */
export function afterForeignChange(state: LoopState): LoopState {
  if (state.by === "fight") return state.changes.length === 0 ? state : { ...state, changes: [] };
  return state.repeats.length === 0 ? CALM : { ...CALM, repeats: state.repeats };
}

/** A minute after the last pause all is well again, unless something has happened since. */
export function cooledDown(state: LoopState, now: number): LoopState {
  return state.level > 0 && now >= coolAt(state) ? CALM : state;
}

/** When {@link cooledDown} is worth a look. */
export function coolAt({ until }: LoopState): number {
  return until + WINDOW_MS;
}

function hotter(state: LoopState, now: number, by: LoopState["by"]): LoopState {
  const level = state.level + 1;
  return { ...state, level, by, until: now + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (level - 1)) };
}

function recent(times: readonly number[], now: number): number[] {
  return times.filter((time) => time > now - WINDOW_MS);
}
