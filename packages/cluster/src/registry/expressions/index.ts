export type { AccessCheck, AccessQuestion } from "./access-check.ts";
export { authorizerValue } from "./access-library.ts";
export {
  type Declarations,
  describeFailure,
  type ExpressionOptions,
  Expressions,
  namespaceValue,
  requestValue,
  toCel,
  variablesValue,
} from "./expressions.ts";
export { fromCel, misplacedType, ObjectValue, PatchValue } from "./patch-types.ts";
