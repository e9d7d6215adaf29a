/** The words of a single node: which of them a CRD may carry, and in which form the API server reads them. */
import { AS_A_RULE, ATOMIC, RULES, SchemaError, type SchemaGap, type SchemaNode, UNSAID } from "./node.ts";

/** Keywords that a CRD may carry as they are. */
export const KEPT = new Set([
  "type",
  "format",
  "title",
  "description",
  "default",
  "nullable",
  "enum",
  "example",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
]);

/** Of {@link KEPT}, what may stand inside `anyOf` and `oneOf`. */
const NOT_A_CHECK = new Set(["type", "title", "description", "default", "nullable", "example"]);

/** Formats that the API server checks by itself, which makes the library's long pattern beside them noise. */
const SERVER_FORMATS = new Set(["date-time", "date", "email", "ipv4", "ipv6", "cidr", "byte", "uri", "hostname"]);

/** The other formats that Kubernetes knows. Whatever else a CRD says is warned of, and checked by nobody. */
export const KNOWN_FORMATS = new Set([
  ...SERVER_FORMATS,
  "datetime",
  "mac",
  "uuid",
  "uuid3",
  "uuid4",
  "uuid5",
  "isbn",
  "isbn10",
  "isbn13",
  "bsonobjectid",
  "creditcard",
  "ssn",
  "hexcolor",
  "rgbcolor",
  "password",
  "duration",
  "int32",
  "int64",
  "float",
  "double",
  "k8s-short-name",
  "k8s-long-name",
]);

/** Keywords that are read elsewhere in this module. */
const READ = new Set([
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "oneOf",
  "allOf",
  "$ref",
  "const",
]);

/** Keywords that check nothing. */
const REMARKS = new Set([
  "$schema",
  "$id",
  "id",
  "$comment",
  "$defs",
  "definitions",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "discriminator",
  "externalDocs",
  "contentEncoding",
  "contentMediaType",
]);

/** The words of a node that stay what they are; parts of it are left to the caller. */
export function keep(node: SchemaNode, path: string, gaps: SchemaGap[]): SchemaNode {
  const result: SchemaNode = {};
  for (const [key, value] of Object.entries(node)) {
    if (value === undefined) continue;
    if (key.startsWith("x-kubernetes-") || KEPT.has(key)) result[key] = value;
    else if (!READ.has(key) && !REMARKS.has(key) && !key.startsWith("x-lotse-")) {
      gaps.push({ path, what: `a CRD has no "${key}"`, todo: AS_A_RULE });
    }
  }
  if (node.const !== undefined) result.enum = [node.const];
  keepType(result, path, gaps);
  keepBounds(result);
  keepFormat(result, path, gaps);
  keepExamples(node, result);
  if (node[ATOMIC] === true) keepAtomic(result, path);
  if (Array.isArray(node[UNSAID])) gaps.push(...node[UNSAID].map((gap: Omit<SchemaGap, "path">) => ({ path, ...gap })));
  return result;
}

/** `["string", "null"]` is a text that may be null; fixed values have the type that they are of. */
function keepType(result: SchemaNode, path: string, gaps: SchemaGap[]): void {
  if (result.type === undefined && Array.isArray(result.enum) && result["x-kubernetes-int-or-string"] !== true) {
    const types = [...new Set(result.enum.map(typeOfValue))];
    if (types.every((type) => type !== undefined)) result.type = types.length === 1 ? types[0] : types;
  }
  if (!Array.isArray(result.type)) return;
  const given: readonly unknown[] = result.type;
  const types = given.filter((type) => type !== "null" && !(type === "integer" && given.includes("number")));
  if (given.includes("null")) result.nullable = true;
  const [only] = types;
  if (types.length === 1) result.type = only;
  else {
    delete result.type;
    if (types.length === 2 && types.includes("integer") && types.includes("string")) {
      result["x-kubernetes-int-or-string"] = true;
    } else
      gaps.push({
        path,
        what: `it is ${types.join(" or ")}, which a CRD cannot say: anything is taken`,
        todo: ONE_TYPE,
      });
  }
}

function typeOfValue(value: unknown): string | undefined {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
}

/** What to do where a value may be of several types. */
export const ONE_TYPE = "choose one type, or a field for each; a whole number or a text can be said";

function keepBounds(result: SchemaNode): void {
  // Libraries write "safe integer" bounds on every integer; the server needs none of them.
  if (result.minimum === Number.MIN_SAFE_INTEGER) delete result.minimum;
  if (result.maximum === Number.MAX_SAFE_INTEGER) delete result.maximum;
  // JSON Schema has a number where OpenAPI has a mark.
  for (const [exclusive, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof result[exclusive] === "number") Object.assign(result, { [bound]: result[exclusive], [exclusive]: true });
  }
}

function keepFormat(result: SchemaNode, path: string, gaps: SchemaGap[]): void {
  const unknown = (format: unknown) =>
    gaps.push({ path, what: `Kubernetes does not know the format "${String(format)}"`, todo: AS_A_RULE });
  if (SERVER_FORMATS.has(String(result.format))) delete result.pattern;
  if (isIsoDuration(result)) {
    // What Kubernetes calls a duration is another form: 1h30m.
    delete result.format;
    delete result.pattern;
    result.allOf = ISO_DURATION.map((pattern) => ({ pattern }));
  }
  if (typeof result.format === "string" && !KNOWN_FORMATS.has(result.format)) {
    // Of the patterns that belong to formats not all can be matched by the server.
    if (result.pattern === undefined || isForeign(String(result.pattern))) {
      unknown(result.format);
      delete result.pattern;
    }
    delete result.format;
  }
  if (typeof result.pattern === "string") result.pattern = asServerPattern(result.pattern, path);
}

const isIsoDuration = ({ format, pattern }: SchemaNode) => format === "duration" && String(pattern).startsWith("^P(");

/** Together they say what zod says with look-around: weeks alone, or parts in their order, of which one is there. */
const ISO_DURATION = [
  "^P(\\d+W|(\\d+Y)?(\\d+M)?(\\d+D)?(T(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$",
  "^PT?\\d",
  "^[^T]*(T\\d.*)?$",
];

/** `kubectl explain` shows descriptions alone, and a definition keeps one example. */
function keepExamples(node: SchemaNode, result: SchemaNode): void {
  const examples = Array.isArray(node.examples) ? node.examples : node.example === undefined ? [] : [node.example];
  if (examples.length === 0) return;
  const told = `${examples.length === 1 ? "Example" : "Examples"}: ${examples.map((one) => JSON.stringify(one)).join(", ")}`;
  const about = typeof result.description === "string" ? result.description.trimEnd() : "";
  const end = about === "" || /[.!?:…]$/.test(about) ? about : `${about}.`;
  result.example = examples[0];
  result.description = end === "" ? told : `${end} ${told}`;
}

function keepAtomic(result: SchemaNode, path: string): void {
  if (result.type === "array") result["x-kubernetes-list-type"] = "atomic";
  else if (result.type === "object") result["x-kubernetes-map-type"] = "atomic";
  else {
    throw new SchemaError(`${path} is atomic, and neither a list nor an object`, {
      hint: "every single value is written as a whole: leave atomic(…) out",
    });
  }
}

/** The server matches with RE2, which has neither look-around nor back-references, and writes characters otherwise. */
function asServerPattern(pattern: string, path: string): string {
  if (isForeign(pattern)) {
    throw new SchemaError(`the pattern of ${path} uses look-around or a back-reference, which Kubernetes refuses`, {
      hint: "write it without, or as a rule in CEL: rule(schema, expression, message)",
    });
  }
  return pattern.replaceAll(/\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|(.))/g, (all, long, short) => {
    const code = long ?? short;
    return code === undefined ? all : `\\x{${code}}`;
  });
}

/** Whether RE2 cannot match it. */
const isForeign = (pattern: string) => /\(\?<?[=!]|\\[1-9]/.test(pattern);

/** Of the words of a node, those that check a value: they may stand inside of `anyOf` and `oneOf`. */
export function checksOf(node: SchemaNode): SchemaNode {
  return Object.fromEntries(Object.entries(node).filter(([key]) => KEPT.has(key) && !NOT_A_CHECK.has(key)));
}

/** The rules of a node. */
export function rulesOf(node: SchemaNode): readonly SchemaNode[] {
  return Array.isArray(node[RULES]) ? (node[RULES] as SchemaNode[]) : [];
}
