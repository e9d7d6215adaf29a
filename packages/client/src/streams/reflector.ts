/**
 * A copy of what is in the cluster that one supervised stream keeps true, under every informer. It tells what changed,
 * once: duplicates and echoes of own writes are recognised here, and a re-list is compared with what is known, so that no
 * deletion is missed.
 */
import type { KindDescription, KubeBody, ObjectBody } from "../kinds/index.ts";
import { type Clock, type ObjectKey, objectKey, systemClock } from "../meta/index.ts";
import type { StreamClient, StreamOptions, StreamState } from "./contract.ts";
import { ObjectStore } from "./store.ts";
import { openStream } from "./stream.ts";

/** What a reflector tells, in the order of the server's versions. What a listener throws ends the stream. */
export interface ReflectorListener<B extends ObjectBody = KubeBody> {
  /** An object is there or has changed. */
  changed(body: B, change: ReflectorChange<B>): void;
  /** The stream shows an own write: known already, but part of the raw stream. */
  echoed?(body: B): void;
  /**
   * An object is gone; `body` is what the stream said of its end, else the last that is known. `before` is what was known
   * of it, and undefined when its end was known already.
   */
  gone(body: B, before: B | undefined): void;
  /** The first list is complete. */
  onSynced?(): void;
  /** The stream's state changed. */
  state?(state: StreamState): void;
}

/** How an object has changed. */
export interface ReflectorChange<B extends ObjectBody = KubeBody> {
  readonly type: "ADDED" | "MODIFIED";
  /** It was there when the stream began. */
  readonly initial: boolean;
  /** What was known of it. */
  readonly before: B | undefined;
}

/**
 * See the module comment.
 *
 * @example
 * ```ts
 * const pods = new Reflector<corev1.Pod>(client, { namespace: "default" }, {
 *   changed: (pod, { before }) => console.log(before ? "changed" : "new", pod.metadata?.name),
 *   gone: (pod) => console.log("gone", pod.metadata?.name),
 * });
 * await pods.run(signal, Pod.description);
 * ```
 */
export class Reflector<B extends ObjectBody = KubeBody> {
  readonly #client: StreamClient;
  readonly #o: StreamOptions;
  readonly #listener: ReflectorListener<B>;
  readonly #clock: Clock;
  readonly #store = new ObjectStore<B>();
  #synced = false;
  #state: StreamState | undefined;
  #heardAt: number | undefined;

  /** Begins with {@link run}. */
  constructor(client: StreamClient, o: StreamOptions, listener: ReflectorListener<B>) {
    this.#client = client;
    this.#o = o;
    this.#listener = listener;
    this.#clock = o.clock ?? systemClock;
  }

  /** Whether the first list is complete. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Number of objects that the stream has shown. */
  get size(): number {
    return this.#store.size;
  }

  /** What the stream does; undefined before it begins. */
  get stream(): StreamState | undefined {
    return this.#state;
  }

  /** When the last list, event or bookmark came, or the stream was first opened (monotonic). */
  get heardAt(): number | undefined {
    return this.#heardAt;
  }

  /** The newest known body, own writes included. */
  get(key: ObjectKey): B | undefined {
    return this.#store.get(key);
  }

  /** All known objects, own writes included. */
  values(): IterableIterator<B> {
    return this.#store.values();
  }

  /** Lays the answer to an own write over what the stream has shown; whether it is news. */
  wrote(body: B): boolean {
    if (this.#o.keepManagedFields) return this.#store.wrote(body);
    const { managedFields: _managedFields, ...metadata } = body.metadata ?? {};
    return this.#store.wrote({ ...body, metadata });
  }

  /** The server answered that an object is gone; the last known body, if that is news. */
  deleted(key: ObjectKey, uid: string): B | undefined {
    return this.#store.deleted(key, uid);
  }

  /**
   * Streams until `signal` aborts. May be called again, also for another version of the kind: what is known by then is
   * compared with the first list.
   */
  async run(signal: AbortSignal, kind: KindDescription): Promise<void> {
    if (this.#heardAt === undefined) this.#heard();
    await openStream<B>(
      this.#client,
      kind,
      this.#o,
      {
        replace: (items, version) => {
          this.#heard();
          this.#replace(items, version);
        },
        apply: (body, type) => {
          this.#heard();
          this.#apply(body, type, false);
        },
        remove: (body) => {
          this.#heard();
          this.#remove(body, body);
        },
        // Versions of an object share what did not change between them.
        known: (object) => this.#store.shown.get(objectKey(object)),
        bookmark: (version) => {
          this.#heard();
          this.#reached(version);
        },
        state: (state) => {
          this.#state = state;
          this.#listener.state?.(state);
        },
      },
      signal,
    );
  }

  #heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  #apply(body: B, type: "ADDED" | "MODIFIED", initial: boolean): void {
    const change = this.#store.streamed(body);
    if (change.type === "known") {
      if (change.echo) this.#listener.echoed?.(body);
      return;
    }
    // Deleted and created again between two looks: the old one is gone, whatever its name.
    const { replaced } = change;
    const same = replaced?.metadata?.uid === body.metadata?.uid;
    if (replaced && !same) this.#listener.gone(replaced, replaced);
    this.#listener.changed(body, { type, initial, before: same ? replaced : undefined });
  }

  /** `told` is what the stream said of the end; a list that lacks the object says nothing. */
  #remove(body: B, told: B | undefined): void {
    const before = this.#store.get(objectKey(body));
    const last = this.#store.removed(body);
    if (last) this.#listener.gone(told ?? last, before);
  }

  /** What was created and deleted again between two looks is gone as well. */
  #reached(version: string): void {
    for (const body of this.#store.reached(version)) this.#listener.gone(body, body);
  }

  #replace(items: readonly B[], version: string): void {
    const present = new Set(items.map(objectKey));
    for (const [key, body] of [...this.#store.shown]) if (!present.has(key)) this.#remove(body, undefined);
    const initial = !this.#synced;
    for (const body of items) this.#apply(body, "ADDED", initial);
    this.#reached(version);
    if (this.#synced) return;
    this.#synced = true;
    this.#listener.onSynced?.();
  }
}
