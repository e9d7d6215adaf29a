/** What may an object look like? Structural schemas, definitions, what changes between two of them. Pure, below everything. */
export { compareDefinitions, type DefinitionChange } from "./compatibility.ts";
export {
  type Column,
  type CrdVersionInput,
  crdOf,
  lookIntoSchemas,
  placedSchema,
  RECORD_FIELD,
  type ScalePlaces,
  type ServerRule,
} from "./crd.ts";
export {
  type Annotated,
  atomic,
  duration,
  embedded,
  immutable,
  intOrString,
  listMap,
  listSet,
  podTemplate,
  quantity,
  type RuleMessage,
  rule,
} from "./helpers.ts";
export { type InputOf, type JsonSchemaSource, type OutputOf, readJsonSchema } from "./json-schema.ts";
export { type SchemaLiteral, type SchemaOf, type SchemaPart, schema, type ValueOf } from "./literal.ts";
export { SchemaError, type SchemaGap, type SchemaNode } from "./node.ts";
export type { OwnSchema, ZodFace } from "./own-schema.ts";
export { type Random, seeded } from "./random.ts";
export { type SampleOptions, SchemaSampler } from "./sample.ts";
export { itemSchema, memberSchema, withDefaults, withoutUnknown } from "./server-form.ts";
export { shrinkValue } from "./shrink.ts";
export { type CallerFrame, callerFrame, callerLocation } from "./source-location.ts";
export { type ValidateOptions, type ValueProblem, validateValue } from "./validate.ts";
