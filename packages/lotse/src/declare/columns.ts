/**
 * Paths from a definition into the objects that it is for: columns, replicas, selectable fields. The compiler follows
 * them through the schema's types, and a program without types is told when it is declared.
 */
import { isObject } from "@lotse/client/meta";
import type { Column, ScalePlaces, SchemaNode } from "../schema/index.ts";
import { declarationError } from "./errors.ts";
import type { PathIn } from "./field-path.ts";

/**
 * `P` where it leads to a field of `B`: `".status.rate"`. Where it does not, the paths that would. What begins with a
 * bracket (`[0]`, `[?(@.type=="Ready")]`) or an escaped dot is JSONPath of its own, and not followed any further.
 */
export type JsonPathIn<B, P extends string> = string extends P
  ? P
  : P extends `.${infer Text}`
    ? [Plain<Text>] extends [PathIn<B, Plain<Text>>]
      ? P
      : `.${PathIn<B, Plain<Text>> & string}`
    : `.${keyof B & string}`;

/** The part of a path that is keys and dots alone. */
type Plain<Text extends string> = Text extends `${infer Before}[${string}`
  ? Plain<Before>
  : Text extends `${infer Before}\\${string}`
    ? Before
    : Text;

/** The same columns; where a path leads nowhere, a column with one that does. */
export type ColumnsIn<B, C extends readonly Column[]> = {
  readonly [I in keyof C]: C[I]["path"] extends JsonPathIn<B, C[I]["path"]>
    ? C[I]
    : Column & { readonly path: JsonPathIn<B, C[I]["path"]> };
};

/** The same paths; for one that leads nowhere, those that do. */
export type FieldsIn<B, F extends readonly string[]> = {
  readonly [I in keyof F]: F[I] extends JsonPathIn<B, F[I]> ? F[I] : JsonPathIn<B, F[I]>;
};

/** The same places of replicas; for one that leads nowhere, those that do. */
export type ScaleIn<B, S> = {
  readonly [K in keyof S]: S[K] extends string ? (S[K] extends JsonPathIn<B, S[K]> ? S[K] : JsonPathIn<B, S[K]>) : S[K];
};

/** Paths that a version of a kind names. */
export interface NamedPaths {
  readonly columns: readonly Column[];
  readonly scale: ScalePlaces | undefined;
  readonly selectableFields: readonly string[];
}

/** Throws where a path leads nowhere in `schema`, which is that of the whole object. `who` is `Rate v1`. */
export function checkPaths({ columns, scale, selectableFields }: NamedPaths, schema: SchemaNode, who: string): void {
  for (const { name, path } of columns) checkPath(path, schema, `the column "${name}" of ${who}`);
  for (const [part, path] of Object.entries(scale ?? {})) checkPath(path, schema, `scale.${part} of ${who}`);
  for (const path of selectableFields) checkPath(path, schema, `selectableFields of ${who}`);
}

function checkPath(path: string, schema: SchemaNode, who: string): void {
  if (!path.startsWith(".")) {
    throw declarationError(`${who} has the path ${JSON.stringify(path)}`, "begin it with a dot: .spec.size");
  }
  const [plain = ""] = path.slice(1).split(/[[\\]/);
  let node: unknown = schema;
  let before = "";
  for (const key of plain.split(".")) {
    const fields = fieldsOf(node, before === "");
    if (fields === undefined) return;
    if (!Object.hasOwn(fields, key)) {
      const known = Object.keys(fields).map((name) => `${before}.${name}`);
      const hint = known.length > 0 ? `there are ${known.slice(0, 8).join(", ")}` : `${before} has no fields`;
      throw declarationError(`${who} has the path ${path}, where nothing is`, hint);
    }
    node = fields[key];
    before += `.${key}`;
  }
}

/** The fields below a node; undefined where there may be any. */
function fieldsOf(node: unknown, isRoot: boolean): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(node) || node["x-kubernetes-preserve-unknown-fields"] === true) return undefined;
  if (node.additionalProperties !== undefined) return undefined;
  const properties = isObject(node.properties) ? node.properties : {};
  // The server has its own schema of these: they stand in no definition.
  return isRoot ? { apiVersion: true, kind: true, metadata: undefined, ...properties } : properties;
}
