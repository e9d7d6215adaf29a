import type { KindDescription, ObjectBody } from "../kinds/index.ts";
import { openStream, type StreamClient, type StreamOptions, type StreamState } from "../streams/index.ts";
import { linkSignals } from "../transport/index.ts";
import type { KubeObject } from "./object.ts";

/** A change of an object. */
export interface WatchEvent<T> {
  /** `DELETED` after a gap in the stream carries the metadata only: the last full state is not kept. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: T;
}

/** Reading stops while so many events wait for the consumer; the server holds the rest. */
const HIGH_WATER = 1_000;

/**
 * The changes of a kind's objects, for ever, over cuts, stalls and expired versions: after a re-list only what differs
 * from what was delivered becomes an event, deletions included.
 */
export async function* watchEvents<T extends KubeObject<ObjectBody>>(
  client: StreamClient,
  kind: KindDescription,
  o: StreamOptions & {
    initial: "list" | "none";
    signal: AbortSignal | undefined;
    onState?: ((state: StreamState) => void) | undefined;
  },
  wrap: (body: T["body"]) => T,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const ended = new AbortController();
  const { signal, unlink } = linkSignals([ended.signal, o.signal]);
  const inbox = new Inbox<WatchEvent<T["body"]>>();
  const known = new KnownVersions<T["body"]>(o.initial === "none");
  const stream = openStream<T["body"]>(
    client,
    kind,
    o,
    {
      replace: (items) => inbox.push(known.replace(items)),
      apply: (body) => inbox.push(known.apply(body)),
      remove: (body) => inbox.push(known.remove(body)),
      drained: () => inbox.drained(HIGH_WATER),
      ...(o.onState ? { state: o.onState } : {}),
    },
    signal as AbortSignal,
  );
  stream.then(
    () => inbox.fail(o.signal?.reason),
    (error) => inbox.fail(error),
  );
  try {
    for (;;) {
      const { type, object } = await inbox.take();
      yield { type, object: wrap(object) };
    }
  } finally {
    ended.abort();
    unlink();
    await stream.catch(() => undefined);
  }
}

/** What the consumer has been told of each object. */
class KnownVersions<B extends ObjectBody> {
  readonly #told = new Map<string, ObjectBody>();
  #silent: boolean;

  constructor(silentFirst: boolean) {
    this.#silent = silentFirst;
  }

  replace(items: readonly B[]): WatchEvent<B>[] {
    const events: WatchEvent<B>[] = [];
    const listed = new Set<string>();
    for (const body of items) {
      listed.add(keyOf(body));
      events.push(...this.apply(body));
    }
    for (const [key, last] of this.#told) {
      if (listed.has(key)) continue;
      this.#told.delete(key);
      events.push({ type: "DELETED", object: last as B });
    }
    if (!this.#silent) return events;
    this.#silent = false;
    return [];
  }

  apply(body: B): WatchEvent<B>[] {
    const key = keyOf(body);
    const last = this.#told.get(key);
    const { uid, resourceVersion } = body.metadata ?? {};
    if (last?.metadata?.uid === uid && last?.metadata?.resourceVersion === resourceVersion && last) return [];
    this.#told.set(key, slim(body));
    if (last === undefined) return [{ type: "ADDED", object: body }];
    if (last.metadata?.uid === uid) return [{ type: "MODIFIED", object: body }];
    // Another object of the same name: the first one was deleted while nobody looked.
    return [
      { type: "DELETED", object: last as B },
      { type: "ADDED", object: body },
    ];
  }

  remove(body: B): WatchEvent<B>[] {
    return this.#told.delete(keyOf(body)) ? [{ type: "DELETED", object: body }] : [];
  }
}

const keyOf = ({ metadata }: ObjectBody): string => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;

function slim({ apiVersion, kind, metadata }: ObjectBody): ObjectBody {
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** A queue between a producer that cannot wait and a consumer that does. */
class Inbox<E> {
  #waiting: E[] = [];
  #head = 0;
  #failure: { reason: unknown } | undefined;
  #wake: (() => void) | undefined;
  #onDrained: (() => void) | undefined;

  push(events: readonly E[]): void {
    if (events.length === 0) return;
    for (const event of events) this.#waiting.push(event);
    this.#wake?.();
  }

  fail(reason: unknown): void {
    this.#failure = { reason };
    this.#wake?.();
    this.#onDrained?.();
  }

  drained(highWater: number): Promise<void> | undefined {
    if (this.#waiting.length - this.#head < highWater || this.#failure) return undefined;
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  async take(): Promise<E> {
    while (this.#head >= this.#waiting.length) {
      if (this.#failure) throw this.#failure.reason;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const event = this.#waiting[this.#head++] as E;
    if (this.#head === this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
      this.#onDrained?.();
    }
    return event;
  }
}
