/** A local copy of a kind's objects that follows the cluster, for scripts. */
import type { KindDescription, ObjectBody, WithBody } from "../kinds/index.ts";
import {
  type Clock,
  ConfigError,
  type Duration,
  durationMs,
  type FieldSelectorInput,
  type LabelSelectorInput,
  matchesLabels,
  type ObjectKey,
  objectKey,
  objectKeyOf,
  parseLabelSelector,
} from "../meta/index.ts";
import { linkSignals } from "../transport/index.ts";
import type { StreamClient, StreamState } from "./contract.ts";
import { Reflector } from "./reflector.ts";

/** Which objects to follow, and how. */
export interface InformerOptions<T extends WithBody> {
  /** Default: the client's; `"*"` for all. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly fieldSelector?: FieldSelectorInput | undefined;
  /** Stops the informer. */
  readonly signal?: AbortSignal | undefined;
  /** By what objects shall be found without looking at all of them: name of the index → the keys of an object. */
  readonly indexes?: Readonly<Record<string, (object: T) => string | readonly string[] | undefined>> | undefined;
  /** Silence that is taken for a dead connection. Default 90 s. */
  readonly inactivity?: Duration | undefined;
  /** Default `false`: `managedFields` is a third of an object's memory. */
  readonly keepManagedFields?: boolean | undefined;
}

/** What an informer tells, and with what. */
export interface InformerEvents<T> {
  added: (object: T) => void;
  updated: (object: T, before: T) => void;
  deleted: (object: T) => void;
  /** What the stream does, such as waiting for the server or for a permission. */
  state: (state: StreamState) => void;
}

interface Surroundings {
  readonly clock: Clock;
  readonly random: () => number;
  readonly signals: readonly AbortSignal[];
}

interface Subject<T extends WithBody> {
  readonly kind: KindDescription;
  readonly wrap: (body: T["body"]) => T;
}

/** How `synced` is settled. */
interface FirstList {
  done: () => void;
  failed: (reason: unknown) => void;
}

/**
 * The objects of a kind, as the cluster has them. Made by `client.informer()`; begins at once. Objects that it hands out
 * share their `body` with the copy: change them by the verbs, never in place. Parts of it may be frozen, because versions
 * of an object share what did not change.
 */
export class Informer<T extends WithBody> {
  /** Resolves when the first list is complete; rejects when the informer ends before. */
  readonly synced: Promise<void>;
  /** Resolves when the informer has ended; rejects when a listener threw, or the kind does not exist. */
  readonly closed: Promise<void>;
  readonly #o: InformerOptions<T>;
  readonly #reflector: Reflector<T["body"]>;
  readonly #indexes = new Map<string, Map<string, Set<ObjectKey>>>();
  readonly #listeners: { [E in keyof InformerEvents<T>]: Set<InformerEvents<T>[E]> } = {
    added: new Set(),
    updated: new Set(),
    deleted: new Set(),
    state: new Set(),
  };
  readonly #ended = new AbortController();
  #subject: Subject<T> | undefined;
  readonly #begunAt: number;

  constructor(client: StreamClient, subject: () => Promise<Subject<T>>, o: InformerOptions<T>, around: Surroundings) {
    this.#o = o;
    this.#begunAt = around.clock.monotonic();
    for (const name of Object.keys(o.indexes ?? {})) this.#indexes.set(name, new Map());
    const first: FirstList = { done: () => undefined, failed: () => undefined };
    this.synced = new Promise<void>((resolve, reject) => {
      first.done = resolve;
      first.failed = reject;
    });
    const { clock, random, signals } = around;
    const { namespace, labelSelector, fieldSelector, inactivity, keepManagedFields } = o;
    const inactivityMs = inactivity === undefined ? undefined : durationMs(inactivity);
    const how = { namespace, labelSelector, fieldSelector, keepManagedFields, inactivityMs, clock, random };
    this.#reflector = new Reflector(client, how, {
      changed: (body, { before }) => this.#changed(body, before),
      // The last full state says more of an object than what is sent of its end.
      gone: (body, before) => this.#gone(before ?? body),
      onSynced: first.done,
      state: (state) => {
        for (const listener of this.#listeners.state) listener(state);
      },
    });
    this.closed = this.#run(subject, signals, first);
  }

  /** What the stream does. */
  get state(): StreamState {
    return this.#reflector.stream ?? { phase: "listing", since: this.#begunAt };
  }

  /** How many objects there are. */
  get size(): number {
    return this.#reflector.size;
  }

  /** An object by its name; in a namespace other than the informer's own by `namespace`. */
  get(name: string, o: { readonly namespace?: string | undefined } = {}): T | undefined {
    const body = this.#reflector.get(this.#keyOf(name, o.namespace));
    return body === undefined ? undefined : this.#wrap(body);
  }

  has(name: string, o: { readonly namespace?: string | undefined } = {}): boolean {
    return this.#reflector.get(this.#keyOf(name, o.namespace)) !== undefined;
  }

  /** The objects, or those of one namespace or with some labels. */
  list(o: { readonly namespace?: string; readonly labelSelector?: LabelSelectorInput } = {}): T[] {
    const selector = parseLabelSelector(o.labelSelector);
    const found: T[] = [];
    for (const body of this.#reflector.values()) {
      if (o.namespace !== undefined && body.metadata?.namespace !== o.namespace) continue;
      if (matchesLabels(selector, body.metadata?.labels)) found.push(this.#wrap(body));
    }
    return found;
  }

  /** The objects with a key in one of the `indexes`. */
  by(index: string, key: string): T[] {
    const entries = this.#indexes.get(index);
    if (!entries) {
      throw new ConfigError(`this informer has no index "${index}"`, {
        hint: `its indexes are: ${[...this.#indexes.keys()].join(", ") || "none"}; pass them as \`indexes\``,
      });
    }
    return [...(entries.get(key) ?? [])].map((at) => this.#wrap(this.#reflector.get(at) as T["body"]));
  }

  [Symbol.iterator](): Iterator<T> {
    return this.list()[Symbol.iterator]();
  }

  /** Calls back from now on; the returned function ends that. Objects that are known already are not told again. */
  on<E extends keyof InformerEvents<T>>(event: E, listener: InformerEvents<T>[E]): () => void {
    this.#listeners[event].add(listener);
    return () => this.#listeners[event].delete(listener);
  }

  /** Closes the connection; the copy stays as it is. */
  async close(): Promise<void> {
    this.#ended.abort(new ConfigError("the informer is closed"));
    await this.closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run(subject: () => Promise<Subject<T>>, signals: readonly AbortSignal[], first: FirstList): Promise<void> {
    const { signal, unlink } = linkSignals([this.#ended.signal, this.#o.signal, ...signals]);
    try {
      this.#subject = await subject();
      await this.#reflector.run(signal as AbortSignal, this.#subject.kind);
      // A program that closes an informer early need not hear of it once more.
      this.synced.catch(() => undefined);
      first.failed(signal?.reason);
    } catch (error) {
      // Told once: by `synced` while that is awaited, by `closed` later.
      if (!this.#reflector.synced) queueMicrotask(() => this.closed.catch(() => undefined));
      first.failed(error);
      throw error;
    } finally {
      unlink();
    }
  }

  #changed(body: T["body"], before: T["body"] | undefined): void {
    const object = this.#wrap(body);
    const was = before && this.#wrap(before);
    if (was !== undefined) this.#index(was, "out");
    this.#index(object, "in");
    if (was !== undefined) for (const listener of this.#listeners.updated) listener(object, was);
    else for (const listener of this.#listeners.added) listener(object);
  }

  #gone(body: T["body"]): void {
    const object = this.#wrap(body);
    this.#index(object, "out");
    for (const listener of this.#listeners.deleted) listener(object);
  }

  #index(object: T, direction: "in" | "out"): void {
    if (this.#indexes.size === 0) return;
    const at = objectKey(object.body);
    for (const [name, keysOf] of Object.entries(this.#o.indexes ?? {})) {
      const entries = this.#indexes.get(name) as Map<string, Set<ObjectKey>>;
      const keys = keysOf(object);
      for (const key of typeof keys === "string" ? [keys] : (keys ?? [])) {
        const members = entries.get(key) ?? new Set();
        if (direction === "in") entries.set(key, members.add(at));
        else if (members.delete(at) && members.size === 0) entries.delete(key);
      }
    }
  }

  #wrap(body: ObjectBody): T {
    return (this.#subject as Subject<T>).wrap(body);
  }

  #keyOf(name: string, namespace: string | undefined): ObjectKey {
    const { namespaced } = this.#subject?.kind ?? { namespaced: true };
    return objectKeyOf(namespaced ? (namespace ?? this.#o.namespace) : undefined, name);
  }
}
