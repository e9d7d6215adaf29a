/** What is known of the cluster's objects from what was on the tape so far: for questions that nobody asked then. */
import { isObject } from "@lotse/client/meta";

/** See the module comment. */
export class KnownWorld {
  readonly #objects = new Map<string, object>();

  /** An answer to a request for `path`, or an event of a watch of it. */
  learn(path: string, body: unknown): void {
    if (!isObject(body)) return;
    if (Array.isArray(body.items)) {
      const { apiVersion, kind } = body as { apiVersion?: string; kind?: string };
      const typed = { apiVersion, kind: kind?.replace(/List$/, "") };
      for (const item of body.items) if (isObject(item)) this.#keep(path, { ...typed, ...item });
    } else if (isObject(body.object) && typeof body.type === "string") {
      if (body.type === "DELETED") this.#objects.delete(keyOf(path, body.object));
      else if (body.type !== "BOOKMARK" && body.type !== "ERROR") this.#keep(path, body.object);
    } else if (isObject(body.metadata) && body.kind !== "Status") this.#keep(path, body);
  }

  /** The newest known state of the object at `path`. */
  find(path: string): object | undefined {
    return this.#objects.get(withoutSubresource(path));
  }

  /** All that are known below the path of a collection. */
  list(path: string): object {
    const all = [...this.#objects].filter(([key]) => key.startsWith(`${path}/`)).map(([, object]) => object);
    return { kind: "List", apiVersion: "v1", metadata: { resourceVersion: "0" }, items: all };
  }

  #keep(path: string, object: Record<string, unknown>): void {
    this.#objects.set(keyOf(path, object), object);
  }
}

/** The path of one object, whether it was listed, watched or asked for by name. */
function keyOf(path: string, object: Record<string, unknown>): string {
  const { name = "", namespace } = (isObject(object.metadata) ? object.metadata : {}) as {
    name?: string;
    namespace?: string;
  };
  const words = path.split("/").filter(Boolean);
  const base = words.slice(0, words[0] === "api" ? 2 : 3);
  const rest = words.slice(base.length);
  const plural = rest[0] === "namespaces" && rest.length > 2 ? rest[2] : rest[0];
  const place = namespace === undefined ? [] : ["namespaces", namespace];
  return `/${[...base, ...place, plural, name].join("/")}`;
}

/** `/api/v1/namespaces/a/pods/b` of `/api/v1/namespaces/a/pods/b/status`. */
export function withoutSubresource(path: string): string {
  const words = path.split("/").filter(Boolean);
  const base = words[0] === "api" ? 2 : 3;
  const inside = words[base] === "namespaces" && words.length > base + 2;
  return `/${words.slice(0, base + (inside ? 4 : 2)).join("/")}`;
}
