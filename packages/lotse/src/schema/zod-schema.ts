/**
 * What a schema of zod says that its JSON Schema does not: functions that check or change values. Nobody would ever call
 * them, because objects are checked by the API server and reach handlers as they are stored. Looked at by shape: Lotse
 * imports no schema library. Schemas of other libraries say nothing here.
 */
import { isObject } from "@lotse/client/meta";
import { AS_A_RULE, type SchemaGap } from "./node.ts";
import { OWN_TYPE } from "./own-schema.ts";
import { type Definition, definitionOf, listOf } from "./zod-definition.ts";

/** What was found in a schema. */
export interface ZodFindings {
  /** Where values would be changed to others, and by what: `{ path: "spec.size", by: ".transform(…)" }`. */
  readonly changes: readonly { readonly path: string; readonly by: string }[];
  /** What is not checked. */
  readonly gaps: readonly SchemaGap[];
}

interface Walk {
  readonly changes: { path: string; by: string }[];
  readonly gaps: SchemaGap[];
  /** Paths that have rules for the server: what a function checks there is taken to be said by them. */
  readonly ruled: ReadonlySet<string>;
  /** The schemas around the present one: a schema may contain itself. */
  readonly around: Set<unknown>;
}

/** Looks into a schema; `path` is where it stands, `ruled` are the paths that have rules of their own. */
export function lookIntoZod(schema: unknown, path: string, ruled: ReadonlySet<string> = new Set()): ZodFindings {
  const walk: Walk = { changes: [], gaps: [], ruled, around: new Set() };
  visit(schema, path, walk);
  return walk;
}

function visit(schema: unknown, path: string, walk: Walk): void {
  const def = definitionOf(schema);
  if (!def || walk.around.has(schema)) return;
  walk.around.add(schema);
  own(def, path, walk);
  for (const [part, where] of partsOf(def, path)) visit(part, where, walk);
  walk.around.delete(schema);
}

/** What the schema itself says, without its parts. */
function own(def: Definition, path: string, { changes, gaps, ruled }: Walk): void {
  const gap = (what: string, todo = AS_A_RULE) => gaps.push({ path, what, todo });
  if (def.type === "pipe") {
    const by = changeOf(def);
    if (by !== undefined) changes.push({ path, by });
    else gap(".pipe(…): only its first schema is checked", "use the second alone");
  }
  if (def.coerce === true)
    gap("z.coerce: the server converts nothing, and refuses another type", "use the type without it");
  if (def.type === "catch")
    gap(".catch(…): a wrong value is refused and not replaced", "use .default(…) for an absent one");
  for (const check of checksOf(def)) {
    if (check === "custom" && !ruled.has(path)) gap(".refine(…): the server cannot call a function");
    if (check === "property") gap("z.property(…): it is not checked");
    if (check === "overwrite") {
      gap(
        ".trim(), .toLowerCase(), .overwrite(…) and the like: the value stays as it is stored",
        "do it in the handler",
      );
    }
  }
}

/** What changes the values of a pipe; undefined when nothing does. */
function changeOf(def: Definition): string | undefined {
  if (typeof def.transform === "function") return "a codec (z.codec, z.stringbool)";
  if (definitionOf(def.in)?.type === "transform") return "z.preprocess(…)";
  return definitionOf(def.out)?.type === "transform" ? ".transform(…)" : undefined;
}

/** The schemas inside, each with its place. */
function partsOf(def: Definition, path: string): [part: unknown, path: string][] {
  switch (def.type) {
    case "object":
      return [
        ...Object.entries(isObject(def.shape) ? def.shape : {}).map(([key, part]): [unknown, string] => [
          part,
          `${path}.${key}`,
        ]),
        [def.catchall, `${path}.*`],
      ];
    case "array":
      return [[def.element, `${path}[]`]];
    case "record":
      return [[def.valueType, `${path}.*`]];
    case "tuple":
      return [...listOf(def.items), def.rest].map((part) => [part, `${path}[]`]);
    case "union":
      return listOf(def.options).map((part) => [part, path]);
    case "intersection":
      return [
        [def.left, path],
        [def.right, path],
      ];
    case "lazy":
      return typeof def.getter === "function" ? [[def.getter(), path]] : [];
    case "pipe":
      return [[def.in, path]];
    case OWN_TYPE:
      return (listOf(def.parts) as [string, unknown][]).map(([where, part]) => [part, `${path}${where}`]);
    default:
      return [[def.innerType, path]];
  }
}

/** The names of the checks that were added to a schema. */
function checksOf(def: Definition): unknown[] {
  return listOf(def.checks).map((check) => definitionOf(check)?.check);
}
