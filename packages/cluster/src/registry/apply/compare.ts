import { deepEqual, isObject, setKey } from "@lotse/client/meta";
import type { Resolver } from "../schema/index.ts";
import { FieldSet, fieldElement, type Path, type PathElement } from "./field-set.ts";
import { itemElement, type Node, type Shape, shapeOf } from "./shape.ts";

/** What differs between two objects. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Compares two values field by field, at the grain at which fields can be owned. */
export function compareValues(before: unknown, after: unknown, node: Node, resolve: Resolver): Comparison {
  const comparison = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  new Compare(comparison, resolve).node(before, after, node, []);
  return comparison;
}

/**
 * Two values without the members that are equal in both: most changes are small, and what is left takes a fraction of
 * the time to compare by schema. Containers stay as long as they differ; undefined when nothing does.
 */
export function differingParts(before: unknown, after: unknown): readonly [unknown, unknown] | undefined {
  if (before === after) return undefined;
  if (!isObject(before) || !isObject(after)) return deepEqual(before, after) ? undefined : [before, after];
  const left: Record<string, unknown> = {};
  const right: Record<string, unknown> = {};
  let same = true;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const pair = differingParts(own(before, name), own(after, name));
    if (!pair) continue;
    same = false;
    if (pair[0] !== undefined) setKey(left, name, pair[0]);
    if (pair[1] !== undefined) setKey(right, name, pair[1]);
  }
  return same ? undefined : [left, right];
}

/** A member that the object has itself: every object also has a `constructor` that no client wrote. */
function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

class Compare {
  readonly #out: Comparison;
  readonly #resolve: Resolver;

  constructor(out: Comparison, resolve: Resolver) {
    this.#out = out;
    this.#resolve = resolve;
  }

  node(before: unknown, after: unknown, node: Node, path: Path): void {
    let leaf = false;
    for (const shape of this.#shapes(before, after, node)) leaf = this.#shape(before, after, shape, path);
    if (leaf) return;
    if (before === undefined) this.#out.added.insert(path);
    else if (after === undefined) this.#out.removed.insert(path);
  }

  /** Content without a schema may change its kind: then the old kind goes away, and the new one comes. */
  #shapes(before: unknown, after: unknown, node: Node): Shape[] {
    const old = shapeOf(node, before ?? after, this.#resolve);
    const next = shapeOf(node, after ?? before, this.#resolve);
    return old.kind === next.kind ? [next] : [old, next];
  }

  /** Whether the value was taken as a whole. */
  #shape(before: unknown, after: unknown, shape: Shape, path: Path): boolean {
    if (shape.kind === "scalar" || shape.atomic) return this.#leaf(before, after, path);
    if (shape.kind === "list") {
      const left = Array.isArray(before) ? before : [];
      const right = Array.isArray(after) ? after : [];
      if (left.length === 0 && right.length === 0) return this.#leaf(before, after, path);
      this.#items(left, right, shape, path);
      return false;
    }
    const left = isObject(before) ? before : {};
    const right = isObject(after) ? after : {};
    const names = new Set([...Object.keys(left), ...Object.keys(right)]);
    if (names.size === 0) return this.#leaf(before, after, path);
    for (const name of names) {
      const field = shape.field(name);
      if (field) this.node(own(left, name), own(right, name), field.node, [...path, fieldElement(name)]);
    }
    return false;
  }

  #leaf(before: unknown, after: unknown, path: Path): boolean {
    if (before === undefined) this.#out.added.insert(path);
    else if (after === undefined) this.#out.removed.insert(path);
    else if (!deepEqual(before, after)) this.#out.modified.insert(path);
    return true;
  }

  /** Items that occur more than once cannot be told apart, and count as one thing. */
  #items(before: unknown[], after: unknown[], shape: Extract<Shape, { kind: "list" }>, path: Path): void {
    const left = group(before, shape);
    const right = group(after, shape);
    for (const element of new Set([...left.keys(), ...right.keys()])) {
      const at = [...path, element];
      const old = left.get(element) ?? [];
      const next = right.get(element) ?? [];
      if (old.length <= 1 && next.length <= 1) this.node(old[0], next[0], shape.items, at);
      else if (old.length >= 2 && next.length >= 2) {
        if (!deepEqual(old, next)) this.#out.modified.insert(at);
      } else if (old.length >= 2) {
        if (next.length > 0) this.node(undefined, next[0], shape.items, at);
        this.#out.removed.insert(at);
      } else {
        if (old.length > 0) this.node(old[0], undefined, shape.items, at);
        this.#out.added.insert(at);
      }
    }
  }
}

function group(items: unknown[], shape: Extract<Shape, { kind: "list" }>): Map<PathElement, unknown[]> {
  const groups = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const found = itemElement(shape, item);
    if ("error" in found) continue;
    const known = groups.get(found.element);
    if (known) known.push(item);
    else groups.set(found.element, [item]);
  }
  return groups;
}
