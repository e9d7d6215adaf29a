/** Puts the work for one kind together: its handlers, where it is remembered, and what handlers see beside their object. */
import type { KubeBody } from "@lotse/client";
import { deepEqual } from "@lotse/client/meta";
import {
  type ChangeHandler,
  type EventHandler,
  type FailureHandler,
  fieldKeys,
  type Handler,
  isResourceClass,
  type Memo,
  type ReconcileHandler,
  type SettingsPlan,
  withUsualBackoff,
} from "../declare/index.ts";
import type { KindCapabilities, OperatorIndexes } from "../informers/index.ts";
import { type Author, ReadSession, type TrackedKinds } from "../reconcile/index.ts";
import type { KindReporting } from "../report/index.ts";
import type { KindStore, Runtime } from "../runtime/index.ts";
import {
  areAlike,
  type BackgroundWork,
  essenceOf,
  fieldsOf,
  type KindWork,
  memoOf,
  observeRead,
  type ReconcileWork,
  storageOf,
} from "../turn/index.ts";
import type { Readers } from "./readers.ts";

/** What a controller brings. */
export interface KindWorkParts extends Pick<KindWork, "recordNotKept"> {
  readonly runtime: Runtime;
  readonly reporting: KindReporting;
  readonly store: KindStore;
  readonly capabilities: KindCapabilities;
  /** Whether the status keeps the record, as far as the API server's answers have shown. */
  readonly keepsRecord: boolean;
  readonly handlers: readonly Handler[];
  readonly background: BackgroundWork | undefined;
  readonly reconcilers: ReconcileWork | undefined;
  readonly indexes: OperatorIndexes<Author>;
  readonly tracked: TrackedKinds;
  /** Told who reads what. */
  readonly readers: Readers;
  /** What each object's memo begins with. */
  readonly memo: Memo;
}

/** The handlers of one sort. */
export function handlersOf<T extends Handler>(handlers: readonly Handler[], type: T["type"]): T[] {
  return handlers.filter((handler): handler is T => handler.type === type);
}

/** What a handler does not say itself, the operator's settings say. */
export function withUsual<H extends Handler>(handler: H, { backoff }: SettingsPlan): H {
  return "retry" in handler ? { ...handler, retry: withUsualBackoff(handler.retry, backoff) } : handler;
}

/** Several reconcilers of one kind share its queue: the most careful one decides. */
export function concurrencyOf(handlers: readonly ReconcileHandler[]): number | undefined {
  const wanted = handlers.flatMap(({ concurrency }) => concurrency ?? []);
  return wanted.length === 0 ? undefined : Math.min(...wanted);
}

/** See the module comment. */
export function kindWork(parts: KindWorkParts): KindWork {
  const { runtime, reporting, store, capabilities, handlers, background, reconcilers } = parts;
  const { kind, kindClass, hasStatus, keepsField } = capabilities;
  const { operator, formerNames, settings } = runtime;
  const changes = handlersOf<ChangeHandler>(handlers, "change");
  const { finalizer, ignore, storage: chosen } = settings.persistence;
  const usual = storageOf({ operator, formerNames, storage: chosen, keepsRecord: parts.keepsRecord });
  const storage = finalizer === undefined ? usual : { ...usual, finalizer };
  const fields = fieldsOf(changes);
  const ignored = ignore.map((path) => fieldKeys(path));
  const wanted = (body: KubeBody) => storage.clear(essenceOf(body, fields, ignored));
  return {
    runtime,
    reporting,
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
    essenceOf: wanted,
    // A field that a handler names may be anywhere.
    wantsSame: (body, seen) =>
      (fields.length === 0 && areAlike(body, seen.body)) || deepEqual(wanted(body), seen.essence),
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
    views: viewsOf(parts),
  };
}

function viewsOf({ reporting, indexes, tracked, readers, memo: first }: KindWorkParts): KindWork["views"] {
  return {
    indexes: indexes.view,
    reads: (handler, client, namespace) =>
      new ReadSession({
        reader: undefined,
        tracked,
        client,
        indexes: indexes.view,
        namespace,
        onRead: (read, wanted) => {
          readers.note(handler, read, wanted);
          observeRead(reporting.onHandlerRequest, handler, read, namespace);
        },
      }).reads,
    memoOf: (memory) => memoOf(memory, () => memoFrom(first)),
  };
}

/** An object's memo begins with the operator's notes; their own `clone` may say how. */
export function memoFrom(memo: Memo): Memo {
  const { clone } = memo;
  return typeof clone === "function" ? (clone.call(memo) as Memo) : { ...memo };
}
