/**
 * The life of a stream as one pure function: `next(state, input)` says what to deliver and what to do then. The I/O around
 * it is in stream.ts.
 *
 *     listing ──last page──► watching ──ended, silent──► watching        (from the last version seen)
 *        ▲                      │ 410, 403, 404
 *        └──────────────────────┘
 *     any failure ──► waiting ──due──► listing or watching                (how long: patience.ts)
 *
 * What must stay true:
 * - The version only moves with what has been delivered: a stream that is cut anywhere misses nothing and resumes there.
 * - A list is delivered whole or not at all.
 * - `failures` goes back to 0 only when a watch has proven to work. A list that succeeds proves nothing: with a watch that
 *   always fails it would make a hot loop of lists.
 */
import type { ObjectBody } from "../kinds/index.ts";
import { ApiError, apiErrorFrom, GoneError } from "../transport/index.ts";
import { backoffMs } from "./patience.ts";

/** Where a stream stands, with all that the next decision needs. */
export type State<B> =
  | {
      readonly at: "listing";
      readonly items: readonly B[];
      /** Of the first page. Later pages may be newer; starting to watch at the older version loses nothing. */
      readonly version: string | undefined;
      readonly failures: number;
    }
  | {
      readonly at: "watching";
      readonly version: string;
      readonly openedAt: number;
      /** Something has come: the connection works. */
      readonly alive: boolean;
      readonly failures: number;
    }
  | { readonly at: "waiting"; readonly goal: Goal; readonly failures: number };

/** What to go on with after a wait. */
type Goal = { readonly to: "list" } | { readonly to: "watch"; readonly version: string };

/** What has happened. */
export type Input<B> =
  | { readonly is: "page"; readonly items: readonly B[]; readonly version: string; readonly token: string | undefined }
  | { readonly is: "opened" }
  | { readonly is: "event"; readonly type: string; readonly object: B }
  /** The server closed the watch, or the connection broke. */
  | { readonly is: "ended" }
  | { readonly is: "silent" }
  /** A request failed, or the server sent what is no event. */
  | { readonly is: "failed"; readonly error: unknown }
  | { readonly is: "due" };

/** What the sink is told. */
export type Delivery<B> =
  | { readonly tell: "replace"; readonly items: readonly B[]; readonly version: string }
  | { readonly tell: "apply"; readonly body: B; readonly type: "ADDED" | "MODIFIED" }
  | { readonly tell: "remove"; readonly body: B }
  | { readonly tell: "bookmark"; readonly version: string };

/** What to do next; a running watch is closed before. */
export type Task =
  | { readonly run: "list"; readonly token: string | undefined }
  | { readonly run: "watch"; readonly version: string }
  | { readonly run: "wait"; readonly ms: number; readonly error: unknown };

/** What follows from an input. */
export interface Step<B> {
  readonly state: State<B>;
  readonly deliver?: Delivery<B>;
  /** Absent: go on with what is under way. */
  readonly task?: Task;
}

/** What a decision depends on besides the state and the input. */
export interface MachineInputs {
  /** Monotonic. */
  readonly now: number;
  readonly random: () => number;
  /** The wait after so many earlier failures in a row. Default {@link backoffMs}. */
  readonly backoff?: ((failures: number, random: number, error: unknown) => number) | undefined;
}

/** A watch that ends sooner than this, and without an event, has failed: some proxies accept and close at once. */
const SHORT_WATCH_MS = 1_000;
/** So many watches in a row failed from one version: perhaps it is the version. */
const FAILURES_UNTIL_LIST = 5;

/** How every stream starts. */
export function begin<B>(): { state: State<B>; task: Task } {
  return startList(0);
}

/** The decision: pure, so that every order of events can be tried. */
export function next<B extends ObjectBody>(state: State<B>, input: Input<B>, given: MachineInputs): Step<B> {
  switch (state.at) {
    case "listing":
      if (input.is === "page") return onPage(state, input, given);
      // An expired continue token is as good as news: begin anew. The first time at once.
      if (input.is === "failed") {
        const expired = input.error instanceof GoneError;
        return retreat({ to: "list" }, state.failures, input.error, given, { atOnce: expired });
      }
      return { state };
    case "watching":
      return onWatch(state, input, given);
    case "waiting":
      if (input.is !== "due") return { state };
      return state.goal.to === "list"
        ? startList(state.failures)
        : startWatch(state.goal.version, state.failures, given);
  }
}

type Listing<B> = Extract<State<B>, { at: "listing" }>;
type Watching<B> = Extract<State<B>, { at: "watching" }>;

function onPage<B>(state: Listing<B>, page: Extract<Input<B>, { is: "page" }>, given: MachineInputs): Step<B> {
  const items = state.items.length === 0 ? page.items : state.items.concat(page.items);
  const version = state.version ?? page.version;
  if (page.token !== undefined) {
    return { state: { ...state, items, version }, task: { run: "list", token: page.token } };
  }
  return { ...startWatch<B>(version, state.failures, given), deliver: { tell: "replace", items, version } };
}

function onWatch<B extends ObjectBody>(state: Watching<B>, input: Input<B>, given: MachineInputs): Step<B> {
  switch (input.is) {
    case "opened":
      return { state: { ...state, openedAt: given.now } };
    case "event":
      return onEvent(state, input.type, input.object, given);
    case "ended":
    case "silent": {
      const lived = input.is === "ended" && given.now - state.openedAt >= SHORT_WATCH_MS;
      if (state.alive || lived) return startWatch(state.version, 0, given);
      const error = new Error(input.is === "silent" ? "the watch was silent" : "the watch ended as soon as it began");
      return retreat({ to: "watch", version: state.version }, state.failures, error, given);
    }
    case "failed":
      return onWatchFailure(state, input.error, given);
    default:
      return { state };
  }
}

function onEvent<B extends ObjectBody>(state: Watching<B>, type: string, object: B, given: MachineInputs): Step<B> {
  if (type === "ERROR") {
    const status = object as { code?: unknown };
    const code = typeof status.code === "number" ? status.code : 500;
    return onWatchFailure(state, apiErrorFrom(code, object, { method: "WATCH", path: "" }), given);
  }
  const version = object.metadata?.resourceVersion ?? state.version;
  const moved: Watching<B> = { at: "watching", version, openedAt: state.openedAt, alive: true, failures: 0 };
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      return { state: moved, deliver: { tell: "apply", body: object, type } };
    case "DELETED":
      return { state: moved, deliver: { tell: "remove", body: object } };
    case "BOOKMARK":
      return { state: moved, deliver: { tell: "bookmark", version } };
    default:
      return onWatchFailure(state, new Error(`the server sent an event of the unknown type "${type}"`), given);
  }
}

function onWatchFailure<B>(state: Watching<B>, error: unknown, given: MachineInputs): Step<B> {
  if (error instanceof GoneError) return retreat({ to: "list" }, state.failures, error, given, { atOnce: true });
  // Without the kind or the permission events pass unseen, and the version means nothing when they are back.
  const lost = error instanceof ApiError && [400, 401, 403, 404, 405].includes(error.status);
  const again = !lost && state.failures + 1 < FAILURES_UNTIL_LIST;
  return retreat(again ? { to: "watch", version: state.version } : { to: "list" }, state.failures, error, given);
}

/** After a failure: wait, then go for `goal`. `atOnce` does without the wait unless something failed just before. */
function retreat<B>(
  goal: Goal,
  failures: number,
  error: unknown,
  given: MachineInputs,
  o: { atOnce?: boolean } = {},
): Step<B> {
  if (o.atOnce && failures === 0) {
    return goal.to === "list" ? startList(1) : startWatch(goal.version, 1, given);
  }
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  const ms = Math.max(asked, (given.backoff ?? backoffMs)(failures, given.random(), error));
  return { state: { at: "waiting", goal, failures: failures + 1 }, task: { run: "wait", ms, error } };
}

function startList<B>(failures: number): { state: State<B>; task: Task } {
  return { state: { at: "listing", items: [], version: undefined, failures }, task: { run: "list", token: undefined } };
}

function startWatch<B>(version: string, failures: number, given: MachineInputs): { state: State<B>; task: Task } {
  return {
    state: { at: "watching", version, openedAt: given.now, alive: false, failures },
    task: { run: "watch", version },
  };
}
