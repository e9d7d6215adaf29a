import { deepClone, deepEqual, isObject, setKey } from "@lotse/client/meta";
import { type Resolver, resolveSchema, type Schema } from "../schema/index.ts";
import { goValue, order, sameKey } from "./order.ts";

/** A strategic merge patch that cannot be applied; `code` is the HTTP status that the server answers with. */
export class StrategicPatchError extends Error {
  readonly code: 400 | 422 | 500;

  constructor(code: 400 | 422 | 500, message: string) {
    super(message);
    this.name = "StrategicPatchError";
    this.code = code;
  }
}

type Obj = Record<string, unknown>;

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const ELEMENT_ORDER = "$setElementOrder";
const DELETE_PRIMITIVES = "$deleteFromPrimitiveList";

/**
 * Applies a strategic merge patch: a merge patch that merges lists of objects by a key, where the schema says so
 * (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`), and that understands the directives `$patch`,
 * `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…`. Mutates neither argument.
 */
export function applyStrategicMergePatch<T = unknown>(
  doc: unknown,
  patch: unknown,
  schema: Schema,
  resolve: Resolver,
): T {
  if (!isObject(patch)) throw new StrategicPatchError(400, "invalid JSON document");
  return new Merge(resolve).map(isObject(doc) ? deepClone(doc) : {}, deepClone(patch), schema) as T;
}

/** How one field is merged. */
interface FieldStrategy {
  readonly schema: Schema | undefined;
  readonly strategy: string;
  readonly key: string;
}

/** Works on copies of its own, and may therefore change what it is given. */
class Merge {
  readonly #resolve: Resolver;

  constructor(resolve: Resolver) {
    this.#resolve = resolve;
  }

  map(original: Obj, patch: Obj, schema: Schema | undefined): Obj {
    if (Object.hasOwn(patch, DIRECTIVE)) return applyDirective(patch);
    retainKeys(original, patch);
    this.#orderedLists(original, patch, schema);
    for (const [patchKey, value] of Object.entries(patch)) {
      const deletes = patchKey.startsWith(DELETE_PRIMITIVES);
      const key = deletes ? directiveKey(patchKey, DELETE_PRIMITIVES, "primitive list") : patchKey;
      if (value === null) {
        delete original[key];
        continue;
      }
      const before = Object.hasOwn(original, key) ? original[key] : undefined;
      const field = this.#field(schema, key);
      if (isObject(before) && isObject(value)) {
        setKey(original, key, field.strategy === "replace" ? value : this.map(before, value, field.schema));
      } else if (Array.isArray(before) && Array.isArray(value)) {
        setKey(original, key, this.#list(before, value, field, deletes));
      } else if (!deletes) {
        const fresh = withoutDirectives(withoutNulls(value));
        if (fresh === undefined) delete original[key];
        else setKey(original, key, fresh);
      }
    }
    return original;
  }

  #field(schema: Schema | undefined, key: string): FieldStrategy {
    const owner = schema && resolveSchema(schema, this.#resolve);
    const own = owner?.properties && Object.hasOwn(owner.properties, key) ? owner.properties[key] : undefined;
    const node = own ?? (typeof owner?.additionalProperties === "object" ? owner.additionalProperties : undefined);
    const target = node && resolveSchema(node, this.#resolve);
    // "retainKeys" only tells clients to send the directive of that name.
    const strategies = (target?.["x-kubernetes-patch-strategy"] ?? "")
      .split(",")
      .filter((name) => name !== "retainKeys");
    return {
      schema: target?.type === "array" ? target.items : target,
      strategy: strategies[0] ?? "",
      key: target?.["x-kubernetes-patch-merge-key"] ?? "",
    };
  }

  #list(original: unknown[], patch: unknown[], field: FieldStrategy, deletes: boolean): unknown[] {
    if (deletes) return original.filter((item) => !patch.some((gone) => deepEqual(gone, item)));
    if (field.strategy !== "merge") return patch;
    if (original.length === 0 && patch.length === 0) return original;
    const objects = checkElements(original, patch);
    if (!objects) {
      const merged = [...new Set([...original, ...patch])];
      return order(merged, patch, original, "");
    }
    if (field.key === "") throw new StrategicPatchError(500, "cannot merge lists without merge key");
    const special = specialElements(original as Obj[], patch as Obj[], field.key);
    const merged = this.#mergeItems(special.original, special.patch, field);
    return order(requireKeys(merged, field.key), special.patch, special.original, field.key);
  }

  #mergeItems(original: Obj[], patch: Obj[], field: FieldStrategy): Obj[] {
    const merged = [...original];
    for (const item of patch) {
      if (!Object.hasOwn(item, field.key)) throw noMergeKey(item, field.key);
      const at = merged.findIndex((existing) => sameKey(existing, item, field.key));
      if (at < 0) merged.push(withoutNulls(item) as Obj);
      else merged[at] = this.map(merged[at] as Obj, item, field.schema);
    }
    return merged;
  }

  /** Lists whose order the patch fixes are merged with it in one go, and taken out of the patch. */
  #orderedLists(original: Obj, patch: Obj, schema: Schema | undefined): void {
    for (const [directive, wanted] of Object.entries(patch)) {
      if (!directive.startsWith(ELEMENT_ORDER)) continue;
      delete patch[directive];
      if (!Array.isArray(wanted)) throw wrongType("[]interface {}", wanted);
      const key = directiveKey(directive, ELEMENT_ORDER, "setElementOrder list");
      const before = Object.hasOwn(original, key) ? original[key] : undefined;
      const change = Object.hasOwn(patch, key) ? patch[key] : undefined;
      if (before !== undefined && !Array.isArray(before)) throw wrongType("[]interface {}", before);
      if (change !== undefined && !Array.isArray(change)) throw wrongType("[]interface {}", change);
      const field = this.#field(schema, key);
      checkOrder(change ?? [], wanted, field.key);
      if (before === undefined && change === undefined) continue;
      const merged =
        change === undefined
          ? (before as unknown[])
          : before === undefined
            ? (withoutDirectives(change) as unknown[])
            : this.#list(before, change, field, false);
      if ((before ?? []).length + (change ?? []).length === 0) {
        throw new StrategicPatchError(500, "no elements in any of the given slices");
      }
      const keyed = field.key === "" ? merged : requireKeys(merged as Obj[], field.key);
      setKey(original, key, order(keyed, wanted, leftOrder(before ?? [], change ?? [], field), field.key));
      delete patch[key];
    }
  }
}

/**
 * The order of the items that were there before, as a real server remembers it: it takes deleted items out of the list
 * in place, and the first new ones move into the places that this leaves at its end. So an item that takes the place of
 * another, as after a container got a new name, comes after those that stay.
 */
function leftOrder(before: readonly unknown[], change: readonly unknown[], field: FieldStrategy): readonly unknown[] {
  if (field.strategy !== "merge" || field.key === "") return before;
  const items = change as readonly Obj[];
  const places = [...before];
  let length = places.length;
  const find = (item: Obj) => places.slice(0, length).findIndex((existing) => sameKey(existing, item, field.key));
  for (const item of items) {
    if (item[DIRECTIVE] !== "delete") continue;
    for (let at = find(item); at >= 0; at = find(item)) places.copyWithin(at, at + 1, length--);
  }
  if (items.some((item) => item[DIRECTIVE] === "replace")) return places;
  for (const item of items) {
    if (length === places.length) break;
    if (item[DIRECTIVE] === undefined && find(item) < 0) places[length++] = item;
  }
  return places;
}

function applyDirective(patch: Obj): Obj {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw new StrategicPatchError(500, `unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`);
}

function retainKeys(original: Obj, patch: Obj): void {
  const keep = patch[RETAIN_KEYS];
  if (keep === undefined) return;
  delete patch[RETAIN_KEYS];
  const bad = () => new StrategicPatchError(400, "invalid patch format of retainKeys");
  if (!Array.isArray(keep)) throw bad();
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || key.startsWith(DELETE_PRIMITIVES) || key.startsWith(ELEMENT_ORDER)) continue;
    if (!keep.includes(key)) throw bad();
  }
  for (const key of Object.keys(original)) if (!keep.includes(key)) delete original[key];
}

function directiveKey(text: string, prefix: string, what: string): string {
  const slash = text.indexOf("/");
  if (slash < 0 || text.slice(0, slash) !== prefix) {
    throw new StrategicPatchError(400, `invalid patch format of ${what}`);
  }
  return text.slice(slash + 1);
}

/** Whether a list holds objects; it must not mix them with scalars, nor hold lists. */
function checkElements(...lists: unknown[][]): boolean {
  const items = lists.flat();
  if (items.some(Array.isArray)) throw new StrategicPatchError(422, "lists of lists are not supported");
  const kinds = new Set(items.map((item) => (item === null ? "nil" : typeof item)));
  if (kinds.size > 1) {
    throw new StrategicPatchError(500, `list element types are not identical: ${goValue(lists)}`);
  }
  return kinds.has("object");
}

/** Takes the items with a `$patch` directive out of the patch and does what they say. */
function specialElements(original: Obj[], patch: Obj[], key: string): { original: Obj[]; patch: Obj[] } {
  let rest = original;
  let replace = false;
  const plain: Obj[] = [];
  for (const item of patch) {
    const directive = item[DIRECTIVE];
    if (directive === undefined) plain.push(item);
    else if (directive === "delete") {
      if (!Object.hasOwn(item, key)) throw noMergeKey(item, key);
      rest = rest.filter((existing) => !sameKey(existing, item, key));
    } else if (directive === "replace") replace = true;
    else if (directive === "merge") {
      throw new StrategicPatchError(500, "merging lists cannot yet be specified in the patch");
    } else throw new StrategicPatchError(500, `unknown patch type: ${goValue(directive)} in map: ${goValue(item)}`);
  }
  return replace ? { original: plain, patch: [] } : { original: rest, patch: plain };
}

/** Every item of the patch must occur in the wanted order, and in that order. */
function checkOrder(patch: unknown[], wanted: unknown[], key: string): void {
  if (wanted.length === 0 || patch.length === 0) return;
  const directive = (item: unknown) => (isObject(item) && Object.hasOwn(item, DIRECTIVE) ? item[DIRECTIVE] : undefined);
  const items = key === "" ? patch : patch.filter((item) => directive(item) !== "delete");
  let found = 0;
  for (let next = 0; next < wanted.length && found < items.length; ) {
    const item = items[found];
    if (directive(item) !== undefined) {
      found++;
      continue;
    }
    const place = wanted[next++];
    if (key !== "") {
      for (const one of [item, place]) if (!isObject(one) || !Object.hasOwn(one, key)) throw noMergeKey(one, key);
    }
    if (sameKey(item, place, key)) found++;
  }
  if (found < items.length) {
    const text = `The order in patch list:\n${goValue(patch)}\n doesn't match ${ELEMENT_ORDER} list:\n${goValue(wanted)}\n`;
    throw new StrategicPatchError(500, text);
  }
}

function requireKeys<T>(items: readonly T[], key: string): T[] {
  for (const item of items) if (!isObject(item) || !Object.hasOwn(item, key)) throw noMergeKey(item, key);
  return [...items];
}

function noMergeKey(item: unknown, key: string): StrategicPatchError {
  return new StrategicPatchError(500, `map: ${goValue(item)} does not contain declared merge key: ${key}`);
}

function wrongType(expected: string, value: unknown): StrategicPatchError {
  const types: Record<string, string> = { string: "string", number: "int64", boolean: "bool" };
  const actual = value === null ? "%!s(<nil>)" : (types[typeof value] ?? "map[string]interface {}");
  return new StrategicPatchError(500, `expected a ${expected}, but received a ${actual}`);
}

/** A new value holds no directives: objects that are one vanish. Undefined when the value itself does. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const clean: Obj = {};
  for (const [key, member] of Object.entries(value)) {
    const next = withoutDirectives(member);
    if (next !== undefined) setKey(clean, key, next);
  }
  return clean;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key, withoutNulls(member)]),
  );
}
