/** Puts together what the turns of one kind need: its handlers, its storage, and their surroundings. */
import { apiVersionOf, type KubeBody } from "@lotse/client";
import {
  type ChangeHandler,
  type EventHandler,
  type FailureHandler,
  fieldKeys,
  type Handler,
  isResourceClass,
  type Memo,
} from "../declare/index.ts";
import type { KindFacts } from "../informers/index.ts";
import { ReadSession } from "../reconcile/index.ts";
import type { KindReporting } from "../report/index.ts";
import type { KindStore } from "../runtime/index.ts";
import {
  type BackgroundWork,
  essenceOf,
  fieldsOf,
  type KindWork,
  memoOf,
  observeRead,
  type ReconcileWork,
  type RecordStorage,
} from "../turn/index.ts";
import type { ControllerShared } from "./shared.ts";

/** What a controller brings. */
export interface TurnParts extends Pick<KindWork, "recordNotKept"> {
  readonly shared: ControllerShared;
  readonly store: KindStore;
  readonly reporting: Omit<KindReporting, "post">;
  readonly facts: KindFacts;
  readonly handlers: readonly Handler[];
  readonly storage: RecordStorage;
  readonly background: BackgroundWork | undefined;
  readonly reconcilers: ReconcileWork | undefined;
}

/** The handlers of one sort. */
export function handlersOf<T extends Handler>(handlers: readonly Handler[], type: T["type"]): T[] {
  return handlers.filter((handler): handler is T => handler.type === type);
}

/** See the module comment. */
export function describeTurns(parts: TurnParts): KindWork {
  const { shared, store, reporting, facts, handlers, background, reconcilers } = parts;
  const { operator, settings, events, indexes, world } = shared;
  const { kind, kindClass, hasStatus, keepsField } = facts;
  const changes = handlersOf<ChangeHandler>(handlers, "change");
  const { finalizer, ignore } = settings.persistence;
  const storage = finalizer === undefined ? parts.storage : { ...parts.storage, finalizer };
  const fields = fieldsOf(changes);
  const ignored = ignore.map((path) => fieldKeys(path));
  return {
    runtime: shared,
    reporting: {
      ...reporting,
      post: (body, type, reason, message) => events.post({ type, reason, message, object: subjectOf(body, facts) }),
    },
    store,
    kind,
    kindClass,
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
    recordNotKept: () => {
      reporting.logger.warn("the kind's status does not keep the operator's record, an annotation is used instead", {
        hint: "install the CRD of this version of the operator",
      });
      parts.recordNotKept();
    },
    handlers: {
      changes,
      events: handlersOf<EventHandler>(handlers, "event"),
      failures: handlersOf<FailureHandler>(handlers, "failure"),
      background,
      reconcilers,
    },
    views: {
      indexes: indexes.view,
      reads: (handler, client, namespace) =>
        new ReadSession({
          reader: undefined,
          world,
          client,
          indexes: indexes.view,
          namespace,
          onRead: (read) => observeRead(reporting.onHandlerRequest, handler, read, namespace),
        }).reads,
      memoOf: (memory) => memoOf(memory, () => memoFrom(shared.memo)),
    },
  };
}

/** Whom an Event is about: handlers may speak of other objects than their own, and items of lists say no kind. */
function subjectOf(body: KubeBody, { kind }: KindFacts) {
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
