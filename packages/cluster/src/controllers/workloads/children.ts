import { type ApiObject, fromStore } from "../../registry/index.ts";
import type { Change, Store } from "../../store/index.ts";
import { controllerOf, type Table } from "./tables.ts";

/** Which objects of one kind are managed by whom: finding an owner's objects must not mean reading all of them. */
export class Children {
  readonly #store: Store;
  readonly #table: string;
  /** Keys by the uid of their controller; those that nobody manages by their namespace. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #places = new Map<string, string>();
  readonly #stop: () => void;

  constructor(store: Store, table: string) {
    this.#store = store;
    this.#table = table;
    this.#stop = store.watch(table, store.revision, (change) => this.#apply(change));
    for (const entry of store.list(table)) this.#put(entry.key, fromStore(entry.object));
  }

  stop(): void {
    this.#stop();
  }

  /** What `owner` manages, and what nobody in its namespace does, in order of their names. */
  candidates(owner: ApiObject): ApiObject[] {
    const { uid, namespace } = owner.metadata;
    return this.#read([...this.#keysAt(uid), ...this.#keysAt(orphans(namespace))]);
  }

  ofOwner(uid: string): ApiObject[] {
    return this.#read([...this.#keysAt(uid)]);
  }

  #read(keys: string[]): ApiObject[] {
    keys.sort();
    return keys.flatMap((key) => {
      const entry = this.#store.get(this.#table, key);
      return entry ? [fromStore(entry.object)] : [];
    });
  }

  #keysAt(place: string): ReadonlySet<string> {
    return this.#keys.get(place) ?? new Set();
  }

  #apply(change: Change): void {
    if (change.type === "deleted") this.#drop(change.key);
    else this.#put(change.key, fromStore(change.object));
  }

  #put(key: string, object: ApiObject): void {
    const place = controllerOf(object)?.uid ?? orphans(object.metadata.namespace);
    if (this.#places.get(key) === place) return;
    this.#drop(key);
    this.#places.set(key, place);
    const known = this.#keys.get(place);
    if (known) known.add(key);
    else this.#keys.set(place, new Set([key]));
  }

  #drop(key: string): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    this.#places.delete(key);
    const keys = this.#keys.get(place);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(place);
  }
}

/** No uid has a slash in it. */
const orphans = (namespace: string | undefined): string => `/${namespace ?? ""}`;

/** One index for each kind of children, shared by all controllers. */
export class ChildIndexes {
  readonly #store: Store;
  readonly #indexes = new Map<string, Children>();

  constructor(store: Store) {
    this.#store = store;
  }

  of<T extends ApiObject>(table: Table<T>): Children {
    let index = this.#indexes.get(table.name);
    if (!index) {
      index = new Children(this.#store, table.name);
      this.#indexes.set(table.name, index);
    }
    return index;
  }

  stop(): void {
    for (const index of this.#indexes.values()) index.stop();
  }
}
