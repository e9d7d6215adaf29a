/**
 * Specs to walk through: one that an operator can probably do, its neighbours, each of which differs from it in one place,
 * and such that a server must refuse. Made from the schema of the kind, the same ones for the same seed. Pure.
 */
import { deepEqual, isObject } from "@lotse/client/meta";
import { type SchemaNode, SchemaSampler, seeded, validateValue } from "lotse/samples";

/** A spec; what is in it is the kind's business. */
export type Spec = Readonly<Record<string, unknown>>;

/** Words that are names, labels and hosts as well: most operators can do something with them. */
const WORDS = ["alpha", "bravo", "carol", "delta"];
const MOST_VALUES = 5;
const DEEPEST = 5;
const LONGEST = 300;

/** Specs with which a walk can begin, the most promising first: everything that can be said, said modestly; the least. */
export function firstSpecs(schema: SchemaNode, seed: number): Spec[] {
  const sampler = new SchemaSampler(schema, "spec");
  const others = Array.from({ length: 10 }, (_, i) => sampler.any(seed, i));
  const candidates = [modest(schema, 0, 0)?.value, sampler.minimal(), ...others, ...sampler.boundaries().slice(0, 5)];
  return distinct(candidates.filter((value): value is Spec => isObject(value) && fits(value, schema)));
}

/** Specs that differ from `base` in one place, in an order in which each field has its turn early. */
export function neighbours(base: Spec, schema: SchemaNode, seed: number): Spec[] {
  const groups = Object.entries(propertiesOf(schema)).map(([name, node], i) => {
    const found = memberVariants(base, name, node, !requiredOf(schema).has(name), seed + i);
    return found.filter((value) => fits(value, schema));
  });
  if (isObject(schema.additionalProperties))
    groups.push(mapVariants(base, schema.additionalProperties, seed, 0) as Spec[]);
  const turns = Math.max(0, ...groups.map(({ length }) => length));
  const inTurns = Array.from({ length: turns }, (_, i) => groups.flatMap((group) => group.slice(i, i + 1))).flat();
  return distinct(inTurns).filter((spec) => !deepEqual(spec, base));
}

/** Specs that the schema forbids, each with what is wrong with it. */
export function forbiddenSpecs(base: Spec, schema: SchemaNode): { readonly spec: Spec; readonly what: string }[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, node]) => {
    const wrong = wrongValues(node).map(([value, what]) => ({
      spec: { ...base, [name]: value },
      what: `${name} ${what}`,
    }));
    const { [name]: _, ...without } = base;
    if (requiredOf(schema).has(name) && node.default === undefined)
      wrong.push({ spec: without, what: `${name} is missing` });
    // What a version of the schema library takes after all is no wrong value.
    return wrong.filter(({ spec }) => validateValue(spec, schema).length > 0);
  });
}

function wrongValues(node: SchemaNode): [unknown, string][] {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = node;
  const found: [unknown, string][] = [];
  if (Array.isArray(node.enum)) found.push(["no-such-choice", "is none of the choices"]);
  if (typeof minimum === "number") found.push([minimum - 1, "is below its minimum"]);
  if (typeof maximum === "number") found.push([maximum + 1, "is above its maximum"]);
  if (typeof minLength === "number" && minLength > 0) found.push(["", "is too short"]);
  if (typeof maxLength === "number" && maxLength < LONGEST) found.push(["a".repeat(maxLength + 1), "is too long"]);
  if (typeof node.pattern === "string") found.push(["\u0001", "does not match its pattern"]);
  if (typeof minItems === "number" && minItems > 0) found.push([[], "has too few items"]);
  if (typeof maxItems === "number" && maxItems < 20) {
    const item = modest(isObject(node.items) ? node.items : {}, 0, 0)?.value;
    found.push([Array.from({ length: maxItems + 1 }, () => item), "has too many items"]);
  }
  if (node["x-kubernetes-list-type"] === "set" || node["x-kubernetes-list-type"] === "map") {
    const item = modest(isObject(node.items) ? node.items : {}, 0, 0)?.value;
    found.push([[item, item], "has an item twice"]);
  }
  if (type === "string" && node["x-kubernetes-int-or-string"] !== true) found.push([7, "is a number"]);
  if (type === "integer" || type === "number" || type === "boolean") found.push(["seven", "is a text"]);
  return found;
}

/** A value that says something, and nothing extreme; another one for each `turn`. */
function modest(schema: SchemaNode, turn: number, depth: number): { readonly value: unknown } | undefined {
  if (depth > DEEPEST) return least(schema);
  const given = [...(turn === 0 && schema.default !== undefined ? [schema.default] : []), ...examplesOf(schema)];
  if (given.length > turn && fits(given[turn], schema)) return { value: given[turn] };
  if (Array.isArray(schema.enum)) return { value: schema.enum[turn % schema.enum.length] };
  if (schema["x-kubernetes-int-or-string"] === true) return { value: 1 + turn };
  switch (schema.type) {
    case "object":
      return modestObject(schema, turn, depth);
    case "array":
      return modestList(schema, turn, depth);
    case "boolean":
      return { value: turn % 2 === 0 };
    case "integer":
    case "number": {
      const { minimum, maximum } = schema;
      const low = typeof minimum === "number" ? minimum : 1;
      const candidates = [2 + turn, low + 1 + turn, low, maximum];
      const value = candidates.find((one) => typeof one === "number" && fits(one, schema));
      return value === undefined ? least(schema) : { value };
    }
    case "string": {
      const value = [WORDS[turn % WORDS.length], `${WORDS[0]}-${turn}`, `${2 + turn}Gi`, `${turn + 1}.0`].find((one) =>
        fits(one, schema),
      );
      return value === undefined ? other(schema, turn) : { value };
    }
    default:
      return least(schema);
  }
}

function modestObject(schema: SchemaNode, turn: number, depth: number): { readonly value: unknown } | undefined {
  const required = requiredOf(schema);
  const value: Record<string, unknown> = {};
  for (const [name, node] of Object.entries(propertiesOf(schema))) {
    const made = modest(node, turn, depth + 1);
    if (made) value[name] = made.value;
    else if (required.has(name)) return least(schema);
  }
  if (isObject(schema.additionalProperties)) {
    for (const [i, key] of WORDS.slice(0, 2).entries()) {
      const made = modest(schema.additionalProperties, turn + i, depth + 1);
      if (made) value[key] = made.value;
    }
  }
  return fits(value, schema) ? { value } : least(schema);
}

/** Two items, as one would not show what is done with the second. */
function modestList(schema: SchemaNode, turn: number, depth: number): { readonly value: unknown } | undefined {
  const items = isObject(schema.items) ? schema.items : {};
  const value = [0, 1].flatMap((i) => {
    const made = modest(items, turn + i, depth + 1);
    return made ? [made.value] : [];
  });
  const found = [value, value.slice(0, 1)].find((one) => fits(one, schema));
  return found === undefined ? least(schema) : { value: found };
}

function least(schema: SchemaNode): { readonly value: unknown } | undefined {
  const value = new SchemaSampler(schema).minimal();
  return value === undefined ? undefined : { value };
}

function other(schema: SchemaNode, turn: number): { readonly value: unknown } | undefined {
  const value = turn === 0 ? new SchemaSampler(schema).minimal() : new SchemaSampler(schema).any(turn, turn);
  return value === undefined ? undefined : { value };
}

/** The object with one of its members otherwise, or without it. */
function memberVariants(
  object: Spec,
  name: string,
  node: SchemaNode,
  optional: boolean,
  seed: number,
  depth = 0,
): Spec[] {
  const { [name]: value, ...rest } = object;
  const found: Spec[] = valueVariants(value, node, seed, depth).map((one) => ({ ...object, [name]: one }));
  if (optional && value !== undefined) found.splice(1, 0, rest);
  return found;
}

/** Other values for a place: an ordinary one first, then those at the bounds. */
function valueVariants(value: unknown, node: SchemaNode, seed: number, depth: number): unknown[] {
  if (depth > DEEPEST) return [];
  const ordinary = [1, 0, 2].flatMap((turn) => modest(node, turn, depth)?.value ?? []);
  if (node.type === "array") return listVariants(value, node, seed, depth);
  if (node.type === "object" && isObject(value)) {
    const inside = Object.entries(propertiesOf(node)).flatMap(([name, member]) =>
      memberVariants(value as Spec, name, member, !requiredOf(node).has(name), seed, depth + 1),
    );
    const members = isObject(node.additionalProperties)
      ? mapVariants(value, node.additionalProperties, seed, depth)
      : [];
    return different([...inside, ...members, ...ordinary], value);
  }
  const bounds = new SchemaSampler(node).boundaries();
  const drawn = new SchemaSampler(node).any(seed, depth);
  return different([...ordinary.slice(0, 1), ...bounds, ...ordinary.slice(1), drawn], value).slice(0, MOST_VALUES + 1);
}

/** Shorter, longer, in another order, empty, with the same twice; and with another first item. */
function listVariants(value: unknown, node: SchemaNode, seed: number, depth: number): unknown[] {
  const list = Array.isArray(value) ? value : [];
  const items = isObject(node.items) ? node.items : {};
  const more = [2, 3, 0, 1]
    .map((turn) => modest(items, turn, depth + 1)?.value)
    .find((item) => !list.some((one) => deepEqual(one, item)));
  const first = valueVariants(list[0], items, seed, depth + 1).slice(0, MOST_VALUES);
  const found = [
    list.slice(0, -1),
    ...(more === undefined ? [] : [[...list, more]]),
    [],
    list.toReversed(),
    list.slice(1),
    ...first.map((item) => [item, ...list.slice(1)]),
    [...list, ...list.slice(0, 1)],
  ];
  return different(found, value).filter((one) => fits(one, node));
}

function mapVariants(
  value: Spec | Record<string, unknown>,
  members: SchemaNode,
  seed: number,
  depth: number,
): unknown[] {
  const keys = Object.keys(value);
  const [first] = keys;
  const added = modest(members, 2, depth + 1);
  const renamed =
    first === undefined
      ? []
      : [Object.fromEntries(Object.entries(value).map(([key, one]) => [key === first ? "renamed" : key, one]))];
  const without =
    first === undefined ? [] : [Object.fromEntries(Object.entries(value).filter(([key]) => key !== first))];
  const changed =
    first === undefined
      ? []
      : valueVariants(value[first], members, seed, depth + 1)
          .slice(0, MOST_VALUES)
          .map((one) => ({ ...value, [first]: one }));
  return [...without, ...(added ? [{ ...value, extra: added.value }] : []), ...renamed, ...changed];
}

/** In an order that the seed decides, the first ones first more often than not. */
export function drawOrder<T>(items: readonly T[], seed: number): T[] {
  const random = seeded(seed, items.length);
  return items
    .map((item, i) => ({ item, at: i + random.next() * 4 }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function different(values: readonly unknown[], than: unknown): unknown[] {
  return distinct(values.filter((value) => value !== undefined && !deepEqual(value, than)));
}

function distinct<T>(values: readonly T[]): T[] {
  const known = new Set<string>();
  return values.filter((value) => {
    const key = JSON.stringify(value);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}

function fits(value: unknown, schema: SchemaNode): boolean {
  return validateValue(value, schema).length === 0;
}

function examplesOf({ example, examples }: SchemaNode): unknown[] {
  return [...(example === undefined ? [] : [example]), ...(Array.isArray(examples) ? examples : [])];
}

function requiredOf({ required }: SchemaNode): ReadonlySet<string> {
  return new Set(Array.isArray(required) ? (required as string[]) : []);
}

function propertiesOf({ properties }: SchemaNode): Record<string, SchemaNode> {
  return isObject(properties) ? (properties as Record<string, SchemaNode>) : {};
}
