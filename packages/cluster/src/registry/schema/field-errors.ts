/** What kind of mistake a field holds; the names are those of the API server's causes without their prefix. */
export type FieldErrorType =
  | "Required"
  | "Invalid"
  | "NotSupported"
  | "Duplicate"
  | "Forbidden"
  | "TooLong"
  | "TooMany"
  | "TypeInvalid"
  | "Internal";

/** One mistake in an object, at one field. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** The dotted path; `<nil>` for the object itself. */
  readonly field: string;
  /** Absent where the server prints no value. */
  readonly badValue?: unknown;
  readonly detail: string;
}

const TITLES: Record<FieldErrorType, string> = {
  Required: "Required value",
  Invalid: "Invalid value",
  NotSupported: "Unsupported value",
  Duplicate: "Duplicate value",
  Forbidden: "Forbidden",
  TooLong: "Too long",
  TooMany: "Too many",
  TypeInvalid: "Invalid value",
  Internal: "Internal error",
};

const WITHOUT_VALUE = new Set<FieldErrorType>(["Required", "Forbidden", "TooLong", "Internal"]);

/** The server's sentence without the field: `Invalid value: 0: must be positive`. */
export function fieldErrorBody(error: FieldError): string {
  let text = TITLES[error.type];
  if (!WITHOUT_VALUE.has(error.type) && error.badValue !== undefined) text += `: ${shown(error.badValue)}`;
  return error.detail === "" ? text : `${text}: ${error.detail}`;
}

/** A text stands in the quotes of Go, which has its own names for what cannot be seen. */
function shown(value: unknown): string {
  if (typeof value !== "string") return value instanceof Verbatim ? value.text : webSafe(goJson(value));
  return JSON.stringify(value).replace(/\\u00([01][0-9a-f])/g, (_, code: string) => GO_ESCAPES[code] ?? `\\x${code}`);
}

/** JSON as Go writes it unless asked otherwise: fit to stand in a web page. */
export function webSafe(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const GO_ESCAPES: Readonly<Record<string, string>> = { "07": "\\a", "0b": "\\v" };

/** The server's sentence: `spec.size: Invalid value: 0: spec.size in body should be …`. */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${fieldErrorBody(error)}`;
}

/** The reason of the cause that reports this error: `FieldValueInvalid`, … */
export function causeReason(error: FieldError): string {
  return error.type === "Internal" ? "InternalError" : `FieldValue${error.type}`;
}

/** A value that breaks a rule. */
export function invalid(field: string, badValue: unknown, detail: string): FieldError {
  return { type: "Invalid", field: field || "<nil>", badValue, detail };
}

/** A value that is missing. */
export function required(field: string, detail = ""): FieldError {
  return { type: "Required", field: field || "<nil>", detail };
}

/** A field that must not be there. */
export function forbidden(field: string, detail: string): FieldError {
  return { type: "Forbidden", field: field || "<nil>", detail };
}

/** The server's own trouble with a field. */
export function internal(field: string, detail: string): FieldError {
  return { type: "Internal", field: field || "<nil>", detail };
}

/** An item that occurs twice. */
export function duplicate(field: string, badValue: unknown): FieldError {
  return { type: "Duplicate", field: field || "<nil>", badValue, detail: "" };
}

/** A value that is none of those that there are. */
export function notSupported(field: string, badValue: unknown, supported: readonly string[]): FieldError {
  const detail = `supported values: ${supported.map((value) => JSON.stringify(value)).join(", ")}`;
  return { type: "NotSupported", field: field || "<nil>", badValue, detail: supported.length > 0 ? detail : "" };
}

/** A text above its limit. */
export function tooLong(field: string, limit: number): FieldError {
  return {
    type: "TooLong",
    field: field || "<nil>",
    detail: `may not be more than ${limit} ${limit === 1 ? "byte" : "bytes"}`,
  };
}

/** A list with more items than its limit. */
export function tooMany(field: string, actual: number, limit: number): FieldError {
  return {
    type: "TooMany",
    field: field || "<nil>",
    badValue: actual,
    detail: `must have at most ${limit} ${limit === 1 ? "item" : "items"}`,
  };
}

/** `base.name`, or whichever of the two is not empty. */
export function childPath(base: string, name: string): string {
  return base === "" ? name : name === "" ? base : `${base}.${name}`;
}

/** A value whose text is fixed already. */
export class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON as the server prints it: keys in order, and numbers in Go's notation. */
export function goJson(value: unknown): string {
  if (typeof value === "number") return goNumber(value);
  if (value instanceof Verbatim) return value.text;
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.keys(value)
      .filter((key) => (value as Record<string, unknown>)[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${goJson((value as Record<string, unknown>)[key])}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** Go writes small and large numbers with an exponent of at least two digits. */
export function goNumber(value: number): string {
  const size = Math.abs(value);
  // Whole numbers that fit are integers there; all others are printed in the shortest form.
  if (Number.isInteger(value) && size < 2 ** 63) return String(value);
  if (size >= 1e-4 && size < 1e6) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}
