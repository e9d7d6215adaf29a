import { type ApiObject, fromStore, listAt, type RequestUser } from "../registry/index.ts";
import type { Store } from "../store/index.ts";
import { accountUsername } from "./users.ts";

/**
 * The bindings of one kind by whom they are for, so that a request is held against those of its user alone. Follows the
 * store: a change counts at once.
 */
export class BindingIndex {
  readonly #store: Store;
  readonly #table: string;
  /** By namespace, empty for bindings of the whole cluster, then by subject, then by key. */
  readonly #places = new Map<string, Map<string, Map<string, ApiObject>>>();
  #following = false;

  constructor(store: Store, table: string) {
    this.#store = store;
    this.#table = table;
  }

  /** The bindings in a namespace that mention a user, in the order of their names. */
  of(user: RequestUser, namespace: string): ApiObject[] {
    this.#follow();
    const subjects = this.#places.get(namespace);
    if (!subjects) return [];
    const found = new Map<string, ApiObject>();
    for (const subject of subjectsOf(user)) {
      for (const [key, binding] of subjects.get(subject) ?? []) found.set(key, binding);
    }
    // A request is told about the first one that permits, which must not depend on the order of groups.
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, binding]) => binding);
  }

  /** Begins with the first question: in most clusters roles do not count, and none is asked. */
  #follow(): void {
    if (this.#following) return;
    this.#following = true;
    for (const { key, object } of this.#store.list(this.#table)) this.#add(key, fromStore(object));
    this.#store.watch(this.#table, this.#store.revision, ({ type, key, object, previous }) => {
      if (previous) this.#remove(key, fromStore(previous.object));
      if (type !== "deleted") this.#add(key, fromStore(object));
    });
  }

  #add(key: string, binding: ApiObject): void {
    const { namespace = "" } = binding.metadata;
    const subjects = this.#places.get(namespace) ?? new Map<string, Map<string, ApiObject>>();
    this.#places.set(namespace, subjects);
    for (const name of namesOf(binding)) {
      const bindings = subjects.get(name) ?? new Map<string, ApiObject>();
      bindings.set(key, binding);
      subjects.set(name, bindings);
    }
  }

  #remove(key: string, binding: ApiObject): void {
    const { namespace = "" } = binding.metadata;
    const subjects = this.#places.get(namespace);
    for (const name of namesOf(binding)) {
      const bindings = subjects?.get(name);
      bindings?.delete(key);
      if (bindings?.size === 0) subjects?.delete(name);
    }
    if (subjects?.size === 0) this.#places.delete(namespace);
  }
}

const asUser = (name: string): string => `User ${name}`;
const asGroup = (name: string): string => `Group ${name}`;

function subjectsOf(user: RequestUser): string[] {
  return [asUser(user.username), ...user.groups.map(asGroup)];
}

/** Service accounts are users with a name of their own. */
function namesOf(binding: ApiObject): string[] {
  return listAt(binding, "subjects").flatMap((subject) => {
    switch (subject.kind) {
      case "User":
        return [asUser(String(subject.name))];
      case "Group":
        return [asGroup(String(subject.name))];
      case "ServiceAccount": {
        const namespace = String(subject.namespace || binding.metadata.namespace || "");
        return namespace === "" ? [] : [asUser(accountUsername(namespace, String(subject.name)))];
      }
      default:
        return [];
    }
  });
}
