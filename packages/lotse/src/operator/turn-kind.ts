/** Puts together what the turns of one kind need: its handlers, its storage, and their surroundings. */
import { apiVersionOf, type KindDescription, type KubeBody } from "@lotse/client";
import {
  type ChangeHandler,
  type EventHandler,
  type FailureHandler,
  fieldKeys,
  type Handler,
  isResourceClass,
  type Memo,
} from "../declare/index.ts";
import type { KindCapabilities } from "../informers/index.ts";
import { ReadSession } from "../reconcile/index.ts";
import type { Journal, KindMeasures, Logger } from "../report/index.ts";
import {
  type BackgroundWork,
  essenceOf,
  fieldsOf,
  type LevelWork,
  type RecordStorage,
  recordRead,
  type TurnKind,
} from "../turn/index.ts";
import type { ControllerShared } from "./shared.ts";

/** What a controller brings. */
export interface TurnParts extends Pick<TurnKind, "newest" | "wrote" | "wake" | "recordNotKept" | "attempts" | "told"> {
  readonly shared: ControllerShared;
  readonly capabilities: KindCapabilities;
  readonly handlers: readonly Handler[];
  readonly storage: RecordStorage;
  readonly background: BackgroundWork | undefined;
  readonly level: LevelWork | undefined;
  readonly logger: Logger;
  readonly measures: KindMeasures;
  readonly journal: Journal;
}

/** The handlers of one sort. */
export function handlersOf<T extends Handler>(handlers: readonly Handler[], type: T["type"]): T[] {
  return handlers.filter((handler): handler is T => handler.type === type);
}

/** See the module comment. */
export function describeTurns(parts: TurnParts): TurnKind {
  const { shared, capabilities, handlers, logger, recordNotKept } = parts;
  const { operator, settings, events } = shared;
  const { kind, kindClass, hasStatus, keepsField } = capabilities;
  const changes = handlersOf<ChangeHandler>(handlers, "change");
  const { finalizer, ignore } = settings.persistence;
  const storage = finalizer === undefined ? parts.storage : { ...parts.storage, finalizer };
  const fields = fieldsOf(changes);
  const ignored = ignore.map((path) => fieldKeys(path));
  const { client, clock, random, metrics, traces, handlerWrote, record, stopping, plan } = shared;
  const { background, level, measures, journal, attempts, told, newest, wrote, wake } = parts;
  return {
    operator,
    kind,
    kindClass,
    changes,
    events: handlersOf<EventHandler>(handlers, "event"),
    failures: handlersOf<FailureHandler>(handlers, "failure"),
    background,
    level,
    target: {
      description: kind,
      hasStatus,
      storage,
      fieldManager: operator,
      handlers: changes.map(({ id }) => id),
    },
    keepsResult: keepsField,
    ownsConditions: isResourceClass(kindClass),
    essenceOf: (body) => storage.clear(essenceOf(body, fields, ignored)),
    indexes: shared.indexes.view,
    client,
    clock,
    random,
    logger,
    metrics,
    traces,
    measures,
    journal,
    attempts,
    told,
    memoOf: (memory) => {
      memory.memo ??= memoFrom(shared.memo);
      return memory.memo;
    },
    newest,
    wrote,
    handlerWrote,
    reads: (handler, client, namespace) =>
      new ReadSession({
        reader: undefined,
        tracked: shared.tracked,
        client,
        indexes: shared.indexes.view,
        namespace,
        onRead: (read) => recordRead(record, handler, read, namespace),
      }).reads,
    record,
    post: (body, type, reason, message) => events.post({ type, reason, message, object: subjectOf(body, kind) }),
    wake,
    recordNotKept: () => {
      logger.warn("the kind's status does not keep the operator's record, an annotation is used instead", {
        hint: "install the CRD of this version of the operator",
      });
      recordNotKept();
    },
    stopping,
    settings,
    plan,
  };
}

/** Whom an Event is about: handlers may speak of other objects than their own, and items of lists say no kind. */
function subjectOf(body: KubeBody, kind: KindDescription) {
  return {
    apiVersion: body.apiVersion ?? apiVersionOf(kind),
    kind: body.kind ?? kind.kind,
    namespace: body.metadata?.namespace,
    name: body.metadata?.name ?? "",
    uid: body.metadata?.uid,
    resourceVersion: body.metadata?.resourceVersion,
  };
}

/** An object's memo begins with the operator's notes; their own `clone` may say how. */
function memoFrom(memo: Memo): Memo {
  const { clone } = memo;
  return typeof clone === "function" ? (clone.call(memo) as Memo) : { ...memo };
}
