import { deepClone, deepEqual, setKey } from "./equality.ts";
import { KubeError } from "./errors.ts";
import { isObject } from "./json.ts";

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string };

/** A JSON patch that does not apply; says which operation failed. */
export class JsonPatchError extends KubeError {
  override readonly code: string = "LOTSE_JSON_PATCH";
  /** The position of the failed operation in the patch. */
  readonly index: number;
  /** The path that the operation names. */
  readonly path: string;

  constructor(message: string, index: number, path: string) {
    super(`operation ${index} (${JSON.stringify(path)}): ${message}`);
    this.index = index;
    this.path = path;
  }
}

/** The segments of a JSON pointer; undefined when the text is none. */
export function parseJsonPointer(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  const segments = pointer.slice(1).split("/");
  if (!pointer.includes("~")) return segments;
  return segments.map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The JSON pointer of a list of segments. */
export function formatJsonPointer(segments: readonly (string | number)[]): string {
  let text = "";
  for (const segment of segments) text += `/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return text;
}

/**
 * Applies a JSON patch (RFC 6902) to a copy of `doc`: all of it, or none with a {@link JsonPatchError}.
 *
 * @example
 * ```ts
 * applyJsonPatch({ list: [1] }, [{ op: "add", path: "/list/-", value: 2 }]); // { list: [1, 2] }
 * ```
 */
export function applyJsonPatch<T = unknown>(doc: unknown, operations: readonly JsonPatchOperation[]): T {
  const root = { doc: deepClone(doc) };
  for (const [index, operation] of operations.entries()) applyOne(root, operation, index);
  return root.doc as T;
}

interface Root {
  doc: unknown;
}

/** The place that a pointer names: a container and the key in it. */
interface Place {
  readonly container: Record<string, unknown> | unknown[] | undefined; // undefined = the root itself
  readonly key: string;
}

const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/;

function applyOne(root: Root, operation: JsonPatchOperation, index: number): void {
  const fail = (message: string, path = operation.path) => new JsonPatchError(message, index, String(path));
  const locate = (pointer: unknown): Place => {
    const segments = typeof pointer === "string" ? parseJsonPointer(pointer) : undefined;
    if (!segments) throw fail("not a JSON pointer", String(pointer));
    const key = segments.pop();
    if (key === undefined) return { container: undefined, key: "" };
    let container = root.doc;
    for (const segment of segments) {
      const next = member(container, segment);
      if (next === undefined) throw fail("the path does not exist", String(pointer));
      container = next;
    }
    if (!Array.isArray(container) && !isObject(container)) throw fail("the path does not exist", String(pointer));
    return { container, key };
  };
  const read = (pointer: unknown): unknown => {
    const place = locate(pointer);
    const value = place.container ? member(place.container, place.key) : root.doc;
    if (value === undefined) throw fail("the path does not exist", String(pointer));
    return value;
  };
  const add = (pointer: unknown, value: unknown): void => {
    const { container, key } = locate(pointer);
    if (value === undefined) throw fail("the operation has no value");
    if (!container) {
      root.doc = value;
    } else if (Array.isArray(container)) {
      const at = key === "-" ? container.length : ARRAY_INDEX.test(key) ? Number(key) : Number.NaN;
      if (!(at <= container.length)) throw fail("the index is outside the list");
      container.splice(at, 0, value);
    } else {
      setKey(container, key, value);
    }
  };
  const remove = (pointer: unknown): void => {
    const { container, key } = locate(pointer);
    if (!container) root.doc = null;
    else if (member(container, key) === undefined) throw fail("the path does not exist", String(pointer));
    else if (Array.isArray(container)) container.splice(Number(key), 1);
    else delete container[key];
  };

  switch (operation.op) {
    case "add":
      add(operation.path, deepClone(operation.value));
      return;
    case "remove":
      remove(operation.path);
      return;
    case "replace": {
      const { container, key } = locate(operation.path);
      read(operation.path);
      if (operation.value === undefined) throw fail("the operation has no value");
      const value = deepClone(operation.value);
      if (!container) root.doc = value;
      else if (Array.isArray(container)) container[Number(key)] = value;
      else setKey(container, key, value);
      return;
    }
    case "move": {
      const value = read(operation.from);
      locate(operation.path);
      if (operation.path.startsWith(`${operation.from}/`)) throw fail("a value cannot move into itself");
      if (operation.path === operation.from) return;
      remove(operation.from);
      add(operation.path, value);
      return;
    }
    case "copy":
      add(operation.path, deepClone(read(operation.from)));
      return;
    case "test": {
      if (!deepEqual(read(operation.path), operation.value)) throw fail("the test failed: the value differs");
      return;
    }
    default:
      throw fail(`unknown operation ${JSON.stringify((operation as { op: unknown }).op)}`);
  }
}

function member(container: unknown, key: string): unknown {
  if (Array.isArray(container)) return ARRAY_INDEX.test(key) ? container[Number(key)] : undefined;
  if (!isObject(container) || !Object.hasOwn(container, key)) return undefined;
  return container[key];
}

/** The JSON patch that turns `from` into `to`: small, though not always the smallest; empty when they are equal. */
export function createJsonPatch(from: unknown, to: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare(from, to, "", operations);
  return operations;
}

function compare(from: unknown, to: unknown, path: string, out: JsonPatchOperation[]): void {
  if (Array.isArray(from) && Array.isArray(to)) {
    compareLists(from, to, path, out);
    return;
  }
  if (!isObject(from) || !isObject(to)) {
    if (!deepEqual(from, to)) out.push({ op: "replace", path, value: to });
    return;
  }
  for (const key of Object.keys(from)) {
    if (from[key] === undefined) continue;
    const at = path + formatJsonPointer([key]);
    if (!Object.hasOwn(to, key) || to[key] === undefined) out.push({ op: "remove", path: at });
    else compare(from[key], to[key], at, out);
  }
  for (const key of Object.keys(to)) {
    if (to[key] === undefined || (Object.hasOwn(from, key) && from[key] !== undefined)) continue;
    out.push({ op: "add", path: path + formatJsonPointer([key]), value: to[key] });
  }
}

function compareLists(from: unknown[], to: unknown[], path: string, out: JsonPatchOperation[]): void {
  let head = 0;
  while (head < from.length && head < to.length && deepEqual(from[head], to[head])) head++;
  let fromEnd = from.length;
  let toEnd = to.length;
  while (fromEnd > head && toEnd > head && deepEqual(from[fromEnd - 1], to[toEnd - 1])) {
    fromEnd--;
    toEnd--;
  }
  const shared = Math.min(fromEnd, toEnd);
  for (let i = head; i < shared; i++) compare(from[i], to[i], `${path}/${i}`, out);
  // From the end, so that no removal moves the index of the next one.
  for (let i = fromEnd - 1; i >= shared; i--) out.push({ op: "remove", path: `${path}/${i}` });
  for (let i = shared; i < toEnd; i++) out.push({ op: "add", path: `${path}/${i}`, value: to[i] });
}
