/**
 * What of the cluster belongs to one object: itself, and what it owns, over any number of steps. Everything else that is
 * asked for by name is kept as well, unless it is another object of the same kind, or belongs to one: handlers may read
 * what they like.
 */
import { isObject } from "@lotse/client/meta";
import type { TapeSubject } from "./format.ts";

/** See the module comment. */
export class Belonging {
  readonly #subject: TapeSubject;
  readonly #uids = new Set<string>();
  readonly #plurals: ReadonlySet<string>;

  constructor(subject: TapeSubject) {
    this.#subject = subject;
    const kind = subject.kind.toLowerCase();
    this.#plurals = new Set([kind, `${kind}s`, `${kind}es`, kind.replace(/y$/, "ies")]);
  }

  /** An answer or an event without the objects that do not belong; undefined when nothing of an event is left. */
  shown(body: unknown, path: string): unknown {
    if (!isObject(body)) return body;
    if (Array.isArray(body.items)) {
      return { ...body, items: body.items.filter((item) => this.#belongs(item, path)) };
    }
    const isEvent = typeof body.type === "string" && isObject(body.object);
    if (!isEvent || body.type === "BOOKMARK" || body.type === "ERROR") return body;
    return this.#belongs(body.object, path) ? body : undefined;
  }

  /** Whether a request is kept. */
  asked(method: string, path: string, body: unknown): boolean {
    const { plural, namespace, name } = partsOf(path);
    if (this.#plurals.has(plural)) {
      if (name === undefined) return method === "GET";
      return name === this.#subject.name && namespace === this.#subject.namespace;
    }
    if (method === "GET") return true;
    const owners = ownersOf(body);
    return owners.length === 0 ? this.#knows(path) : owners.some((uid) => this.#uids.has(uid));
  }

  readonly #paths = new Set<string>();

  /** Writes to what belongs are kept by their path: most of them do not tell the owner. */
  #knows(path: string): boolean {
    const { plural, namespace, name } = partsOf(path);
    return name !== undefined && this.#paths.has(`${plural} ${namespace}/${name}`);
  }

  #belongs(object: unknown, path: string): boolean {
    if (!isObject(object) || !isObject(object.metadata)) return true;
    const { uid, name, namespace = "" } = object.metadata as { uid?: string; name?: string; namespace?: string };
    const { plural } = partsOf(path);
    const isItself = this.#plurals.has(plural) && name === this.#subject.name && namespace === this.#subject.namespace;
    const isOwned = ownersOf(object).some((owner) => this.#uids.has(owner));
    if ((isItself || isOwned) && uid !== undefined) {
      this.#uids.add(uid);
      this.#paths.add(`${plural} ${namespace}/${name}`);
    }
    // Objects that nobody of this kind owns may be read by anyone.
    return isItself || isOwned || (!this.#plurals.has(plural) && ownersOf(object).length === 0);
  }
}

function ownersOf(object: unknown): string[] {
  const { ownerReferences } = (isObject(object) && isObject(object.metadata) ? object.metadata : {}) as {
    ownerReferences?: unknown;
  };
  if (!Array.isArray(ownerReferences)) return [];
  return ownerReferences.flatMap((one) => (isObject(one) && typeof one.uid === "string" ? [one.uid] : []));
}

function partsOf(path: string): { plural: string; namespace: string; name: string | undefined } {
  const words = path.split("?", 1)[0]?.split("/").filter(Boolean) ?? [];
  const rest = words.slice(words[0] === "api" ? 2 : 3);
  const inside = rest[0] === "namespaces" && rest.length > 2;
  const [plural = "", name] = inside ? rest.slice(2) : rest;
  return { plural, namespace: inside ? (rest[1] ?? "") : "", name };
}
