import {
  apiVersionOf,
  type Client,
  type KindClass,
  type KindDescription,
  type KubeBody,
  pathOf,
  type WriteVerb,
} from "@lotse/client";
import type { Clock, JsonObject } from "@lotse/client/meta";
import type {
  Aborted,
  CachedReads,
  ChangeHandler,
  Essence,
  EventHandler,
  FailureHandler,
  FixedSettings,
  Indexes,
  Memo,
  SettingsPlan,
} from "../declare/index.ts";
import type {
  Journal,
  KindMeasures,
  Logger,
  Metrics,
  ObjectReference,
  RecordedRequest,
  Traces,
} from "../report/index.ts";
import type { Contribution } from "./contribution.ts";
import type { ObjectMemory } from "./memory.ts";
import type { RunningAttempts } from "./running-attempts.ts";
import type { Runs } from "./runs.ts";
import type { Standing } from "./standing.ts";
import { requestsFor, type WritePlan, type WriteTarget } from "./write.ts";

/** What the turns of one kind share. */
export interface TurnKind {
  readonly operator: string;
  readonly kind: KindDescription;
  readonly kindClass: KindClass | undefined;
  readonly changes: readonly ChangeHandler[];
  readonly events: readonly EventHandler[];
  readonly failures: readonly FailureHandler[];
  /** What goes on beside the handlers of changes; undefined when the kind has nothing of the sort. */
  readonly background: BackgroundWork | undefined;
  /** Reconcilers; undefined when the kind has none. */
  readonly level: LevelWork | undefined;
  readonly target: WriteTarget;
  /** Whether the kind's schema keeps `status.<id>`. */
  readonly keepsResult: (id: string) => boolean;
  /** The kind was made by `resource()`: what its conditions say of the work for an object is this operator's to say. */
  readonly ownsConditions: boolean;
  /** What somebody wants of an object of this kind, as its handlers see it. */
  readonly essenceOf: (body: KubeBody) => Essence;
  readonly indexes: Indexes;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The newest known body of an object, own writes included. */
  readonly newest: (key: string) => KubeBody | undefined;
  /** Lays the answer to a turn's own write over the store. */
  readonly wrote: (body: KubeBody) => void;
  /** Lays the answer to a handler's write, of whatever kind, over the store, and wakes that object. */
  readonly handlerWrote: (body: KubeBody, kind: KindDescription, how: HandlerWrite) => void;
  /** What a handler can read without asking the server. */
  readonly reads: (handler: string, client: () => Client, namespace: string | undefined) => CachedReads;
  /** Hears of every request of a handler. */
  readonly record: ((request: RecordedRequest) => void) | undefined;
  /** Posts a Kubernetes Event about an object; never fails. */
  readonly post: (body: KubeBody, type: "Normal" | "Warning", reason: string, message: string) => void;
  readonly metrics: Metrics;
  /** Undefined when the project has no OpenTelemetry. */
  readonly traces: Traces | undefined;
  readonly measures: KindMeasures;
  readonly journal: Journal;
  readonly attempts: RunningAttempts;
  /** What has been said once for the kind, and need not be said for each object. */
  readonly told: Set<string>;
  /** The notes of an object. */
  readonly memoOf: (memory: ObjectMemory) => Memo;
  /** The server dropped the record from the status: keep it elsewhere from now on. */
  readonly recordNotKept: () => void;
  /** The object has something to do. */
  readonly wake: (key: string) => void;
  /** Aborts when the operator stops: no new attempts. */
  readonly stopping: AbortSignal;
  readonly settings: FixedSettings;
  readonly plan: SettingsPlan;
}

/** An object's turn, as far as its background work is concerned. */
export interface BackgroundTurn {
  readonly kind: TurnKind;
  readonly memory: ObjectMemory;
  readonly body: KubeBody;
  readonly runs: Runs;
  readonly logger: Logger;
}

/**
 * Timers and daemons, as the turn sees them. They live in a room above; a turn only gives them their chance, so that
 * whatever a timer wants to change is part of the turn's one write.
 */
export interface BackgroundWork {
  /** Runs what is due and begins or ends what has to; resolves with when something is due next (monotonic). */
  tend(turn: BackgroundTurn): Promise<number | undefined>;
  /** Ends everything of one object and resolves when it has ended or was abandoned. */
  stop(memory: ObjectMemory, why: Aborted["why"], message: string): Promise<void>;
  /** How it stands for an object; what is in order says nothing. */
  standings(memory: ObjectMemory): readonly Standing[];
  /** Tries again at once what waits for it, or has failed for good; the ids of those handlers. */
  retry(memory: ObjectMemory): readonly string[];
  /** Something has happened outside of the cluster: what waits for its time runs in the next turn. */
  wake(memory: ObjectMemory): void;
  /** Whether a filter may look at more than the essence. */
  readonly looksAnywhere: boolean;
}

/** Labels and annotations are part of the essence; a `when` filter may look at the status as well. */
export function filtersLookAnywhere({ changes, background, level }: TurnKind): boolean {
  return (
    background?.looksAnywhere === true ||
    level?.looksAnywhere === true ||
    changes.some(({ filters }) => filters.when !== undefined)
  );
}

/** An object as the log and traces name it. */
export function referenceTo({ kind }: TurnKind, { metadata }: KubeBody): ObjectReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    namespace: metadata?.namespace,
    name: metadata?.name ?? "",
    uid: metadata?.uid,
  };
}

/** How a handler wrote: its verb, and the reconciler that it is, if it is one. */
export interface HandlerWrite {
  readonly verb: WriteVerb;
  readonly writer: unknown;
}

/**
 * Reconcilers, as the turn sees them. Like background work they live in a room above, and run within the turn of their
 * object.
 */
export interface LevelWork {
  /** Runs who is due; resolves with when somebody is due next (monotonic). */
  tend(turn: BackgroundTurn): Promise<number | undefined>;
  /** The turn has written its object over `base`, with nothing of somebody else in between; `by`: who wanted what. */
  wrote(memory: ObjectMemory, base: KubeBody, body: KubeBody, by: readonly Contribution[]): void;
  /** When somebody is due because of what the turn has written (monotonic); undefined when nobody is. */
  next(turn: BackgroundTurn): number | undefined;
  /** The object is gone. */
  forget(memory: ObjectMemory): void;
  /** How the reconcilers that report it stand for an object; undefined while one of them has not run yet. */
  standings(memory: ObjectMemory): readonly Standing[] | undefined;
  /** Tries again at once what waits for it, or has failed for good; the ids of those reconcilers. */
  retry(memory: ObjectMemory): readonly string[];
  /** Something has happened outside of the cluster: all of them are due. */
  wake(memory: ObjectMemory): void;
  /** Who writes, if it is a reconciler of the object. */
  writerOf(memory: ObjectMemory, handler: string): unknown;
  /** Whether a filter may look at more than the essence. */
  readonly looksAnywhere: boolean;
}

/** The client of a handler: in the namespace of its object, for as long as its attempt lasts, and its writes are known at once. */
export function handlerClient(
  kind: TurnKind,
  handler: string,
  body: KubeBody,
  signal: AbortSignal,
  writer?: unknown,
): Client {
  const { record, handlerWrote } = kind;
  return kind.client.with({
    ...(body.metadata?.namespace !== undefined && { namespace: body.metadata.namespace }),
    signal,
    onWrite: (written, verb, description) => {
      if (verb === "apply") recordCreation(kind, handler, written, description);
      handlerWrote(written, description, { verb, writer });
    },
    ...(record && { onRequest: (request) => record({ handler, ...request }) }),
  });
}

/** A handler reads a kind from the operator's own copy: what the framework needs for that is part of what it does. */
export function recordRead(
  record: TurnKind["record"],
  handler: string,
  kind: KindDescription,
  namespace: string | undefined,
): void {
  if (!record) return;
  const path = pathOf(kind, kind.namespaced ? { namespace } : {});
  for (const watch of [false, true]) record({ handler, method: "GET", path, watch, websocket: false });
}

/** Where there is no object yet, an apply creates it, and the server asks for that right besides. */
function recordCreation({ record }: TurnKind, handler: string, body: KubeBody, kind: KindDescription): void {
  const path = pathOf(kind, { namespace: body.metadata?.namespace });
  record?.({ handler, method: "POST", path, watch: false, websocket: false });
}

/** What a handler put into its patch is written by the framework on its behalf: it is part of what the handler does. */
export function recordPatch(
  { record, kind, target }: TurnKind,
  handler: string,
  body: KubeBody,
  wanted: Pick<WritePlan, "changes" | "transforms">,
): void {
  if (!record) return;
  const { namespace, name = "" } = body.metadata ?? {};
  for (const { subresource } of requestsFor(body, { ...wanted, record: undefined, finalizer: "keep" }, target)) {
    const path = pathOf(kind, { namespace, name, subresource });
    record({ handler, method: "PATCH", path, watch: false, websocket: false });
  }
}

/** A merge patch that sets `status.<id>`. */
export function resultPatch(id: string, result: unknown): JsonObject {
  return { status: { [id]: JSON.parse(JSON.stringify(result)) } };
}
