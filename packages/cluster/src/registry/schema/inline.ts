import { type Resolver, resolveSchema, type Schema } from "./types.ts";

/** Deeper than any schema that is not part of itself. */
const DEEPEST = 24;

/**
 * A schema without references, for what cannot follow them. Where a type is part of itself it ends: what lies below is
 * not described.
 */
export function inlineSchema(schema: Schema, resolve: Resolver, above: readonly string[] = []): Schema {
  const ref = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  if (ref !== undefined && (above.includes(ref) || above.length > DEEPEST)) return {};
  const path = ref === undefined ? above : [...above, ref];
  const { properties, items, additionalProperties, ...node } = resolveSchema(schema, resolve);
  const below = (inner: Schema) => inlineSchema(inner, resolve, path);
  return {
    ...node,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, below(inner)])),
    }),
    ...(items && { items: below(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === "object" ? below(additionalProperties) : additionalProperties,
    }),
  };
}
