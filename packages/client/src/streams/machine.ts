/**
 * The life of a stream as one pure function: `next(state, input)` says what to deliver and what to do then. The I/O around
 * it is in stream.ts.
 *
 *     listing ──last page──► watching ──ended, silent──► watching        (from the last version seen)
 *        ▲                      │ 410, 403, 404
 *        └──────────────────────┘
 *     gathering ──its end──► watching                                     (instead of a list, on the same connection)
 *         └──refused, ignored──► listing
 *     any failure ──► waiting ──due──► listing, gathering or watching     (how long: patience.ts)
 *
 * What must stay true:
 * - The version only moves with what has been delivered: a stream that is cut anywhere misses nothing and resumes there.
 * - A list is delivered whole or not at all, and so is what is gathered from a watch that begins with all there is.
 * - Gathering ends, whatever the server does: a server that has never heard of it sends no end. Each event asks how long it
 *   has gone on, and without an event there is silence; both lead to a list.
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
      /** A watch sends all that there is; what it has sent is with whoever was told to gather it. */
      readonly at: "gathering";
      /** Undefined while the server has not answered yet. */
      readonly openedAt: number | undefined;
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

/** What to go on with after a wait; `list` is all that there is, in whichever way it comes. */
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
  /** Not for the sink yet: part of a state that is on its way. */
  | { readonly tell: "gather"; readonly body: B; readonly gone: boolean }
  /** What was gathered is all that there is: as `replace`. */
  | { readonly tell: "gathered"; readonly version: string }
  | { readonly tell: "bookmark"; readonly version: string };

/** What to do next; a running watch is closed before. */
export type Task =
  | { readonly run: "list"; readonly token: string | undefined }
  /** A watch that begins with all there is. */
  | { readonly run: "gather" }
  | { readonly run: "watch"; readonly version: string }
  | { readonly run: "wait"; readonly ms: number; readonly error: unknown };

/** What follows from an input. */
export interface Step<B> {
  readonly state: State<B>;
  readonly deliver?: Delivery<B>;
  /** Absent: go on with what is under way. */
  readonly task?: Task;
  /** Why this server is to be asked for lists from now on, and not for watches that begin with all there is. */
  readonly listsInstead?: unknown;
}

/** What a decision depends on besides the state and the input. */
export interface MachineInputs {
  /** Monotonic. */
  readonly now: number;
  readonly random: () => number;
  /** The wait after so many earlier failures in a row. Default {@link backoffMs}. */
  readonly backoff?: ((failures: number, random: number, error: unknown) => number) | undefined;
  /** Whether the server may be asked for a watch that begins with all there is, instead of a list. */
  readonly gathers?: boolean;
}

/** A watch that ends sooner than this, and without an event, has failed: some proxies accept and close at once. */
const SHORT_WATCH_MS = 1_000;
/** So many watches in a row failed from one version: perhaps it is the version. */
const FAILURES_UNTIL_LIST = 5;

/** So many failures in a row: then not all that there is in one piece, but page by page. */
const FAILURES_UNTIL_PAGES = 3;
/** A state that is still incomplete after this time will never be complete. */
const GATHERING_LIMIT_MS = 120_000;
/** What a server marks the end of the initial events with. */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** How every stream starts. */
export function begin<B>(given?: Pick<MachineInputs, "gathers">): { state: State<B>; task: Task } {
  return start(0, given);
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
    case "gathering":
      return onGathering(state, input, given);
    case "watching":
      return onWatch(state, input, given);
    case "waiting":
      if (input.is !== "due") return { state };
      return state.goal.to === "list"
        ? start(state.failures, given)
        : startWatch(state.goal.version, state.failures, given);
  }
}

type Listing<B> = Extract<State<B>, { at: "listing" }>;
type Gathering<B> = Extract<State<B>, { at: "gathering" }>;
type Watching<B> = Extract<State<B>, { at: "watching" }>;

function onPage<B>(state: Listing<B>, page: Extract<Input<B>, { is: "page" }>, given: MachineInputs): Step<B> {
  const items = state.items.length === 0 ? page.items : state.items.concat(page.items);
  const version = state.version ?? page.version;
  if (page.token !== undefined) {
    return { state: { ...state, items, version }, task: { run: "list", token: page.token } };
  }
  return { ...startWatch<B>(version, state.failures, given), deliver: { tell: "replace", items, version } };
}

function onGathering<B extends ObjectBody>(state: Gathering<B>, input: Input<B>, given: MachineInputs): Step<B> {
  switch (input.is) {
    case "opened":
      return { state: { ...state, openedAt: given.now } };
    case "event":
      return onGatheredEvent(state, input.type, input.object, given);
    case "silent":
      // One that does not answer at all is no worse at this than at lists.
      if (state.openedAt === undefined) {
        return retreat({ to: "list" }, state.failures, new Error("the server did not answer the watch"), given);
      }
      return listInstead(state, new Error("the watch did not say where all that there is ends"));
    case "ended":
      // What has come is let go: what is missing of it is not known.
      return retreat({ to: "list" }, state.failures, new Error("the watch ended before all objects had come"), given);
    case "failed":
      return onGatheringFailure(state, input.error, given);
    default:
      return { state };
  }
}

function onGatheredEvent<B extends ObjectBody>(
  state: Gathering<B>,
  type: string,
  object: B,
  given: MachineInputs,
): Step<B> {
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      // A server that ignores the question goes on with changes; where they come often, it is never silent.
      if (given.now - (state.openedAt ?? given.now) > GATHERING_LIMIT_MS) {
        return listInstead(state, new Error("the watch did not come to the end of all that there is"));
      }
      return { state, deliver: { tell: "gather", body: object, gone: type === "DELETED" } };
    case "BOOKMARK": {
      const { annotations, resourceVersion: version } = object.metadata ?? {};
      if (annotations?.[INITIAL_EVENTS_END] !== "true" || version === undefined) {
        return listInstead(state, new Error("the watch began with a bookmark that ends nothing"));
      }
      // Proves as little as a list does: `failures` stays as it is.
      const { failures } = state;
      return {
        state: { at: "watching", version, openedAt: given.now, alive: false, failures },
        deliver: { tell: "gathered", version },
      };
    }
    case "ERROR":
      return onGatheringFailure(state, errorOf(object), given);
    default:
      return onGatheringFailure(state, unknownType(type), given);
  }
}

function onGatheringFailure<B>(state: Gathering<B>, error: unknown, given: MachineInputs): Step<B> {
  // The server knows what it was asked for, and does not do it; older ones do not know the parameters.
  const refused = error instanceof ApiError && [400, 422].includes(error.status);
  if (refused) return listInstead(state, error);
  return retreat({ to: "list" }, state.failures, error, given, { atOnce: error instanceof GoneError });
}

function listInstead<B>({ failures }: Gathering<B>, why: unknown): Step<B> {
  return { ...startList<B>(failures), listsInstead: why };
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
  if (type === "ERROR") return onWatchFailure(state, errorOf(object), given);
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
      return onWatchFailure(state, unknownType(type), given);
  }
}

/** What an ERROR event says. */
function errorOf(object: ObjectBody): ApiError {
  const { code } = object as { code?: unknown };
  return apiErrorFrom(typeof code === "number" ? code : 500, object, { method: "WATCH", path: "" });
}

function unknownType(type: string): Error {
  return new Error(`the server sent an event of the unknown type "${type}"`);
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
    return goal.to === "list" ? start(1, given) : startWatch(goal.version, 1, given);
  }
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  const ms = Math.max(asked, (given.backoff ?? backoffMs)(failures, given.random(), error));
  return { state: { at: "waiting", goal, failures: failures + 1 }, task: { run: "wait", ms, error } };
}

/** All that there is, in the way that the server may be asked for it. */
function start<B>(failures: number, given?: Pick<MachineInputs, "gathers">): { state: State<B>; task: Task } {
  if (!given?.gathers || failures >= FAILURES_UNTIL_PAGES) return startList(failures);
  return { state: { at: "gathering", openedAt: undefined, failures }, task: { run: "gather" } };
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
