import { fieldErrorBody, goJson, type FieldError as SchemaError, causeReason as schemaReason } from "./schema/index.ts";

/** Wrong fields under names that do not collide with those of whole answers. */
export {
  duplicate as duplicateValue,
  forbidden as forbiddenField,
  internal as internalTrouble,
  invalid as invalidValue,
  notSupported,
  required,
  tooLong as tooLongValue,
  tooMany as tooManyItems,
  tooMany as tooManyValues,
  Verbatim,
} from "./schema/index.ts";

/** A field that names something which is not there. Schemas cannot find these, so only the registry knows them. */
export interface MissingReference {
  readonly type: "NotFound";
  readonly field: string;
  readonly badValue: unknown;
  /** What could have been named instead. */
  readonly detail?: string;
}

/** One mistake in an object, at one field. */
export type FieldError = SchemaError | MissingReference;

/** The error about a field that names something that is not there. */
export function missingReference(field: string, badValue: unknown, detail?: string): FieldError {
  return { type: "NotFound", field, badValue, ...(detail === undefined ? {} : { detail }) };
}

/** The server's sentence without the field: `Invalid value: 0: must be positive`. */
export function describeError(error: FieldError): string {
  if (error.type !== "NotFound") return fieldErrorBody(error);
  return `Not found: ${goJson(error.badValue)}${error.detail === undefined ? "" : `: ${error.detail}`}`;
}

/** The reason of the cause that reports this error: `FieldValueInvalid`, … */
export function causeReason(error: FieldError): string {
  return error.type === "NotFound" ? "FieldValueNotFound" : schemaReason(error);
}

/** The sentence about a field that cannot be changed. */
export const IMMUTABLE = "field is immutable";
