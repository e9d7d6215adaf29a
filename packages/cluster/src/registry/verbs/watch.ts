import { type Change, RevisionExpired, type StoredObject } from "../../store/index.ts";
import { bareInternal, expired, type Status, StatusError } from "../errors.ts";
import { type ApiObject, fromStore } from "../object.ts";
import { type Endpoint, gvkOf } from "../resource.ts";
import { revisionComplaint } from "./list.ts";
import type { Backend } from "./request.ts";
import { type Selection, selects } from "./select.ts";

/** What a watch asks for besides the selection. */
export interface WatchOptions {
  /** Events after this revision; undefined for the present state and what follows. */
  readonly from: number | undefined;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** What a watcher is told. A bookmark is not an object: it only says how far the watcher has come. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: ApiObject }
  | { readonly type: "BOOKMARK"; readonly object: Record<string, unknown> }
  | { readonly type: "ERROR"; readonly object: Status };

/** Where a watch tells its events to. */
export interface WatchSink {
  event(event: WatchEvent): void;
  /** Nothing more will come. */
  end(): void;
}

/** A watch that is under way. */
export interface Watching {
  stop(): void;
  /** Tells the watcher the present revision, when it takes bookmarks. */
  bookmark(): void;
}

/** Follows a collection from the revision that the client names. Events may reach the sink before this returns. */
export function watch(
  backend: Backend,
  endpoint: Endpoint,
  selection: Selection,
  options: WatchOptions,
  sink: WatchSink,
): Watching {
  const { store } = backend;
  const { table } = endpoint.resource;
  const { from } = options;
  if (endpoint.version.codec.prepareReads) return watchConverted(backend, endpoint, selection, options, sink);
  const wantsState = options.sendInitialEvents ?? from === undefined;
  const present = store.revision;

  if (wantsState) {
    for (const entry of store.list(table, selection.namespace === undefined ? "" : `${selection.namespace}/`)) {
      const object = endpoint.version.codec.fromStorage(fromStore(entry.object));
      if (selects(selection, endpoint, object)) sink.event({ type: "ADDED", object });
    }
    if (options.sendInitialEvents && options.allowBookmarks) {
      sink.event(bookmarkAt(endpoint, present, { "k8s.io/initial-events-end": "true" }));
    }
  }
  const stop = follow(store, endpoint, wantsState || from === undefined ? present : from, sink, (change) => {
    const event = toEvent(endpoint, selection, change);
    if (event) sink.event(event);
  });
  return {
    stop,
    bookmark() {
      if (options.allowBookmarks) sink.event(bookmarkAt(endpoint, store.revision));
    },
  };
}

/**
 * The same where every object has to be converted by a webhook first. Events wait for each other, so that they come in
 * order; a conversion that fails ends the watch.
 */
function watchConverted(
  backend: Backend,
  endpoint: Endpoint,
  selection: Selection,
  options: WatchOptions,
  sink: WatchSink,
): Watching {
  const { codec } = endpoint.version;
  const prepare = (objects: readonly StoredObject[]) => codec.prepareReads?.(objects.map(fromStore));
  let over = false;
  let queue: Promise<void> = Promise.resolve();
  const then = (step: () => void | Promise<void> | undefined) => {
    queue = queue.then(async () => {
      if (!over) await step();
    });
    queue = queue.catch((error: unknown) => {
      over = true;
      const status = error instanceof StatusError ? error : bareInternal(String(error));
      sink.event({ type: "ERROR", object: status.toStatus() });
      sink.end();
    });
  };
  const { store } = backend;
  const { table } = endpoint.resource;
  const wantsState = options.sendInitialEvents ?? options.from === undefined;
  const present = store.revision;
  if (wantsState) {
    const entries = store.list(table, selection.namespace === undefined ? "" : `${selection.namespace}/`);
    then(() => prepare(entries.map((entry) => entry.object)));
    then(() => {
      for (const entry of entries) {
        const object = codec.fromStorage(fromStore(entry.object));
        if (selects(selection, endpoint, object)) sink.event({ type: "ADDED", object });
      }
      if (options.sendInitialEvents && options.allowBookmarks) {
        sink.event(bookmarkAt(endpoint, present, { "k8s.io/initial-events-end": "true" }));
      }
    });
  }
  const stop = follow(store, endpoint, wantsState ? present : (options.from ?? present), sink, (change) => {
    then(() => prepare([change.object, ...(change.previous ? [change.previous.object] : [])]));
    then(() => {
      const event = toEvent(endpoint, selection, change);
      if (event) sink.event(event);
    });
  });
  return {
    stop() {
      over = true;
      stop();
    },
    bookmark() {
      const { revision } = store;
      if (options.allowBookmarks) then(() => sink.event(bookmarkAt(endpoint, revision)));
    },
  };
}

/** Follows a table; a start that is too old is told to the sink, and there is nothing to follow. */
function follow(
  store: Backend["store"],
  { resource }: Endpoint,
  from: number,
  sink: WatchSink,
  listener: (change: Change) => void,
): () => void {
  try {
    return store.watch(resource.table, from, listener);
  } catch (error) {
    if (!(error instanceof RevisionExpired)) throw error;
    const text = resource.strategy.uncached
      ? "The resourceVersion for the provided watch is too old."
      : `too old resource version: ${error.requested} (${error.oldest})`;
    sink.event({ type: "ERROR", object: expired(text).toStatus() });
    sink.end();
    return () => {};
  }
}

/** Reads where a watch starts. Undefined: from the present, beginning with what is there. */
export function parseWatchStart(resourceVersion: string | null): number | undefined {
  if (resourceVersion === null || resourceVersion === "" || resourceVersion === "0") return undefined;
  const complaint = revisionComplaint(resourceVersion);
  if (complaint === undefined) return Number(resourceVersion);
  throw bareInternal(complaint);
}

/** A change as a watcher with this selection sees it: entering the selection is ADDED, leaving it is DELETED. */
export function toEvent(endpoint: Endpoint, selection: Selection, change: Change): WatchEvent | undefined {
  const { codec } = endpoint.version;
  const now = codec.fromStorage(fromStore(change.object));
  const before = change.previous && codec.fromStorage(fromStore(change.previous.object));
  const was = before !== undefined && selects(selection, endpoint, before);
  if (change.type === "deleted") return was ? { type: "DELETED", object: now } : undefined;
  const is = selects(selection, endpoint, now);
  if (is) return { type: was ? "MODIFIED" : "ADDED", object: now };
  if (!was) return undefined;
  const metadata = { ...before.metadata, resourceVersion: now.metadata.resourceVersion };
  return { type: "DELETED", object: { ...before, metadata } };
}

function bookmarkAt(endpoint: Endpoint, revision: number, annotations?: Record<string, string>): WatchEvent {
  const { kind, apiVersion } = gvkOf(endpoint);
  const said = annotations ? { annotations } : {};
  const resourceVersion = String(revision);
  const object = endpoint.resource.custom
    ? { apiVersion, kind, metadata: { ...said, resourceVersion } }
    : { kind, apiVersion, metadata: { resourceVersion, ...said } };
  return { type: "BOOKMARK", object };
}
