/** Wrong fields under names that do not collide with those of whole answers. */
export {
  causeReason,
  duplicate as duplicateValue,
  type FieldError,
  fieldErrorBody,
  forbidden as forbiddenField,
  invalid as invalidValue,
  notSupported,
  required,
  tooLong as tooLongValue,
} from "./schema/index.ts";

export const IMMUTABLE = "field is immutable";
