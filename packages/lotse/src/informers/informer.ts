/**
 * One supervised stream for each kind and scope, however many handlers. It tells what changed, once: duplicates and
 * echoes of own writes are recognised here, and a re-list is compared with what is known, so that no deletion is missed.
 */
import {
  type Client,
  type KindDescription,
  type KubeBody,
  ObjectStore,
  openStream,
  type StreamOptions,
  type StreamState,
} from "@lotse/client";
import { type Clock, type ObjectKey, objectKey } from "@lotse/client/meta";

/** What an informer tells of single objects. */
export interface ObjectListener {
  /** An object is there or has changed. `initial`: it was there when the stream began; `before`: what was known of it. */
  changed(body: KubeBody, change: InformerChange): void;
  /** The stream shows an own write: known already, but part of the raw stream. */
  echoed(body: KubeBody): void;
  /** An object is gone; `body` is the last that is known of it. `before` is undefined when that was known already. */
  gone(body: KubeBody, before: KubeBody | undefined): void;
}

/** How an object has changed. */
export interface InformerChange {
  readonly type: "ADDED" | "MODIFIED";
  readonly initial: boolean;
  readonly before: KubeBody | undefined;
}

/** What an informer is made of. */
export interface InformerOptions {
  readonly client: Client;
  readonly kind: KindDescription;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly listener: ObjectListener;
  /** The first list is complete. */
  readonly onSynced: () => void;
  /** The stream's state changed. */
  readonly onState: (state: StreamState) => void;
  readonly inactivityMs?: number;
  readonly serverTimeoutMs?: number;
  readonly backoff?: (failures: number, random: number) => number;
  /** Called when the stream begins to wait; see {@link StreamOptions}. */
  readonly onWait?: StreamOptions["onWait"];
  readonly pageSize?: number;
}

/** See the module comment. */
export class Informer {
  readonly #options: InformerOptions;
  readonly #cache = new ObjectStore<KubeBody>();
  #synced = false;
  #state: StreamState | undefined;
  /** When something last came, or the stream was first opened (monotonic). */
  #heardAt: number | undefined;

  constructor(options: InformerOptions) {
    this.#options = options;
  }

  /** Whether the first list is complete. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Number of known objects. */
  get size(): number {
    return this.#cache.size;
  }

  /** What the stream does; undefined before it begins. */
  get stream(): StreamState | undefined {
    return this.#state;
  }

  /** When the last list, event or bookmark came, or the stream was opened (monotonic). */
  get heardAt(): number | undefined {
    return this.#heardAt;
  }

  /** The newest known body, own writes included. */
  get(key: ObjectKey): KubeBody | undefined {
    return this.#cache.get(key);
  }

  /** All known objects, own writes included. */
  values(): IterableIterator<KubeBody> {
    return this.#cache.values();
  }

  /** Lays the answer to an own write over what the stream has shown; whether it is news. */
  wrote(body: KubeBody): boolean {
    const { managedFields: _managedFields, ...metadata } = body.metadata ?? {};
    return this.#cache.wrote({ ...body, metadata });
  }

  /** The server answered that an object is gone; the last known body, if that is news. */
  deleted(key: ObjectKey, uid: string): KubeBody | undefined {
    return this.#cache.deleted(key, uid);
  }

  /**
   * Streams until `signal` aborts. May be called again, also for another version of the kind: what is known by then is
   * compared with the first list.
   */
  async run(signal: AbortSignal, kind = this.#options.kind): Promise<void> {
    const { client, kind: _first, listener: _listener, onSynced: _onSynced, onState, ...how } = this.#options;
    if (this.#heardAt === undefined) this.#came();
    await openStream<KubeBody>(
      client,
      kind,
      how,
      {
        replace: (items, version) => {
          this.#came();
          this.#replace(items, version);
        },
        apply: (body, type) => {
          this.#came();
          this.#apply(body, type, false);
        },
        remove: (body) => {
          this.#came();
          this.#remove(body, body);
        },
        // Versions of an object share what did not change between them.
        known: (object) => this.#cache.shown.get(objectKey(object)),
        bookmark: (version) => {
          this.#came();
          this.#reached(version);
        },
        state: (state) => {
          this.#state = state;
          onState(state);
        },
      },
      signal,
    );
  }

  #came(): void {
    this.#heardAt = this.#options.clock.monotonic();
  }

  #apply(body: KubeBody, type: "ADDED" | "MODIFIED", initial: boolean): void {
    const { listener } = this.#options;
    const change = this.#cache.streamed(body);
    if (change.type === "known") {
      if (change.echo) listener.echoed(body);
      return;
    }
    // Deleted and created again between two looks: the old one is gone, whatever its name.
    const { replaced } = change;
    const same = replaced?.metadata?.uid === body.metadata?.uid;
    if (replaced && !same) listener.gone(replaced, replaced);
    listener.changed(body, { type, initial, before: same ? replaced : undefined });
  }

  /** `told` is what the stream said of the end; a list that lacks the object says nothing. */
  #remove(body: KubeBody, told: KubeBody | undefined): void {
    const before = this.#cache.get(objectKey(body));
    const last = this.#cache.removed(body);
    if (last) this.#options.listener.gone(told ?? last, before);
  }

  /** What was created and deleted again between two looks is gone as well. */
  #reached(version: string): void {
    for (const body of this.#cache.reached(version)) this.#options.listener.gone(body, body);
  }

  #replace(items: readonly KubeBody[], version: string): void {
    const present = new Set<string>(items.map(objectKey));
    for (const [key, body] of [...this.#cache.shown]) {
      if (!present.has(key)) this.#remove(body, undefined);
    }
    const initial = !this.#synced;
    for (const body of items) this.#apply(body, "ADDED", initial);
    this.#reached(version);
    if (!this.#synced) {
      this.#synced = true;
      this.#options.onSynced();
    }
  }
}
