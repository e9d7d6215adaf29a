/**
 * What this operator knows of the objects of one kind, and in which order the rooms hear of a change: the streams bring
 * it, the API server's answers to own writes are laid over it, then the indexes are told, then the reconcilers that have
 * read it, and then the object's own mailbox.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import {
  type IdentityKey,
  identityKey,
  type LabelSelector,
  type ObjectKey,
  objectKey,
  objectKeyIn,
  type ShardSelector,
  uidIn,
} from "@lotse/client/meta";
import { type IndexHandler, isSelected } from "../declare/index.ts";
import {
  type InformerChange,
  type KindCapabilities,
  KindStreams,
  type ObjectListener,
  type OperatorIndexes,
  type Scopes,
} from "../informers/index.ts";
import { type Author, KindView, NewState, type Reader } from "../reconcile/index.ts";
import type { Logger } from "../report/index.ts";
import type { HandlerWrite, Runtime, StoredObject } from "../runtime/index.ts";
import type { Keeping } from "./keeping.ts";
import { referenceOf } from "./last-writes.ts";
import { tellOfIndex } from "./notices.ts";

/** What a {@link KindCache} is made of. */
export interface KindCacheParts {
  readonly runtime: Runtime;
  readonly capabilities: KindCapabilities;
  readonly scopes: Pick<Scopes, "current">;
  /** The indexes of the operator, and those of their functions that are for this kind. */
  readonly indexes: OperatorIndexes<Author>;
  readonly indexHandlers: readonly IndexHandler[];
  readonly logger: Logger;
  /** The mailboxes of the objects; undefined when no handler works for single objects of the kind. */
  readonly mailboxes: Mailed | undefined;
  /** What of it is worth its memory. */
  readonly keeping: Pick<Keeping, "keeps" | "shard" | "labels" | "cut" | "kept" | "covers">;
  /** Told of each state of each object; undefined where the kind promises nothing. */
  readonly objective: Observing | undefined;
}

/** Looks on. */
export interface Observing {
  see(body: KubeBody, initial?: boolean): void;
  forget(key: IdentityKey): void;
}

/** Told of single objects, after everybody who may be asked about them. */
export interface Mailed {
  changed(body: KubeBody, change: InformerChange): void;
  /** A handler of this operator has written the object. */
  ownWrite(body: KubeBody): void;
  /** The stream shows a write of this operator. */
  echoed(body: KubeBody): void;
  gone(body: KubeBody): void;
  /** The object is there, and not this process's any more. */
  lost(body: KubeBody): void;
}

/** See the module comment. */
export class KindCache implements ObjectListener {
  readonly #parts: KindCacheParts;
  readonly #kind: KindDescription;
  readonly streams: KindStreams;
  /** What reconcilers see of the kind. */
  readonly view: KindView;
  /** Whether an object is kept; undefined: all are. */
  readonly keeps?: (body: KubeBody) => boolean;
  /** What is kept of an object; undefined: all of it. */
  readonly cut?: (body: KubeBody) => KubeBody;

  constructor(parts: KindCacheParts) {
    this.#parts = parts;
    const { kind, kindClass } = parts.capabilities;
    this.#kind = kind;
    if (parts.keeping.keeps) this.keeps = parts.keeping.keeps;
    if (parts.keeping.cut) this.cut = parts.keeping.cut;
    this.streams = new KindStreams(parts.runtime, parts.scopes, kind, parts.logger, this);
    this.view = new KindView(kind, kindClass, this.streams, (wanted) => parts.keeping.covers(wanted));
  }

  shard(): ShardSelector | undefined {
    return this.#parts.keeping.shard();
  }

  metadataOnly(): boolean {
    const { kept } = this.#parts.keeping;
    return kept !== "all" && kept.length === 0;
  }

  commonLabels(): LabelSelector {
    return this.#parts.keeping.labels();
  }

  /** The newest body of the object that has this name. */
  get(key: ObjectKey): KubeBody | undefined {
    return this.streams.get(key);
  }

  /** The newest body of an object; undefined when it is gone, even if another object has its name now. */
  newest(key: IdentityKey): KubeBody | undefined {
    const body = this.streams.get(objectKeyIn(key));
    return (body?.metadata?.uid ?? "") === uidIn(key) ? body : undefined;
  }

  /** The same where its name is at hand: turns ask several times. */
  newestOf({ objectKey: name, uid }: StoredObject): KubeBody | undefined {
    const body = this.streams.get(name);
    return (body?.metadata?.uid ?? "") === uid ? body : undefined;
  }

  changed(body: KubeBody, change: InformerChange): void {
    const by = newState(body);
    this.#index(body, by);
    this.view.changed(change.before, body, by);
    this.#parts.objective?.see(body, change.initial || (this.keeps !== undefined && change.listed === true));
    this.#parts.mailboxes?.changed(body, change);
  }

  echoed(body: KubeBody): void {
    this.#parts.mailboxes?.echoed(body);
  }

  gone(body: KubeBody, before: KubeBody | undefined): void {
    if (before) this.forget(before);
    this.#parts.mailboxes?.gone(body);
  }

  dropped(body: KubeBody): void {
    this.forget(body);
    this.#parts.mailboxes?.lost(body);
  }

  /** This process works on other objects than before. */
  ownershipChanged(): void {
    const own = this.#parts.indexHandlers.filter((handler) => handler.own);
    if (own.length === 0) return;
    for (const body of this.streams.values()) this.#index(body, newState(body), own);
  }

  /** An object is gone, or is no longer this operator's. */
  forget(last: KubeBody, by?: Reader): void {
    this.#parts.indexes.remove(this.#parts.indexHandlers, last, by);
    this.view.changed(last, undefined, by);
    this.#parts.objective?.forget(identityKey(last));
  }

  /** The API server has answered the write of a turn. */
  wrote(body: KubeBody): void {
    const informer = this.streams.covering(body.metadata?.namespace);
    const key = objectKey(body);
    const before = informer?.get(key);
    if (!before && this.#isUnasked(body)) return;
    // Turns show it to handlers frozen, and hold it as what they have last seen.
    if (!informer?.wrote(body, true)) return;
    const by = newState(body);
    const now = informer.get(key);
    this.#index(now ?? body, by);
    this.view.changed(before, now, by);
    this.#parts.objective?.see(now ?? body);
  }

  /** The API server has answered the write of a handler: it is known at once, and the objects that it concerns are woken. */
  handlerWrote(body: KubeBody, { verb, writer }: HandlerWrite): void {
    const informer = this.streams.covering(body.metadata?.namespace);
    const uid = body.metadata?.uid;
    if (!informer || !uid) return;
    const by = writer as Reader | undefined;
    const key = objectKey(body);
    if (verb === "delete" && isOver(body)) {
      const last = informer.deleted(key, uid);
      if (last) this.forget(last, by);
      else by?.claim(body, true);
      return;
    }
    const before = informer.get(key);
    if (!before && this.#isUnasked(body)) return;
    informer.wrote(body);
    const now = informer.get(key) ?? body;
    this.#index(now, by);
    if (now.metadata?.resourceVersion !== body.metadata?.resourceVersion) return;
    const news = before?.metadata?.resourceVersion !== now.metadata?.resourceVersion;
    if (news) this.view.changed(before, now, by);
    else by?.claim(now, false);
    this.#parts.objective?.see(now);
    this.#parts.mailboxes?.ownWrite(body);
  }

  /** Whether it is an object that the stream will never show: then nobody here hears of it. */
  #isUnasked(body: KubeBody): boolean {
    const { selection } = this.streams;
    return selection !== undefined && !isSelected(selection, body);
  }

  #index(body: KubeBody, by: Author, handlers = this.#parts.indexHandlers): void {
    const { indexes, logger, runtime } = this.#parts;
    if (handlers.length === 0) return;
    const about = () => logger.about(referenceOf(this.#kind, identityKey(body)));
    const isOwn = handlers.every((handler) => !handler.own) || runtime.ownership.owns(body, this.#kind);
    const fed = isOwn ? handlers : handlers.filter((handler) => !handler.own);
    indexes.update(fed, body, (handler, error, mode) => tellOfIndex(about(), handler, error, mode), by);
    if (!isOwn) {
      const left = handlers.filter((handler) => handler.own);
      indexes.remove(left, body, by);
    }
  }
}

function newState(body: KubeBody): NewState {
  return new NewState(identityKey(body), body.metadata?.resourceVersion);
}

/** Whether a deleted object is gone, and not only marked for deletion: a namespace waits for what is in it. */
function isOver({ apiVersion, kind, metadata, spec }: KubeBody): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = metadata ?? {};
  const isNamespace = apiVersion === "v1" && kind === "Namespace";
  const { finalizers: content = [] } = isNamespace ? ((spec ?? {}) as { finalizers?: readonly string[] }) : {};
  return finalizers.length === 0 && content.length === 0 && !(deletionGracePeriodSeconds > 0);
}
