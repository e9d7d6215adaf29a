import type { KindDescription, ObjectBody, WithBody } from "../kinds/index.ts";
import { objectKey } from "../meta/index.ts";
import { linkSignals } from "../transport/index.ts";
import type { StreamClient, StreamOptions, StreamState } from "./contract.ts";
import { openStream } from "./stream.ts";

/** A change of an object. */
export interface WatchEvent<T> {
  /** `DELETED` after a gap in the stream carries the metadata only: the last full state is not kept. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: T;
}

/** Reading stops while so many events wait for the consumer; the server holds the rest. */
const HIGH_WATER = 1_000;

/** What to watch: known only when the server was asked for the kind. */
interface Subject<T extends WithBody> {
  readonly kind: KindDescription;
  readonly wrap: (body: T["body"]) => T;
  /** Hears each event before the consumer gets it. */
  readonly seen?: ((event: WatchEvent<T["body"]>) => void) | undefined;
}

interface WatchSettings extends StreamOptions {
  readonly initial: "list" | "none";
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly onState?: ((state: StreamState) => void) | undefined;
}

/**
 * The changes of a kind's objects, for ever, over cuts, stalls and expired versions: after a re-list only what differs
 * from what was delivered becomes an event, deletions included. Begins with the first `next()`. Not a generator, because
 * `return()` must end a `next()` that waits.
 */
export class Watch<T extends WithBody> implements AsyncIterableIterator<WatchEvent<T>> {
  readonly #client: StreamClient;
  readonly #subject: () => Promise<Subject<T>>;
  readonly #o: WatchSettings;
  readonly #inbox = new Inbox<WatchEvent<T>>();
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;

  constructor(client: StreamClient, subject: () => Promise<Subject<T>>, o: WatchSettings) {
    this.#client = client;
    this.#subject = subject;
    this.#o = o;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<WatchEvent<T>, undefined>> {
    if (!this.#ended.signal.aborted) this.#running ??= this.#run();
    const event = await this.#inbox.take();
    return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
  }

  /** Closes the connection. */
  async return(): Promise<IteratorResult<WatchEvent<T>, undefined>> {
    this.#ended.abort();
    this.#inbox.close();
    await this.#running;
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #run(): Promise<void> {
    const { onState, signals, initial } = this.#o;
    const { signal, unlink } = linkSignals([this.#ended.signal, ...signals]);
    try {
      const { kind, wrap, seen } = await this.#subject();
      const known = new KnownVersions<T["body"]>(initial === "none");
      const tell = (events: readonly WatchEvent<T["body"]>[]) => {
        if (seen) for (const event of events) seen(event);
        this.#inbox.push(events.map(({ type, object }) => ({ type, object: wrap(object) })));
      };
      await openStream<T["body"]>(
        this.#client,
        kind,
        this.#o,
        {
          replace: (items) => tell(known.replace(items)),
          apply: (body) => tell(known.apply(body)),
          remove: (body) => tell(known.remove(body)),
          drained: () => this.#inbox.drained(HIGH_WATER),
          ...(onState ? { state: onState } : {}),
        },
        signal as AbortSignal,
      );
      this.#inbox.fail(signal?.reason);
    } catch (error) {
      this.#inbox.fail(error);
    } finally {
      unlink();
    }
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
      listed.add(objectKey(body));
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
    const key = objectKey(body);
    const last = this.#told.get(key);
    const { uid, resourceVersion } = body.metadata ?? {};
    if (last?.metadata?.uid === uid && last?.metadata?.resourceVersion === resourceVersion && last) return [];
    this.#told.set(key, slim(body));
    if (last === undefined) return [{ type: "ADDED", object: body }];
    if (last.metadata?.uid === uid) return [{ type: "MODIFIED", object: body }];
    // Another object of the same name: the first one was deleted while the stream was cut.
    return [
      { type: "DELETED", object: last as B },
      { type: "ADDED", object: body },
    ];
  }

  remove(body: B): WatchEvent<B>[] {
    return this.#told.delete(objectKey(body)) ? [{ type: "DELETED", object: body }] : [];
  }
}

function slim({ apiVersion, kind, metadata }: ObjectBody): ObjectBody {
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** A queue between a producer that cannot wait and consumers that do. */
class Inbox<E> {
  #waiting: E[] = [];
  #head = 0;
  /** What comes after the last event; nothing is added any more. */
  #end: { failure?: { reason: unknown } } | undefined;
  #wakes: (() => void)[] = [];
  #onDrained: (() => void) | undefined;

  push(events: readonly E[]): void {
    if (this.#end) return;
    for (const event of events) this.#waiting.push(event);
    if (events.length > 0) this.#wake();
  }

  /** The consumer does not want what is left. */
  close(): void {
    this.#waiting = [];
    this.#head = 0;
    this.#finish({});
  }

  fail(reason: unknown): void {
    this.#finish({ failure: { reason } });
  }

  drained(highWater: number): Promise<void> | undefined {
    if (this.#waiting.length - this.#head < highWater || this.#end) return undefined;
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  /** The next event; `undefined` after `close`. */
  async take(): Promise<E | undefined> {
    while (this.#head >= this.#waiting.length) {
      if (this.#end?.failure) throw this.#end.failure.reason;
      if (this.#end) return undefined;
      await new Promise<void>((resolve) => this.#wakes.push(resolve));
    }
    const event = this.#waiting[this.#head++] as E;
    if (this.#head === this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
      this.#onDrained?.();
    }
    return event;
  }

  #finish(end: { failure?: { reason: unknown } }): void {
    this.#end ??= end;
    this.#wake();
    this.#onDrained?.();
  }

  #wake(): void {
    const wakes = this.#wakes;
    this.#wakes = [];
    for (const wake of wakes) wake();
  }
}
