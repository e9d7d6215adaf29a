/**
 * `lotse/samples`: values that fit the schema of a kind, at its bounds and elsewhere, the same ones for the same seed; for
 * tests. Never part of an operator that runs.
 *
 * @module
 */
export {
  type Random,
  type SampleOptions,
  type SchemaGap,
  type SchemaNode,
  SchemaSampler,
  seeded,
  shrinkValue,
  type ValidateOptions,
  type ValueProblem,
  validateValue,
} from "./schema/index.ts";
