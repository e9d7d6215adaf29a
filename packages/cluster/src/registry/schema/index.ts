import type { CelEngine } from "./cel-engine.ts";

export type { CelCompilation, CelEngine, CelScope } from "./cel-engine.ts";
export { failureText } from "./cel-failure.ts";
export { applyDefaults } from "./defaults.ts";
export { embeddedErrors } from "./embedded.ts";
export {
  causeReason,
  duplicate,
  type FieldError,
  type FieldErrorType,
  fieldErrorBody,
  forbidden,
  formatFieldError,
  goJson,
  internal,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  Verbatim,
} from "./field-errors.ts";
export { schemaFieldPath } from "./field-path.ts";
export { isTextFormat } from "./formats.ts";
export { inlineSchema } from "./inline.ts";
export { listKey, validateLists } from "./lists.ts";
export { type Pruned, type PruneOptions, prune } from "./prune.ts";
export { type CompiledRules, checkRules, compileRules, evaluateRules, hasRules, rulesBlocked } from "./rules.ts";
export { checkStructural, SCHEMA_PATH, type StructuralOptions } from "./structural.ts";
export {
  isReference,
  noReferences,
  type Resolver,
  resolveSchema,
  type Schema,
  type SchemaType,
  type ValidationRule,
  wholeObjectSchema,
} from "./types.ts";
export { type ValidateOptions, validateValue } from "./validate.ts";

/** The expression engine: large, and most clusters never need it. */
export const loadCelEngine = async (): Promise<CelEngine> => (await import("./cel-engine.ts")).createCelEngine();
