import { isObject, setKey } from "@lotse/client/meta";
import type { Resolver } from "../schema/index.ts";
import { FieldSet, fieldElement, formatPath, type Path, type PathElement } from "./field-set.ts";
import { DEDUCED, itemElement, type Node, type Shape, shapeOf } from "./shape.ts";

type ListShape = Extract<Shape, { kind: "list" }>;

/** All fields of a value at the grain at which they can be owned; containers only where they would be lost otherwise. */
export function toFieldSet(value: unknown, node: Node, resolve: Resolver): FieldSet {
  const set = new FieldSet();
  collect(value, node, [], set, resolve);
  return set;
}

function collect(value: unknown, node: Node, path: Path, set: FieldSet, resolve: Resolver): void {
  const shape = shapeOf(node, value, resolve);
  if (shape.kind === "scalar" || shape.atomic) {
    set.insert(path);
    return;
  }
  if (shape.kind === "list") {
    if (!Array.isArray(value)) return;
    const seen = new Map<PathElement, number>();
    const elements = value.map((item) => itemElement(shape, item));
    for (const found of elements) if ("element" in found) seen.set(found.element, (seen.get(found.element) ?? 0) + 1);
    for (const [i, found] of elements.entries()) {
      if ("error" in found) continue;
      const at = [...path, found.element];
      if (seen.get(found.element) === 1) collect(value[i], shape.items, at, set, resolve);
      set.insert(at);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const field = shape.field(name);
    if (!field || member === undefined) continue;
    const at = [...path, fieldElement(name)];
    collect(member, field.node, at, set, resolve);
    const hollow = member === null || (isObject(member) && Object.keys(member).length === 0);
    if (hollow || !field.named) set.insert(at);
  }
}

/** What keeps a configuration from being applied: unknown fields, items without or with the same key. */
export function checkApplied(value: unknown, node: Node, resolve: Resolver): string[] {
  const errors: string[] = [];
  check(value, node, [], errors, resolve);
  return errors;
}

function check(value: unknown, node: Node, path: Path, errors: string[], resolve: Resolver): void {
  if (value === null || value === undefined) return;
  const shape = shapeOf(node, value, resolve);
  const fail = (problem: string) => errors.push(`${formatPath(path)}: ${problem}`);
  if (shape.kind === "scalar") {
    const problem = scalarProblem(value, node, resolve);
    if (problem !== undefined) fail(problem);
    return;
  }
  if (shape.kind === "list") {
    if (!Array.isArray(value)) {
      fail(`expected list, got ${goKind(value)}`);
      return;
    }
    const seen = new Set<PathElement>();
    for (const [i, item] of value.entries()) {
      const found = shape.atomic ? { element: `i:${i}` } : itemElement(shape, item);
      if ("error" in found) fail(`element ${i}: ${found.error}`);
      else {
        if (seen.has(found.element)) fail(`duplicate entries for key ${formatPath([found.element])}`);
        seen.add(found.element);
        check(item, shape.items, [...path, found.element], errors, resolve);
      }
    }
    return;
  }
  if (!isObject(value)) {
    fail(`expected map, got ${goKind(value)}`);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    const field = shape.field(name);
    if (field) check(member, field.node, [...path, fieldElement(name)], errors, resolve);
    else errors.push(`${formatPath([...path, fieldElement(name)])}: field not declared in schema`);
  }
}

/** What is wrong with a value where the schema has a text, a number or a truth. */
function scalarProblem(value: unknown, node: Node, resolve: Resolver): string | undefined {
  const schema = node === DEDUCED || node.$ref === undefined ? node : resolve(node.$ref);
  const type = schema === DEDUCED ? undefined : schema?.type;
  const found = typeof value;
  if (found === "object") return `expected scalar, got ${goKind(value)}`;
  if (type === "string" && found !== "string") return `expected string, got &value.valueUnstructured{Value:${value}}`;
  if ((type === "integer" || type === "number") && found !== "number") {
    return `expected numeric (int or float), got ${found === "boolean" ? "bool" : found}`;
  }
  if (type === "boolean" && found !== "boolean") return `expected boolean, got ${goKind(value)}`;
  return undefined;
}

/** A value as the server shows it in a complaint about its kind. */
function goKind(value: unknown): string {
  if (typeof value === "string") return `&{${value}}`;
  return `&{${Array.isArray(value) ? `[${value.join(" ")}]` : isObject(value) ? "map[]" : String(value)}}`;
}

/** Lays a configuration over a value: its fields win, items of keyed lists and sets are joined, the rest is replaced. */
export function mergeValues(live: unknown, applied: unknown, node: Node, resolve: Resolver): unknown {
  if (applied === undefined) return live;
  const shape = shapeOf(node, applied ?? live, resolve);
  if (live === undefined || shape.kind === "scalar" || shape.atomic) return applied;
  if (shape.kind === "list") {
    const left = Array.isArray(live) ? live : [];
    const right = Array.isArray(applied) ? applied : [];
    if (left.length === 0 && right.length === 0) return applied;
    return mergeItems(left, right, shape, resolve);
  }
  const left = isObject(live) ? live : {};
  const right = isObject(applied) ? applied : {};
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  if (names.size === 0) return applied;
  const merged: Record<string, unknown> = {};
  for (const name of names) {
    const field = shape.field(name) ?? { node: DEDUCED };
    // Every object also has a `constructor` that no client wrote: only its own members count.
    const before = Object.hasOwn(left, name) ? left[name] : undefined;
    const after = Object.hasOwn(right, name) ? right[name] : undefined;
    const member = mergeValues(before, after, field.node, resolve);
    if (member !== undefined) setKey(merged, name, member);
  }
  return merged;
}

/**
 * Items of both lists, once each: those of the configuration in its order, those that only the server has where they
 * were in relation to them.
 */
function mergeItems(live: unknown[], applied: unknown[], shape: ListShape, resolve: Resolver): unknown[] {
  const left = index(live, shape);
  const right = index(applied, shape);
  const out: unknown[] = [];
  const merged = new Set<PathElement>();
  const shared = right.order.filter((element) => left.values.has(element));
  let next = shared.shift();
  const take = (element: PathElement) => {
    merged.add(element);
    out.push(mergeValues(left.values.get(element), right.values.get(element), shape.items, resolve));
    if (next === element) next = shared.shift();
  };
  let l = 0;
  let r = 0;
  while (l < left.order.length || r < right.order.length) {
    const mine = left.order[l];
    const theirs = right.order[r];
    if (mine !== undefined && theirs !== undefined) {
      if (mine === theirs) {
        take(mine);
        l++;
        r++;
        continue;
      }
      if (right.values.has(mine) && next !== undefined && next !== mine) {
        l++;
        continue;
      }
    }
    if (mine !== undefined) {
      if (!right.values.has(mine)) {
        out.push(live[left.places[l] as number]);
        l++;
        continue;
      }
      if (merged.has(mine)) l++;
    }
    if (theirs !== undefined) {
      take(theirs);
      r++;
    }
  }
  return out;
}

/** Items that occur twice in the live list cannot be merged with one of the configuration: it replaces them. */
function index(list: unknown[], shape: ListShape) {
  const order: PathElement[] = [];
  const places: number[] = [];
  const values = new Map<PathElement, unknown>();
  for (const [i, item] of list.entries()) {
    const found = itemElement(shape, item);
    if ("error" in found) continue;
    values.set(found.element, values.has(found.element) ? undefined : item);
    order.push(found.element);
    places.push(i);
  }
  return { order, places, values };
}

/**
 * The value without the fields of the set. What is emptied by that becomes `emptied`: the server leaves null behind
 * while it reckons who owns what, and nothing in what it stores, except in content without a schema.
 */
export function removeFields(
  value: unknown,
  set: FieldSet,
  node: Node,
  resolve: Resolver,
  emptied: null | undefined,
): unknown {
  if (set.empty) return value;
  const shape = shapeOf(node, value, resolve);
  const hollow = node === DEDUCED ? null : emptied;
  if (shape.kind === "scalar") return value;
  if (shape.atomic) return hollow;
  if (shape.kind === "list") {
    if (!Array.isArray(value)) return hollow;
    const items: unknown[] = [];
    for (const item of value) {
      const found = itemElement(shape, item);
      if ("error" in found) items.push(item);
      else if (!set.has(found.element)) {
        items.push(removeFields(item, set.below(found.element), shape.items, resolve, emptied) ?? null);
      }
    }
    return items.length > 0 ? items : hollow;
  }
  if (!isObject(value)) return hollow;
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const element = fieldElement(name);
    if (set.has(element)) continue;
    const next = removeFields(member, set.below(element), shape.field(name)?.node ?? DEDUCED, resolve, emptied);
    if (next !== undefined) setKey(result, name, next);
  }
  return Object.keys(result).length > 0 ? result : hollow;
}

/** Adds the named fields that a set only passes through: with all its fields a struct goes, too. */
export function withNamedFields(set: FieldSet, node: Node, resolve: Resolver): FieldSet {
  return set.map((element, member, below) => {
    // A set does not say what its values look like; every kind of step implies a kind of value.
    const shape = shapeOf(node, element.startsWith("f:") ? {} : [], resolve);
    if (element.startsWith("f:")) {
      const field = shape.kind === "map" ? shape.field(element.slice(2)) : undefined;
      const named = field?.named === true && !below.empty;
      return { member: member || named, below: withNamedFields(below, field?.node ?? DEDUCED, resolve) };
    }
    return { member, below: withNamedFields(below, shape.kind === "list" ? shape.items : DEDUCED, resolve) };
  });
}
