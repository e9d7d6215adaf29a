import { isRecord } from "../object.ts";
import type { CelEngine } from "../schema/index.ts";

type Environment = ReturnType<CelEngine["environment"]>;

/** `Object.spec{replicas: 3}`: a part of a configuration, with the name of its type, which says where it belongs. */
export class ObjectValue {
  readonly type: string;
  readonly fields: ReadonlyMap<string, unknown>;

  constructor(type: string, fields: ReadonlyMap<string, unknown>) {
    this.type = type;
    this.fields = fields;
  }
}

/** `JSONPatch{op: "add", path: "/spec", value: …}`. */
export class PatchValue {
  readonly fields: ReadonlyMap<string, unknown>;

  constructor(fields: ReadonlyMap<string, unknown>) {
    this.fields = fields;
  }
}

/** Receiver of `jsonpatch.escapeKey(…)`. */
class PatchFunctions {}

const members = (value: unknown): Map<string, unknown> =>
  value instanceof Map ? value : new Map(Object.entries(isRecord(value) ? value : {}));

/** Adds what expressions of mutating policies can write beside the rest. */
export function addPatchTypes(environment: Environment): void {
  environment
    .registerType("Object", { ctor: ObjectValue, fields: {} })
    .registerType("JSONPatch", { ctor: PatchValue, fields: {} })
    .registerType("kubernetes.JSONPatchFunctions", { ctor: PatchFunctions, fields: {} })
    .registerConstant("jsonpatch", "kubernetes.JSONPatchFunctions", new PatchFunctions())
    .registerFunction("kubernetes.JSONPatchFunctions.escapeKey(string): string", (_: PatchFunctions, key: string) =>
      key.replaceAll("~", "~0").replaceAll("/", "~1"),
    )
    .registerFunction("rootObject(map<string, dyn>): Object", (fields: unknown) => {
      return new ObjectValue("Object", members(fields));
    })
    .registerFunction("partObject(string, map<string, dyn>): dyn", (type: string, fields: unknown) => {
      return new ObjectValue(type, members(fields));
    })
    .registerFunction("patchOperation(map<string, dyn>): JSONPatch", (fields: unknown) => {
      return new PatchValue(members(fields));
    });
}

const TOKEN =
  /\/\/[^\n]*|[rRbB]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|`[^`]*`|[A-Za-z_][A-Za-z0-9_]*(?:\s*\.\s*[A-Za-z_][A-Za-z0-9_]*)*|\s+|[\s\S]/g;

/** An expression for the engine, and where its places are in what was written. */
export interface Rewritten {
  readonly expression: string;
  readonly at: (offset: number) => number;
}

/**
 * Writes literals of object types as calls, which is all that the engine understands: `Object{spec: x}` becomes
 * `rootObject({"spec": x})`. Everything else stays as it is.
 */
export function rewriteLiterals(expression: string): Rewritten {
  const tokens = expression.match(TOKEN) ?? [];
  const open: ("literal" | "other")[] = [];
  /** Where each token begins, there and here. */
  const places: { readonly from: number; readonly to: number; readonly same: boolean }[] = [];
  let out = "";
  let from = 0;
  /** Notes what a token became; `length` is how much was read. */
  const put = (text: string, length: number, same: boolean): void => {
    places.push({ from, to: out.length, same });
    out += text;
    from += length;
  };
  /** Inside a literal and before a field's name. */
  let naming = false;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as string;
    if (/^(?:\s|\/\/)/.test(token)) {
      put(token, token.length, true);
      continue;
    }
    const next = nextToken(tokens, i);
    if (naming && /^[A-Za-z_`]/.test(token) && next.token === ":") {
      put(JSON.stringify(token.replaceAll("`", "")), token.length, false);
      naming = false;
      continue;
    }
    const type = token.replace(/\s+/g, "");
    if (/^(?:Object(?:\.\w+)*|JSONPatch)$/.test(type) && next.token === "{") {
      const call =
        type === "JSONPatch" ? "patchOperation(" : type === "Object" ? "rootObject(" : `partObject("${type}", `;
      put(`${call}{`, tokens.slice(i, next.index + 1).join("").length, false);
      open.push("literal");
      naming = true;
      i = next.index;
      continue;
    }
    if (token === "{" || token === "(" || token === "[") open.push("other");
    const closes = token === "}" || token === ")" || token === "]";
    const closed = closes ? open.pop() : undefined;
    put(closed === "literal" ? "})" : token, token.length, closed !== "literal");
    // A comma directly inside a literal is followed by the next field; a question mark makes that field optional.
    naming = open.at(-1) === "literal" && (token === "," || (naming && token === "?"));
  }
  return {
    expression: out,
    at: (offset) => {
      const place = places.findLast(({ to }) => to <= offset);
      if (place === undefined) return offset;
      return place.same ? place.from + (offset - place.to) : place.from;
    },
  };
}

function nextToken(tokens: readonly string[], from: number): { readonly token: string; readonly index: number } {
  let index = from + 1;
  while (index < tokens.length && /^(?:\s|\/\/)/.test(tokens[index] as string)) index++;
  return { token: tokens[index] ?? "", index };
}

/** Literals that stand where their type's name says they do not belong; undefined when all are right. */
export function misplacedType(value: unknown, expected: string): string | undefined {
  if (value instanceof ObjectValue) {
    if (value.type !== expected) {
      return `unexpected type name "${value.type}", expected "${expected}", which matches field name path from root Object type`;
    }
    for (const [name, member] of value.fields) {
      const wrong = misplacedType(member, `${expected}.${name}`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }
  const inside = Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : [];
  for (const item of inside) {
    const wrong = misplacedType(item, expected);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** The JSON of what an expression gave. */
export function fromCel(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof ObjectValue) return fromMembers(value.fields);
  if (value instanceof Map) return fromMembers(value);
  if (Array.isArray(value)) return value.map(fromCel);
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, "Z");
  if (value instanceof Uint8Array) return btoa(String.fromCharCode(...value));
  if (isRecord(value) && Object.getPrototypeOf(value) === Object.prototype) return fromMembers(members(value));
  return typeof value === "object" && value !== null ? String(value) : value;
}

function fromMembers(fields: ReadonlyMap<unknown, unknown>): Record<string, unknown> {
  return Object.fromEntries([...fields].map(([key, member]) => [String(key), fromCel(member)]));
}
