/**
 * Schemas of Lotse's own: JSON Schema with a static type, and no library behind it. One may stand wherever a schema of a
 * library may: `resource()` asks it for its JSON Schema as it asks all of them, and zod, which looks at the shape of what
 * it is given, takes it for a schema of zod.
 */
import type { JsonSchemaSource } from "./json-schema.ts";
import type { SchemaNode } from "./node.ts";

/**
 * A schema that needs no library at run time, as `schema()`, `quantity()` and their siblings make it.
 *
 * @example
 * ```ts
 * const size: OwnSchema<number> = schema({ type: "integer", minimum: 1 });
 * const spec = z.object({ size, memory: z.optional(quantity()) });
 * ```
 */
export interface OwnSchema<Output, Input = Output> extends JsonSchemaSource<Output, Input> {
  /** What zod looks at. The API server checks values; zod takes any. */
  readonly _zod: ZodFace<Output, Input>;
}

// biome-ignore-start lint/suspicious/noExplicitAny: these are zod's own affairs, whose types Lotse does not import
/** What zod's types and functions ask of a schema. */
export interface ZodFace<Output, Input> {
  readonly output: Output;
  readonly input: Input;
  readonly optin: undefined extends Input ? "optional" : undefined;
  readonly optout: undefined extends Output ? "optional" : undefined;
  readonly def: any;
  readonly version: any;
  readonly traits: any;
  readonly bag: any;
  readonly deferred: any;
  readonly run: any;
  readonly parse: any;
  readonly constr: any;
  readonly isst: any;
  readonly pattern: any;
  readonly values: any;
  toJSONSchema(): any;
}
// biome-ignore-end lint/suspicious/noExplicitAny: these are zod's own affairs, whose types Lotse does not import

/** A schema inside of another, and where: `[".size", z.int()]`. */
export type SchemaPlace = readonly [path: string, source: JsonSchemaSource];

/** The name under which an {@link OwnSchema} is known to those who look at the shape of schemas. */
export const OWN_TYPE = "lotse";

/** An {@link OwnSchema} whose JSON Schema is what `json` gives; `parts` are schemas of libraries inside of it. */
export function ownSchema<Output, Input = Output>(
  json: () => SchemaNode,
  parts: readonly SchemaPlace[] = [],
): OwnSchema<Output, Input> {
  const same = (payload: unknown) => payload;
  const hasDefault = json().default !== undefined;
  const face = {
    def: { type: OWN_TYPE, parts },
    version: { major: 4, minor: 0, patch: 0 },
    traits: new Set(["$ZodType"]),
    bag: {},
    deferred: [],
    run: same,
    parse: same,
    ...(hasDefault && { optin: "optional" }),
    // Whoever asks changes what they get.
    toJSONSchema: () => structuredClone(json()),
  };
  return {
    "~standard": { version: 1, vendor: "lotse", jsonSchema: { input: () => structuredClone(json()) } },
    _zod: face as unknown as ZodFace<Output, Input>,
  };
}
