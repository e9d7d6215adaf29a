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
  /**
   * Whether an object is kept; default: all are. What is not is never told, takes no memory, and is unknown here though it
   * is in the cluster. Where the answer becomes another: {@link Reflector.purge} for what is kept no longer, and another
   * {@link Reflector.run} for what is.
   */
  keeps?(body: B): boolean;
  /**
   * What is kept of an object; default: all of it. Own writes are cut as well. Where the answer becomes another, another
   * {@link Reflector.run} lists everything anew, and what is known becomes what that shows.
   */
  cut?(body: B): B;
  /** An object that was known is there, and kept no longer. Without {@link keeps} never called. */
  dropped?(body: B): void;
  /** The first list is complete. */
  onSynced?(): void;
  /** A list is complete, the first one or another. */
  onListed?(): void;
  /** The stream's state changed. */
  state?(state: StreamState): void;
}

/** How an object has changed. */
export interface ReflectorChange<B extends ObjectBody = KubeBody> {
  readonly type: "ADDED" | "MODIFIED";
  /** It was there when the stream began. */
  readonly initial: boolean;
  /** A list has shown it, and not a watch: it need not be new. */
  readonly listed?: boolean;
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
  #lists = 0;
  #state: StreamState | undefined;
  #heardAt: number | undefined;
  /** What the list that is being read has shown, and is not kept. */
  readonly #unwanted = new Map<ObjectKey, string | undefined>();

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

  /** How many lists were read to their end. */
  get lists(): number {
    return this.#lists;
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

  /**
   * Lays the answer to an own write over what the stream has shown; whether it is news. `lasting`: nobody changes the body
   * any more, so that it can stay when the stream shows its version.
   */
  wrote(body: B, lasting = false): boolean {
    if (this.#listener.keeps?.(body) === false) return false;
    const { cut } = this.#listener;
    if (cut) {
      // Copied in any case: what is kept of it is nobody else's.
      const { managedFields: _, ...metadata } = body.metadata ?? {};
      return this.#store.wrote(cut({ ...body, metadata }), lasting);
    }
    const isTidy = this.#o.keepManagedFields || (lasting && body.metadata?.managedFields === undefined);
    if (isTidy) return this.#store.wrote(body, lasting);
    const { managedFields: _managedFields, ...metadata } = body.metadata ?? {};
    return this.#store.wrote({ ...body, metadata }, lasting);
  }

  /** Lets go of all that is kept no longer. */
  purge(): void {
    for (const [key, body] of [...this.#store.shown]) if (this.#listener.keeps?.(body) === false) this.#drop(key, body);
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
        ...(this.#listener.keeps && {
          keeps: (body: B) => {
            const isKept = this.#listener.keeps?.(body) !== false;
            if (!isKept) this.#unwanted.set(objectKey(body), body.metadata?.uid);
            return isKept;
          },
        }),
        ...(this.#listener.cut && { cut: (body: B) => this.#listener.cut?.(body) ?? body }),
        // Versions of an object share what did not change between them.
        known: (object) => this.#store.shown.get(objectKey(object)),
        bookmark: (version) => {
          this.#heard();
          this.#reached(version);
        },
        state: (state) => {
          this.#state = state;
          if (state.phase === "listing") this.#unwanted.clear();
          this.#listener.state?.(state);
        },
      },
      signal,
    );
  }

  #heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  #apply(body: B, type: "ADDED" | "MODIFIED", initial: boolean, listed = false): void {
    if (this.#listener.keeps?.(body) === false) {
      const key = objectKey(body);
      const known = this.#store.get(key);
      if (known && known.metadata?.uid === body.metadata?.uid) this.#drop(key, body);
      else if (known) this.#remove(known, undefined);
      this.#reached(body.metadata?.resourceVersion ?? "");
      return;
    }
    const change = this.#store.streamed(body);
    if (change.type === "known") {
      if (change.echo) this.#listener.echoed?.(body);
      return;
    }
    // Deleted and created again between two looks: the old one is gone, whatever its name.
    const { replaced } = change;
    const same = replaced?.metadata?.uid === body.metadata?.uid;
    if (replaced && !same) this.#listener.gone(replaced, replaced);
    this.#listener.changed(body, {
      type,
      initial,
      before: same ? replaced : undefined,
      ...(listed && !initial && { listed }),
    });
  }

  #drop(key: ObjectKey, body: B): void {
    this.#store.forget(key);
    this.#listener.dropped?.(body);
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
    for (const [key, body] of [...this.#store.shown]) {
      if (this.#unwanted.has(key) && this.#unwanted.get(key) === body.metadata?.uid) this.#drop(key, body);
      else if (!present.has(key)) this.#remove(body, undefined);
    }
    this.#unwanted.clear();
    const initial = !this.#synced;
    for (const body of items) this.#apply(body, "ADDED", initial, true);
    this.#reached(version);
    this.#lists++;
    if (!this.#synced) {
      this.#synced = true;
      this.#listener.onSynced?.();
    }
    this.#listener.onListed?.();
  }
}
