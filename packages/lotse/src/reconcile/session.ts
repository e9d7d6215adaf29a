/**
 * The reads of one run. What is read is subscribed to before it is looked at, so that no change falls between the two;
 * when the run is over, what it did not read any more is forgotten. Handlers that are no reconcilers read in the same
 * way, and are not woken by it.
 */
import {
  type Client,
  type KindClass,
  type KindDescription,
  type KubeBody,
  KubeObject,
  NotFoundError,
} from "@lotse/client";
import { type ObjectKey, objectKeyOf, parseFieldSelector } from "@lotse/client/meta";
import {
  deepFreeze,
  type Indexes,
  type IndexHandle,
  type Kept,
  type ListQuery,
  planKeep,
  type ReadableKind,
  type ReadOptions,
  type TrackedReads,
  unionOf,
} from "../declare/index.ts";
import { indexKeyText } from "../informers/index.ts";
import type { KindView } from "./kind-view.ts";
import { readQuery } from "./query.ts";
import type { Reader, ReadPoint } from "./reads.ts";
import type { TrackedKinds } from "./tracked-kinds.ts";

/** Of whom, with what, and where. */
export interface SessionParts {
  /** The reconciler that is woken when what was read changes; undefined for handlers that are no reconcilers. */
  readonly reader: Reader | undefined;
  /** Told of each kind that is read, and of what is read of it. */
  readonly onRead: (kind: KindDescription, wanted: Kept) => void;
  /** What is read of a kind where a read does not say it. Default: all. */
  readonly wanted?: ((kind: KindDescription) => Kept | undefined) | undefined;
  readonly tracked: TrackedKinds;
  readonly client: () => Client;
  readonly indexes: Indexes;
  /** The namespace of the object that is reconciled. */
  readonly namespace: string | undefined;
}

/** That an object is there is known by its metadata. */
const METADATA: Kept = [];

type Somewhere = { readonly namespace?: string | undefined } | undefined;

/** See the module comment. */
export class ReadSession {
  readonly #parts: SessionParts;
  /** Whether the reader has changed since what it read there. */
  readonly #points = new Map<ReadPoint, boolean>();
  #news: Map<string, { readonly what: string; readonly points: (ReadPoint | undefined)[] }> | undefined;
  /** What the context of a reconciler offers. */
  readonly reads: TrackedReads;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const get = (kind: ReadableKind, name: string, o: ReadOptions | undefined) => this.#get(kind, name, o);
    const live = (kind: ReadableKind, name: string, o: Somewhere) => this.#live(kind, name, o);
    this.reads = {
      get: Object.assign(get, { live }),
      list: (what: ReadableKind | IndexHandle<unknown, unknown>, how?: unknown) =>
        isIndex(what) ? this.#indexed(what, how) : this.#list(what, how as ListQuery | undefined),
      exists: (kind: ReadableKind, name: string, o: Somewhere) => this.#exists(kind, name, o),
    } as unknown as TrackedReads;
  }

  /** Everything that was read. */
  get points(): IterableIterator<ReadPoint> {
    return this.#points.keys();
  }

  has(point: ReadPoint): boolean {
    return this.#points.has(point);
  }

  /** The reader itself has changed what it had read. */
  outdate(point: ReadPoint): void {
    this.#points.set(point, true);
  }

  /**
   * Another client, or another handler, has changed what was read; `name` is that of the change, `what` says it in words.
   * Until the run is over it may turn out to be the reader's own write, which the stream has shown before the answer came.
   */
  news(name: string, what: string, point: ReadPoint | undefined): void {
    this.#news ??= new Map();
    const known = this.#news.get(name);
    if (known) known.points.push(point);
    else this.#news.set(name, { what, points: [point] });
  }

  /** The change was the reader's own. */
  claim(name: string): void {
    const own = this.#news?.get(name);
    if (!own) return;
    for (const point of own.points) if (point) this.outdate(point);
    this.#news?.delete(name);
  }

  /** What others have changed meanwhile, in words. */
  get unclaimed(): string[] {
    return [...(this.#news?.values() ?? [])].map(({ what }) => what);
  }

  /** Whether the reader has changed something that it had read, and has not read it again. */
  get isStale(): boolean {
    for (const stale of this.#points.values()) if (stale) return true;
    return false;
  }

  /** The reader knows what its own writes have changed. */
  refresh(): void {
    for (const point of this.#points.keys()) this.#points.set(point, false);
  }

  /** Remembers a read that the framework has made for the reader. */
  note(point: ReadPoint): void {
    this.#points.set(point, false);
  }

  #subscribe(read: (reader: Reader) => ReadPoint): void {
    const { reader } = this.#parts;
    if (reader) this.note(read(reader));
  }

  /** The kind that is meant, with all its objects, and with all that is wanted of them. */
  async view(kind: ReadableKind, wanted?: Kept, besides: Kept = []): Promise<KindView> {
    const kindClass = typeof kind === "function" ? (kind as KindClass) : undefined;
    const description = typeof kind === "string" ? await this.#parts.client().resolve(kind) : descriptionOf(kind);
    const { tracked, onRead } = this.#parts;
    const all = unionOf([wanted ?? this.#parts.wanted?.(description) ?? "all", besides]);
    onRead(description, all);
    const known = tracked.known(description);
    return known?.covers(all) ? known : await tracked.view(description, kindClass, all);
  }

  async #get(kind: ReadableKind, name: string, o?: ReadOptions): Promise<KubeObject | undefined> {
    const view = await this.view(kind, keepOf(o));
    const key = this.#key(view, name, o);
    this.#subscribe((reader) => view.reads.object(key, reader));
    const body = view.lookup.get(key);
    return body && this.#wrap(kind, view, body);
  }

  async #exists(kind: ReadableKind, name: string, o: Somewhere): Promise<boolean> {
    const view = await this.view(kind, METADATA);
    const key = this.#key(view, name, o);
    this.#subscribe((reader) => view.reads.existence(key, reader));
    return view.lookup.get(key) !== undefined;
  }

  async #list(kind: ReadableKind, o: ListQuery = {}): Promise<readonly KubeObject[]> {
    const { labelSelector, fieldSelector, ownedBy } = o;
    // A field that is not kept would match as if it were empty.
    const selected = parseFieldSelector(fieldSelector).map(({ field }) => field.split("."));
    const view = await this.view(kind, keepOf(o), selected);
    const query = readQuery({
      namespace: this.#namespace(view, o.namespace),
      labelSelector,
      fieldSelector,
      owner: typeof ownedBy === "object" ? ownedBy.uid : ownedBy,
    });
    this.#subscribe((reader) => view.reads.list(query, reader));
    return view.lookup.list(query).map((body) => this.#wrap(kind, view, body));
  }

  async #indexed(index: IndexHandle<unknown, unknown>, key: unknown): Promise<readonly unknown[]> {
    const { tracked, indexes } = this.#parts;
    this.#subscribe((reader) => tracked.indexReads(index.id).indexKey(indexKeyText(key), reader));
    return indexes(index).get(key as never);
  }

  async #live(kind: ReadableKind, name: string, o: Somewhere): Promise<KubeObject | undefined> {
    try {
      return await this.#parts.client().get(kind as KindDescription, name, o);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  #key(view: KindView, name: string, o: Somewhere): ObjectKey {
    const namespace = view.kind.namespaced ? (o?.namespace ?? this.#parts.namespace ?? "default") : undefined;
    return objectKeyOf(namespace, name);
  }

  #namespace({ kind }: KindView, asked: string | undefined): string | undefined {
    if (!kind.namespaced || asked === "*") return undefined;
    return asked ?? this.#parts.namespace;
  }

  #wrap(kind: ReadableKind, view: KindView, body: KubeBody): KubeObject {
    const own = deepFreeze(body) as KubeBody;
    const client = this.#parts.client();
    const kindClass = typeof kind === "function" ? (kind as KindClass) : view.kindClass;
    return kindClass ? new kindClass(own, client) : new KubeObject(own, client, view.kind);
  }
}

/** Undefined where the read does not say it. */
function keepOf(o: Pick<ReadOptions, "keep"> | undefined): Kept | undefined {
  return o?.keep === undefined ? undefined : planKeep(o.keep);
}

function descriptionOf(kind: KindClass<KubeObject> | KindDescription): KindDescription {
  return typeof kind === "function" ? kind.description : kind;
}

function isIndex(value: ReadableKind | IndexHandle<unknown, unknown>): value is IndexHandle<unknown, unknown> {
  return typeof value === "object" && "id" in value && !("plural" in value);
}
