/**
 * How much an expression may cost at most, before it ever runs: the server refuses rules that could keep it busy. The
 * units, factors and rules are those of a real server, quirks included, because a definition that is accepted here must
 * be accepted there.
 */
import { lookup } from "@lotse/client/meta";
import type { ASTNode } from "@marcbachmann/cel-js";
import { costOfFunction, type Entry, isText, type Part, PER_CHARACTER } from "./cel-cost-functions.ts";
import { add, exactly, part, type Size, sum, times, UNKNOWN, union } from "./cel-cost-sizes.ts";
import { BOOL, INT, LOOPS, listOf, NEW_LIST, opaque, RESULTS } from "./cel-cost-tables.ts";
import { DYN, type SizedKind, type SizedType, scalar, TEXT } from "./cel-sizes.ts";

type Locals = ReadonlyMap<string, Omit<Part, "cost">>;

const NEW_MAP = 30;

const optionalOf = (element: SizedType): SizedType => ({ kind: "optional", most: 0, least: 1, element });

/** The highest cost of an expression about a value of this type; `optional` says that `oldSelf` may be absent. */
export function estimateCost(ast: ASTNode, root: SizedType, optional: boolean): number {
  const self = { type: root, path: ["self"] };
  const old = { type: optional ? optionalOf(root) : root, path: ["oldSelf"] };
  const estimator = new Estimator(root);
  return estimator.part(
    ast,
    new Map([
      ["self", self],
      ["oldSelf", old],
    ]),
  ).cost;
}

const SCALARS: ReadonlySet<SizedKind> = new Set(["bool", "double", "duration", "int", "timestamp", "uint"]);
const isScalar = (type: SizedType): boolean =>
  SCALARS.has(type.kind) || (type.kind === "optional" && type.element !== undefined && isScalar(type.element));

/** Types whose values are compared in one step. */
const COMPARED_AT_ONCE: ReadonlySet<string> = new Set(["ip", "cidr", "quantity", "semver"]);

class Estimator {
  readonly #root: SizedType;

  constructor(root: SizedType) {
    this.#root = root;
  }

  part(node: ASTNode, locals: Locals): Part {
    switch (node.op) {
      case "value":
        return literal(node.args);
      case "id": {
        const local = locals.get(node.args);
        return local ? { ...local, cost: 1 } : { cost: 1, type: opaque("type"), path: [node.args] };
      }
      case ".":
        return this.#select(this.part(node.args[0], locals), node.args[1]);
      case ".?": {
        const operand = this.part(node.args[0], locals);
        const { type } = this.#select(operand, node.args[1]);
        return { cost: add(operand.cost, 1), type: optionalOf(type), path: [] };
      }
      case "[]":
      case "[?]":
        return this.#index(this.part(node.args[0], locals), this.part(node.args[1], locals), node.op === "[?]");
      case "list":
        return this.#list(node.args.map((item) => this.part(item, locals)));
      case "map":
        return this.#map(node.args.map((pair) => pair.map((item) => this.part(item, locals)) as [Part, Part]));
      case "?:": {
        const [condition, then, otherwise] = node.args.map((arg) => this.part(arg, locals)) as [Part, Part, Part];
        return {
          cost: add(condition.cost, Math.max(then.cost, otherwise.cost)),
          type: then.type,
          path: [],
          size: union(this.#sizeOf(then), this.#sizeOf(otherwise)),
          entry: unionEntry(then.entry, otherwise.entry),
        };
      }
      case "||":
      case "&&": {
        const [left, right] = node.args.map((arg) => this.part(arg, locals)) as [Part, Part];
        return { cost: add(left.cost, right.cost), type: BOOL, path: [] };
      }
      case "!_":
      case "-_": {
        const arg = this.part(node.args, locals);
        return { cost: add(arg.cost, 1), type: arg.type, path: [] };
      }
      case "call":
        return this.#call(node.args[0], undefined, node.args[1], locals);
      case "rcall": {
        const [name, receiver, args] = node.args;
        // `ip.isCanonical(…)`: a name with a dot, and not a method of something.
        if (receiver.op === "id" && !locals.has(receiver.args)) {
          return this.#call(`${receiver.args}.${name}`, undefined, args, locals);
        }
        return this.#macro(name, receiver, args, locals) ?? this.#call(name, receiver, args, locals);
      }
      default: {
        const [left, right] = node.args.map((arg) => this.part(arg, locals)) as [Part, Part];
        return this.#operator(node.op, left, right);
      }
    }
  }

  #select(operand: Part, field: string): Part {
    const { kind, fields, element } = operand.type;
    const counted = kind === "object" || kind === "map";
    const type = kind === "map" ? element : kind === "optional" ? element?.fields?.get(field) : fields?.get(field);
    return {
      cost: add(operand.cost, counted ? 1 : 0),
      type: type ?? DYN,
      path: [...operand.path, field],
    };
  }

  #index(container: Part, key: Part, optional: boolean): Part {
    const held = container.type.kind === "optional" ? container.type.element : container.type;
    const element = held?.element ?? DYN;
    const indexed: Part = {
      cost: add(container.cost, key.cost, 1),
      type: optional ? optionalOf(element) : element,
      path: optional ? [] : [...container.path, held?.kind === "map" ? "@values" : "@items"],
    };
    return { ...indexed, size: container.entry?.value ?? this.#measure(indexed) };
  }

  #list(items: readonly Part[]): Part {
    const sizes = items.map((item) => this.#sizeOf(item));
    return {
      cost: add(...items.map((item) => item.cost), NEW_LIST),
      type: listOf(items[0]?.type ?? DYN),
      path: [],
      size: exactly(items.length),
      entry: { kind: "list", key: exactly(1), value: sizes.length > 0 ? sizes.reduce(union) : exactly(0) },
    };
  }

  #map(pairs: readonly (readonly [Part, Part])[]): Part {
    const all = (index: 0 | 1) => pairs.map((pair) => this.#sizeOf(pair[index]));
    const range = (sizes: Size[]) => (sizes.length > 0 ? sizes.reduce(union) : exactly(0));
    return {
      cost: add(...pairs.flat().map((item) => item.cost), NEW_MAP),
      type: { kind: "map", most: 0, least: 2, element: pairs[0]?.[1].type ?? DYN },
      path: [],
      size: exactly(pairs.length),
      entry: { kind: "map", key: range(all(0)), value: range(all(1)) },
    };
  }

  #operator(operator: string, left: Part, right: Part): Part {
    const args = add(left.cost, right.cost);
    const texts = isText(left.type) || isText(right.type);
    const unclear = left.type.kind === "dyn" && right.type.kind === "dyn";
    const compared = () => add(args, part(Math.min(this.#sizeOf(left).max, this.#sizeOf(right).max), PER_CHARACTER));
    switch (operator) {
      case "==":
        if (left.type.name === right.type.name && COMPARED_AT_ONCE.has(left.type.name ?? "")) {
          return { cost: add(args, 1), type: BOOL, path: [] };
        }
        return { cost: compared(), type: BOOL, path: [] };
      case "!=":
        return { cost: compared(), type: BOOL, path: [] };
      case "<":
      case "<=":
      case ">":
      case ">=":
        return { cost: texts || unclear ? Math.max(compared(), add(args, 1)) : add(args, 1), type: BOOL, path: [] };
      case "in": {
        const list = right.type.kind !== "map";
        return { cost: add(args, list ? this.#sizeOf(right).max : 1), type: BOOL, path: [] };
      }
      case "+": {
        const lists = left.type.kind === "list" || right.type.kind === "list";
        if (!texts && !lists && !unclear) return { cost: add(args, 1), type: left.type, path: [] };
        const size = sum(this.#sizeOf(left), this.#sizeOf(right));
        const cost = lists ? 1 : part(size.max, PER_CHARACTER);
        return { cost: add(args, cost), type: left.type, path: [], size, entry: unionEntry(left.entry, right.entry) };
      }
      default:
        return { cost: add(args, 1), type: left.type, path: [] };
    }
  }

  /** Loops over a list or over the keys of a map: what each step costs, as often as there may be items. */
  #macro(name: string, receiver: ASTNode, args: readonly ASTNode[], locals: Locals): Part | undefined {
    const [variable, ...bodies] = args;
    const loop = lookup(LOOPS, name)?.[bodies.length];
    if (loop === undefined || variable?.op !== "id") return undefined;
    const range = this.part(receiver, locals);
    const held = range.entry?.kind ?? (range.type.kind === "list" ? "list" : "map");
    const item = {
      type: held === "list" ? (range.type.element ?? DYN) : TEXT,
      path: [...range.path, held === "list" ? "@items" : "@keys"],
      size: undefined,
    };
    const inside = new Map([...locals, [variable.args, item]]);
    const parts = bodies.map((body) => this.part(body, inside));
    const count = this.#sizeOf(range);
    const step = loop.step(...parts.map(({ cost }) => cost));
    const made = loop.makes === "list";
    const element = name === "filter" ? (range.type.element ?? DYN) : (parts.at(-1)?.type ?? DYN);
    return {
      cost: add(range.cost, loop.start, times(count.max, step), loop.end),
      type: made ? listOf(element) : BOOL,
      path: [],
      size: made ? count : exactly(1),
      entry: made
        ? { kind: "list", key: exactly(1), value: name === "filter" ? UNKNOWN : this.#sizeOf(parts.at(-1) as Part) }
        : undefined,
    };
  }

  #call(name: string, receiver: ASTNode | undefined, nodes: readonly ASTNode[], locals: Locals): Part {
    if (name === "has" && receiver === undefined) return this.#presence(nodes[0] as ASTNode, locals);
    if (name === "cel.bind") return this.#bind(nodes, locals);
    const target = receiver && this.part(receiver, locals);
    const args = nodes.map((node) => this.part(node, locals));
    if (name === "dyn" && args[0]) return { ...args[0], cost: add(args[0].cost, 1), type: DYN };
    const base = add(target?.cost ?? 0, ...args.map((arg) => arg.cost));
    const known = costOfFunction(name, target, args, (value) => this.#sizeOf(value));
    return {
      cost: add(base, known.cost ?? 1),
      type: known.type ?? lookup(RESULTS, name) ?? DYN,
      path: [],
      size: known.size,
    };
  }

  /** Asking whether a field is there costs nothing but the way to it. */
  #presence(node: ASTNode, locals: Locals): Part {
    const operand = node.op === "." ? node.args[0] : node;
    return { cost: this.part(operand, locals).cost, type: BOOL, path: [] };
  }

  #bind(nodes: readonly ASTNode[], locals: Locals): Part {
    const [variable, value, body] = nodes;
    if (variable?.op !== "id" || !value || !body) return { cost: 1, type: DYN, path: [] };
    const bound = this.part(value, locals);
    const result = this.part(body, new Map([...locals, [variable.args, { ...bound, size: this.#measure(bound) }]]));
    return { ...result, cost: add(NEW_LIST, bound.cost, result.cost), path: [] };
  }

  #sizeOf(value: Part): Size {
    return this.#measure(value) ?? UNKNOWN;
  }

  #measure(value: Part): Size | undefined {
    if (value.size) return value.size;
    const most = this.#limit(value.path);
    if (most !== undefined) return { min: 0, max: most };
    return isScalar(value.type) ? exactly(1) : undefined;
  }

  /** The limit that the schema sets at a path. The first step is the variable, and every variable starts at the root. */
  #limit(path: readonly string[]): number | undefined {
    if (path.length === 0) return undefined;
    let type: SizedType | undefined = this.#root;
    for (const step of path.slice(1)) {
      if (step === "@items" || step === "@values") type = type.element;
      else if (step === "@keys") type = type.kind === "map" ? TEXT : undefined;
      else type = type.fields?.get(step);
      if (type === undefined) return undefined;
    }
    return type.most;
  }
}

function unionEntry(a: Entry | undefined, b: Entry | undefined): Entry | undefined {
  return a && b && { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) };
}

function literal(value: unknown): Part {
  if (typeof value === "string") return { cost: 0, type: TEXT, path: [], size: exactly([...value].length) };
  if (value instanceof Uint8Array) return { cost: 0, type: scalar("bytes"), path: [], size: exactly(value.length) };
  const type = typeof value === "bigint" ? INT : typeof value === "boolean" ? BOOL : scalar("double");
  return {
    cost: 0,
    type: value === null ? DYN : type,
    path: [],
    size: exactly(1),
    literal: typeof value === "bigint" ? Number(value) : undefined,
  };
}
