/** Everything that the work for one kind has in common, whichever object it is for. */
import { apiVersionOf, type Client, type KindClass, type KindDescription, type KubeBody } from "@lotse/client";
import type { JsonObject } from "@lotse/client/meta";
import type {
  Aborted,
  CachedReads,
  ChangeHandler,
  Essence,
  EventHandler,
  FailureHandler,
  Handler,
  Indexes,
  IndexHandler,
  Memo,
  Patch,
} from "../declare/index.ts";
import type { KindReporting, Logger, ObjectReference } from "../report/index.ts";
import type { KindStore, Runtime } from "../runtime/index.ts";
import type { ConditionsDraft } from "./conditions.ts";
import type { Contribution } from "./contribution.ts";
import type { ObjectMemory } from "./memory.ts";
import type { AttemptResult } from "./outcome.ts";
import type { Soon } from "./soon.ts";
import type { Standing } from "./standing.ts";
import type { Stop } from "./stop.ts";
import type { WriteTarget } from "./write.ts";

/** The work for the objects of one kind: with what it is done, what the kind is, and who does it. */
export interface KindWork {
  readonly runtime: Runtime;
  readonly reporting: KindReporting;
  readonly store: KindStore;
  readonly kind: KindDescription;
  /** The user's class, where the resource was declared by one. */
  readonly kindClass: KindClass | undefined;
  readonly target: WriteTarget;
  /** Whether the kind's schema keeps `status.<id>`. */
  readonly keepsResult: (id: string) => boolean;
  /** The kind was made by `resource()`: what its conditions say of the work for an object is this operator's to say. */
  readonly ownsConditions: boolean;
  /** What is wanted of an object of this kind, as its handlers see it. */
  readonly essenceOf: (body: KubeBody) => Essence;
  /** Whether the essence of `body` is the one that was seen. */
  readonly wantsSame: (body: KubeBody, seen: SeenEssence) => boolean;
  /** The API server dropped the record from the status: keep it elsewhere from now on. */
  readonly recordNotKept: () => void;
  readonly handlers: KindHandlers;
  readonly views: KindViews;
}

/** A body and its essence. */
export interface SeenEssence {
  readonly body: KubeBody;
  readonly essence: Essence;
}

/** Who works for the objects of a kind. */
export interface KindHandlers {
  readonly changes: readonly ChangeHandler[];
  readonly events: readonly EventHandler[];
  readonly failures: readonly FailureHandler[];
  /** Timers and daemons; undefined when the kind has none. */
  readonly background: BackgroundWork | undefined;
  /** Reconcilers; undefined when the kind has none. */
  readonly reconcilers: ReconcileWork | undefined;
}

/** What handlers see beside their object. */
export interface KindViews {
  readonly indexes: Indexes;
  /** What a handler can read without asking the API server. */
  readonly reads: (handler: string, client: () => Client, namespace: string | undefined) => CachedReads;
  /** The notes of an object. */
  readonly memoOf: (memory: ObjectMemory) => Memo;
}

/** What the context of one attempt is made of. What costs something is made when it is asked for. */
export interface ContextParts {
  readonly work: KindWork;
  readonly handler: { readonly id: string; readonly param: unknown };
  /** What is remembered of the object; undefined where nothing is. */
  readonly memory: ObjectMemory | undefined;
  /** The state that the handler is shown. */
  readonly body: KubeBody;
  readonly logger: Logger;
  /** By which the run is found again. */
  readonly runId: string;
  /** Ends the attempt. */
  readonly stop: Stop;
  readonly patch: Patch<KubeBody>;
  readonly conditions: () => ConditionsDraft;
}

/** A handler of an object that can be executed; index functions are asked, not executed. */
export type ObjectHandler = Exclude<Handler, IndexHandler>;

/** What may be done in an object's turn besides its handlers of changes: all of it becomes part of the turn's one write. */
export interface TurnRunner {
  /** The newest known body. */
  readonly body: KubeBody;
  /** When timers with a schedule last ran, by their ids: goes into the record. */
  ranAt: Record<string, string> | undefined;
  /** Whether a handler of this turn wants to change something. */
  readonly wantsChanges: boolean;
  /** One attempt of any handler of the turn, and what it wants to change. `retry` is how many there were before. */
  attempt(
    handler: ObjectHandler,
    body: KubeBody,
    timeoutMs: number | undefined,
    call: (parts: ContextParts) => unknown,
    retry?: number,
  ): Soon<AttemptResult>;
  /** Adds a change that the framework itself wants. */
  change(changes: JsonObject): void;
  /** Says something of the object that the framework itself has found, where the kind has room for it. */
  condition(type: string, status: boolean, reason: string, message: string): void;
  /** Takes back what was said of the object, where it was. */
  removeCondition(type: string): void;
  /** Whether a handler of this turn has said something under this type. */
  hasConditionChange(type: string): boolean;
}

/** An object's turn, as far as timers, daemons and reconcilers are concerned. */
export interface BackgroundTurn {
  readonly work: KindWork;
  readonly memory: ObjectMemory;
  readonly body: KubeBody;
  readonly runner: TurnRunner;
  readonly logger: Logger;
}

/**
 * Timers and daemons, as the turn sees them. They live in a room above; a turn only gives them their chance, so that
 * whatever a timer wants to change is part of the turn's one write.
 */
export interface BackgroundWork {
  /** Runs what is due and begins or ends what has to; resolves with when something is due next (monotonic). */
  runDue(turn: BackgroundTurn): Promise<number | undefined>;
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

/**
 * Reconcilers, as the turn sees them. Like background work they live in a room above, and run within the turn of their
 * object.
 */
export interface ReconcileWork {
  /** Runs the reconcilers that are due; resolves with when one is due next (monotonic). */
  runDue(turn: BackgroundTurn): Promise<number | undefined>;
  /** The turn has written its object over `base`, with no other client's change in between; `by`: who wanted what. */
  wrote(memory: ObjectMemory, base: KubeBody, body: KubeBody, by: readonly Contribution[]): void;
  /** When a reconciler is due because of what the turn has written (monotonic); undefined when none is. */
  next(turn: BackgroundTurn): number | undefined;
  /** The object is gone. */
  forget(memory: ObjectMemory): void;
  /** How the reconcilers that report it stand for an object; undefined while one of them has not run yet. */
  standings(memory: ObjectMemory): readonly Standing[] | undefined;
  /** Tries again at once what waits for it, or has failed for good; the ids of those reconcilers. */
  retry(memory: ObjectMemory): readonly string[];
  /** Something has happened outside of the cluster: all of them are due. */
  wake(memory: ObjectMemory): void;
  /** The reconciler behind a handler's id; undefined for handlers of other sorts. */
  writerOf(memory: ObjectMemory, handler: string): unknown;
  /** Whether a filter may look at more than the essence. */
  readonly looksAnywhere: boolean;
}

/** Labels and annotations are part of the essence; a `when` filter may look at the status as well. */
export function filtersLookAnywhere({ handlers: { changes, background, reconcilers } }: KindWork): boolean {
  return (
    background?.looksAnywhere === true ||
    reconcilers?.looksAnywhere === true ||
    changes.some(({ filters }) => filters.when !== undefined)
  );
}

/** An object as the log and traces name it. */
export function referenceTo({ kind }: Pick<KindWork, "kind">, { metadata }: KubeBody): ObjectReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    namespace: metadata?.namespace,
    name: metadata?.name ?? "",
    uid: metadata?.uid,
  };
}
