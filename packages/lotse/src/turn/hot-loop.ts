/**
 * The one detector of loops without an end, for handlers, reconcilers and repairs of children alike. Pure. Three kinds:
 *
 * A hot loop: what the operator writes wakes its own handlers, which write again, with no other client in between.
 *
 *     calm ── more than `limit` own changes in a minute ──► hot ── own change ──► hotter, longer pauses
 *       ▲                                                    │
 *       └── another client changes the object, or a minute ──┘
 *
 * A fight: another client undoes what the operator writes, and it writes the same again. Here every other change is
 * the other client's, so only time cools it down.
 *
 *     calm ── the same write more than `limit` times in a minute, each after another's change ──► hot ─► hotter
 *       ▲                                                                                          │
 *       └──────────────────────── a minute without it ─────────────────────────────────────────────┘
 *
 * A row: runs of one reconciler, each woken by nothing but the writes of reconcilers of its object. What else happens
 * begins a new row, however fast or slow it is; {@link rowPauseMs}.
 */

/** What is remembered of one object's own changes; times are monotonic milliseconds. */
export interface LoopState {
  /** Own changes of the last minute, with none of another client between them. */
  readonly changes: readonly number[];
  /** The last different writes, and when each was made again although another client had changed the object. */
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

/** Nothing has happened lately. */
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

/** The state after a write of the operator that came after another client's change; `write` says what was written. */
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

/** Another client has changed the object: what the operator did by itself is over, a fight is not. */
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
  return { ...state, level, by, until: now + pauseMs(FIRST_PAUSE_MS, level) };
}

function pauseMs(firstMs: number, level: number): number {
  return Math.min(LONGEST_PAUSE_MS, firstMs * 2 ** (level - 1));
}

/** A row of runs of a reconciler that is longer than this is hot: no honest work needs so many. */
export const ROW_LIMIT = 10;
const FIRST_ROW_PAUSE_MS = 200;

/** How long the next run of a row waits. */
export function rowPauseMs(length: number): number {
  return length <= ROW_LIMIT ? 0 : pauseMs(FIRST_ROW_PAUSE_MS, length - ROW_LIMIT);
}

function recent(times: readonly number[], now: number): number[] {
  return times.filter((time) => time > now - WINDOW_MS);
}
