import { type Backend, type Endpoint, type Selection, type WatchEvent, watch } from "../../registry/index.ts";
import type { Headers, StreamResponse, StreamSink } from "../exchange.ts";
import type { watchOptions } from "./options.ts";

/** How often a watcher that takes bookmarks is told how far it has come. */
const BOOKMARK_MS = 60_000;
/** The last bookmark comes a little before the server ends a watch, so that the client can go on from there. */
const LAST_BOOKMARK_MS = 2_000;
/** How long those who watch objects of a definition that changes or goes are still served. */
const TEAR_DOWN_MS = 1_000;
/** Without a limit of their own, watches end after this long, and up to twice it so that not all end together. */
const DEFAULT_TIMEOUT_MS = 1_800_000;

/** Writes an event with what the client asked for: the object itself, a row of a table, or its metadata. */
export type EventWriter = (event: WatchEvent) => string | Uint8Array;

/** A watch as an answer: one JSON object a line. */
export function watchResponse(
  backend: Backend,
  endpoint: Endpoint,
  selection: Selection,
  options: ReturnType<typeof watchOptions>,
  write: EventWriter,
  headers: Headers,
): StreamResponse {
  return {
    type: "stream",
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "no-cache, private", ...headers },
    start: (sink) => startWatch(backend, endpoint, selection, options, write, sink),
  };
}

function startWatch(
  backend: Backend,
  endpoint: Endpoint,
  selection: Selection,
  options: ReturnType<typeof watchOptions>,
  write: EventWriter,
  sink: StreamSink,
): () => void {
  const { clock, catalog } = backend;
  const cleanups: (() => void)[] = [];
  let over = false;
  const stop = () => {
    if (over) return;
    over = true;
    for (const cleanup of cleanups) cleanup();
  };
  const end = () => {
    if (over) return;
    stop();
    sink.end();
  };
  const watching = watch(backend, endpoint, selection, options, {
    event: (event) => {
      if (over) return;
      try {
        sink.write(write(event));
      } catch {
        // Something that cannot be written must not stop the writer whose change this is.
        stop();
        sink.reset();
      }
    },
    end,
  });
  if (over) {
    watching.stop();
    return stop;
  }
  cleanups.push(watching.stop);

  // A definition that changes or goes ends the watches of its objects: they would go on with an outdated schema. As on a
  // real server not at once, so that the watchers still see the last of the objects go.
  const { resource, version } = endpoint;
  const stopListening = catalog.onChange(() => {
    if (catalog.find(resource.group, version.version, resource.plural)?.version === version) return;
    stopListening();
    cleanups.push(clock.after(TEAR_DOWN_MS, end));
  });
  cleanups.push(stopListening);
  const timeoutMs =
    options.timeoutSeconds > 0 ? options.timeoutSeconds * 1_000 : DEFAULT_TIMEOUT_MS * (1 + backend.random());
  cleanups.push(clock.after(timeoutMs, end));
  if (options.allowBookmarks) {
    let cancelNext = () => {};
    const schedule = () => {
      cancelNext = clock.after(BOOKMARK_MS, () => {
        watching.bookmark();
        schedule();
      });
    };
    schedule();
    cleanups.push(() => cancelNext());
    if (timeoutMs > LAST_BOOKMARK_MS) cleanups.push(clock.after(timeoutMs - LAST_BOOKMARK_MS, watching.bookmark));
  }
  return stop;
}
