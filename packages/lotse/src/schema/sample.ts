/**
 * Values that fit a structural schema: the smallest, those at its bounds, and as many others as one likes, the same ones
 * for the same seed. What it cannot make (a pattern that it cannot read, a rule in CEL that it does not know of) is told
 * as a gap, so that a test of nothing is not taken for a test. Pure.
 */
import { isObject, setKey } from "@lotse/client/meta";
import type { SchemaGap, SchemaNode } from "./node.ts";
import { type Random, seeded } from "./random.ts";
import {
  anyNumber,
  anyText,
  boundaryNumbers,
  boundaryTexts,
  fits,
  given,
  simplestNumber,
  simplestText,
} from "./sample-leaf.ts";
import { listKeys } from "./validate.ts";

/** Which values {@link SchemaSampler.samples} makes. */
export interface SampleOptions {
  /** Default 1. */
  readonly seed?: number;
  /** How many, those at the bounds among them. Default 100. */
  readonly runs?: number;
}

const TRIES = 20;
/** Values at the bounds: of one node, and of the whole. */
const MOST_VARIANTS = 40;
const MOST_BOUNDARIES = 400;
/** Lists and maps have no more than this, unless the schema asks for it. */
const USUAL_SIZE = 3;
/** A list at its upper bound is made up to this length. */
const MOST_ITEMS = 10;
const DEEPEST = 24;

type Made = { readonly value: unknown } | undefined;

/** Makes values of one schema. */
export class SchemaSampler {
  readonly #schema: SchemaNode;
  readonly #path: string;
  readonly #gaps = new Map<string, SchemaGap>();

  /** `path` is where the value is, for the gaps. */
  constructor(schema: SchemaNode, path = "") {
    this.#schema = schema;
    this.#path = path;
  }

  /** What no values could be made for, as far as that was tried. */
  get gaps(): readonly SchemaGap[] {
    return [...this.#gaps.values()];
  }

  /** The smallest value: what is required, and nothing else. Undefined when none could be made. */
  minimal(): unknown {
    return this.#make(this.#schema, this.#path, undefined, 0)?.value;
  }

  /** Values that have each field at each of its bounds, and each optional field once and once not. */
  boundaries(): readonly unknown[] {
    const all = this.#variants(this.#schema, this.#path, 0, MOST_BOUNDARIES);
    return all.filter((value) => fits(value, this.#schema));
  }

  /** The value of a seed and a number. Undefined when none could be made. */
  any(seed: number, index: number): unknown {
    return this.#make(this.#schema, this.#path, seeded(seed, index), 0)?.value;
  }

  /** The smallest value, those at the bounds, then others: as many as asked for, or fewer where none can be made. */
  *samples({ seed = 1, runs = 100 }: SampleOptions = {}): Generator<unknown> {
    const first = [this.minimal(), ...this.boundaries()].filter((value) => value !== undefined).slice(0, runs);
    yield* first;
    for (let i = 0; i < runs - first.length; i++) {
      const value = this.any(seed, i);
      if (value !== undefined) yield value;
    }
  }

  #gap(path: string, what: string, todo: string): undefined {
    if (!this.#gaps.has(path)) this.#gaps.set(path, { path, what, todo });
    return undefined;
  }

  /** Without `random` the smallest. */
  #make(schema: SchemaNode, path: string, random: Random | undefined, depth: number): Made {
    if (depth > DEEPEST) return undefined;
    const whole = withAll(schema);
    const alternatives = choicesOf(whole);
    if (alternatives.length === 0 && !isObject(whole.not)) return this.#makeOne(whole, path, random, depth);
    const choices = alternatives.length === 0 ? [{}] : alternatives;
    for (let i = 0; i < (random ? TRIES : choices.length); i++) {
      const choice = random ? random.of(choices) : (choices[i] as SchemaNode);
      const made = this.#makeOne(narrowed(whole, choice), path, random, depth);
      if (made && fits(made.value, schema)) return made;
    }
    return this.#gap(path, "no value was found that is one of its alternatives", "test it with an object of your own");
  }

  #makeOne(schema: SchemaNode, path: string, random: Random | undefined, depth: number): Made {
    if (random && schema.nullable === true && random.once(6)) return { value: null };
    if (Array.isArray(schema.enum)) {
      const allowed = (schema.enum as unknown[]).filter((one) => one !== null);
      const value = random && allowed.length > 0 ? random.of(allowed) : allowed[0];
      return value === undefined ? undefined : { value };
    }
    if (schema["x-kubernetes-int-or-string"] === true) {
      return this.#text({ ...schema, type: random?.once(2) === false ? "string" : "integer" }, path, random);
    }
    switch (schema.type) {
      case "object":
        return this.#object(schema, path, random, depth);
      case "array":
        return this.#list(schema, path, random, depth);
      case "boolean":
        return { value: random ? random.once(2) : false };
      case "string":
      case "integer":
      case "number":
        return this.#text(schema, path, random);
      default:
        return { value: random ? random.of(ANYTHING) : {} };
    }
  }

  /** A text or a number. */
  #text(schema: SchemaNode, path: string, random: Random | undefined): Made {
    const { "x-kubernetes-int-or-string": _either, ...node } = schema;
    const value =
      node.type === "string"
        ? random
          ? anyText(node, random)
          : simplestText(node)
        : random
          ? anyNumber(node, random)
          : simplestNumber(node);
    if (value !== undefined) return { value };
    const what =
      typeof schema.pattern === "string"
        ? `no text was found that matches ${schema.pattern}`
        : `no ${String(schema.type)} was found that fits`;
    return this.#gap(path, what, "give the field an example, or test it with an object of your own");
  }

  #object(schema: SchemaNode, path: string, random: Random | undefined, depth: number): Made {
    const value: Record<string, unknown> = {};
    if (schema["x-kubernetes-embedded-resource"] === true) Object.assign(value, EMBEDDED);
    const required = requiredOf(schema);
    const properties = propertiesOf(schema);
    const most = typeof schema.maxProperties === "number" ? schema.maxProperties : Number.POSITIVE_INFINITY;
    const names = [...required, ...Object.keys(properties).filter((name) => !required.has(name))];
    for (const name of names) {
      const optional = !required.has(name);
      if (optional && (!random || Object.keys(value).length >= most || random.once(3))) continue;
      if (Object.hasOwn(value, name)) continue;
      const made = this.#make(properties[name] ?? {}, below(path, name), random, depth + 1);
      if (made) setKey(value, name, made.value);
      else if (!optional) return undefined;
    }
    return this.#entries(schema, value, path, random, depth);
  }

  /** The members of a map, and of an object that takes anything. */
  #entries(
    schema: SchemaNode,
    value: Record<string, unknown>,
    path: string,
    random: Random | undefined,
    depth: number,
  ): Made {
    const { additionalProperties, minProperties, maxProperties } = schema;
    const least = typeof minProperties === "number" ? minProperties : 0;
    const free = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
    const members: SchemaNode | undefined = isObject(additionalProperties)
      ? additionalProperties
      : free
        ? {}
        : undefined;
    if (members) {
      const most = typeof maxProperties === "number" ? maxProperties : Math.max(least, USUAL_SIZE);
      const count = random ? random.int(least, Math.min(most, least + USUAL_SIZE)) : least;
      for (let i = 0; Object.keys(value).length < count && i < count + TRIES; i++) {
        const key = random?.once(2) ? `${random.of(KEYS)}${i}` : `k${i}`;
        const made = this.#make(members, below(path, "*"), random, depth + 1);
        if (!made) break;
        setKey(value, key, made.value);
      }
    }
    return Object.keys(value).length < least ? undefined : { value };
  }

  #list(schema: SchemaNode, path: string, random: Random | undefined, depth: number): Made {
    const { minItems, maxItems } = schema;
    const least = typeof minItems === "number" ? minItems : 0;
    const most = typeof maxItems === "number" ? maxItems : Math.max(least, USUAL_SIZE);
    return this.#items(
      schema,
      path,
      random,
      depth,
      random ? random.int(least, Math.min(most, least + USUAL_SIZE)) : least,
    );
  }

  #items(schema: SchemaNode, path: string, random: Random | undefined, depth: number, count: number): Made {
    const least = typeof schema.minItems === "number" ? schema.minItems : 0;
    const items = isObject(schema.items) ? schema.items : {};
    const unique = listKeys(schema) !== undefined;
    const value: unknown[] = [];
    for (let i = 0; value.length < count && i < count + TRIES; i++) {
      // The smallest item is always the same one: of items that must differ any will do.
      const source = random ?? (unique && i > 0 ? seeded(i) : undefined);
      const made = this.#make(items, `${path}[]`, source, depth + 1);
      if (!made) break;
      if (!unique || fits([...value, made.value], { ...schema, minItems: 0 })) value.push(made.value);
    }
    if (value.length >= least) return { value };
    return this.#gap(path, `no ${least} items were found that fit`, "test it with an object of your own");
  }

  /** Values at the bounds of a node: of an object all fields, of which one after the other is at one of its own. */
  #variants(schema: SchemaNode, path: string, depth: number, most = MOST_VARIANTS): readonly unknown[] {
    if (depth > DEEPEST) return [];
    const whole = withAll(schema);
    const choices = choicesOf(whole);
    const nodes = choices.length === 0 ? [whole] : choices.map((choice) => narrowed(whole, choice));
    const found = nodes.flatMap((node) => this.#variantsOfOne(node, path, depth));
    if (schema.nullable === true) found.push(null);
    return found.slice(0, most);
  }

  #variantsOfOne(schema: SchemaNode, path: string, depth: number): unknown[] {
    if (Array.isArray(schema.enum)) return (schema.enum as unknown[]).filter((one) => one !== null);
    if (schema["x-kubernetes-int-or-string"] === true) return [0, 1, "a", "50%"].filter((one) => fits(one, schema));
    switch (schema.type) {
      case "object":
        return this.#variantsOfObject(schema, path, depth);
      case "array":
        return this.#variantsOfList(schema, path, depth);
      case "boolean":
        return [false, true];
      case "string":
        return [...new Set([...boundaryTexts(schema), ...given(schema)])];
      case "integer":
      case "number":
        return [...new Set([...boundaryNumbers(schema), ...given(schema)])];
      default:
        return [...ANYTHING];
    }
  }

  #variantsOfObject(schema: SchemaNode, path: string, depth: number): unknown[] {
    const required = requiredOf(schema);
    const fields = Object.entries(propertiesOf(schema)).map(
      ([name, node]) => [name, this.#variants(node, below(path, name), depth + 1)] as const,
    );
    const full: Record<string, unknown> = {};
    if (schema["x-kubernetes-embedded-resource"] === true) Object.assign(full, EMBEDDED);
    for (const [name, values] of fields) if (values.length > 0) setKey(full, name, values.at(-1));
    const found: unknown[] = [full];
    for (const [name, values] of fields) {
      if (!required.has(name)) {
        const { [name]: _absent, ...rest } = full;
        found.push(rest);
      }
      for (const value of values.slice(0, -1)) found.push({ ...full, [name]: value });
    }
    const made = this.#make(schema, path, undefined, depth);
    if (made) found.push(made.value);
    if (isObject(schema.additionalProperties)) {
      const members = this.#variants(schema.additionalProperties, below(path, "*"), depth + 1);
      found.push(...members.map((member) => ({ ...full, k0: member })));
    }
    return found;
  }

  #variantsOfList(schema: SchemaNode, path: string, depth: number): unknown[] {
    const items = this.#variants(isObject(schema.items) ? schema.items : {}, `${path}[]`, depth + 1);
    const { minItems, maxItems } = schema;
    const least = typeof minItems === "number" ? minItems : 0;
    const counts = [Math.max(least, 2), ...(typeof maxItems === "number" && maxItems <= MOST_ITEMS ? [maxItems] : [])];
    const long = counts.map((count) => this.#items(schema, path, seeded(count), depth, count)?.value);
    const found: unknown[] = [[], ...items.map((item) => [item]), ...long.filter((value) => value !== undefined)];
    return found.filter((value) => fits(value, schema));
  }
}

const EMBEDDED = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
const KEYS = ["a", "Z", "example.com/x", "ä", "0"];
/** For fields that take anything. */
const ANYTHING: readonly unknown[] = [1, "a", true, 0.5, [], [1], { a: 1 }, { b: { c: ["x"] } }];

function below(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function requiredOf({ required }: SchemaNode): ReadonlySet<string> {
  return new Set(Array.isArray(required) ? (required as string[]) : []);
}

function propertiesOf({ properties }: SchemaNode): Record<string, SchemaNode> {
  return isObject(properties) ? (properties as Record<string, SchemaNode>) : {};
}

/** The node with what stands in `allOf`. */
function withAll(schema: SchemaNode): SchemaNode {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return schema;
  return allOf.filter(isObject).reduce<SchemaNode>(narrowed, rest);
}

/** The branches of `anyOf` and `oneOf`, each pair of them where there are both. */
function choicesOf({ anyOf, oneOf }: SchemaNode): readonly SchemaNode[] {
  const lists = [anyOf, oneOf].filter((list): list is unknown[] => Array.isArray(list) && list.length > 0);
  return lists.reduce<SchemaNode[]>(
    (choices, list) =>
      choices.length === 0
        ? list.filter(isObject)
        : choices.flatMap((choice) => list.filter(isObject).map((branch) => narrowed(choice, branch))),
    [],
  );
}

/** What both say; of two bounds or patterns the second, and values are tried against all of the schema afterwards. */
function narrowed(schema: SchemaNode, branch: SchemaNode): SchemaNode {
  const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
  const result: SchemaNode = { ...rest, ...branch };
  if (schema.required !== undefined || branch.required !== undefined) {
    result.required = [...new Set([...requiredOf(schema), ...requiredOf(branch)])];
  }
  const properties: Record<string, SchemaNode> = { ...propertiesOf(schema) };
  for (const [name, node] of Object.entries(propertiesOf(branch))) {
    properties[name] = narrowed(properties[name] ?? {}, node);
  }
  if (Object.keys(properties).length > 0) result.properties = properties;
  if (isObject(schema.items) && isObject(branch.items)) result.items = narrowed(schema.items, branch.items);
  return result;
}
