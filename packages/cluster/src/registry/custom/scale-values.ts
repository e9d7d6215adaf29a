import { type FieldError, invalidValue } from "../fields.ts";
import { isRecord } from "../object.ts";

/** Where the numbers of a scale stand in an object, without the dot in front. */
export interface ScalePaths {
  readonly spec: string;
  readonly status: string;
  readonly selector?: string | undefined;
}

const LARGEST = 2_147_483_647;

/** What is wrong with the values behind a scale; a write to the status is only asked about its own. */
export function scaleErrors(object: object, paths: ScalePaths, statusOnly: boolean): FieldError[] {
  return [
    ...(statusOnly ? [] : countErrors(object, paths.spec)),
    ...countErrors(object, paths.status),
    ...(paths.selector === undefined ? [] : textErrors(object, paths.selector)),
  ];
}

function countErrors(object: object, path: string): FieldError[] {
  const found = valueAt(object, path);
  if ("problem" in found) return [invalidValue(`.${path}`, 0, found.problem)];
  const { value } = found;
  if (value === undefined) return [];
  if (typeof value !== "number" || !Number.isInteger(value)) {
    return [invalidValue(`.${path}`, 0, accessor(path, value, "int64"))];
  }
  if (value < 0) return [invalidValue(`.${path}`, value, "should be a non-negative integer")];
  return value > LARGEST ? [invalidValue(`.${path}`, value, `should be less than or equal to ${LARGEST}`)] : [];
}

function textErrors(object: object, path: string): FieldError[] {
  const found = valueAt(object, path);
  if ("problem" in found) return [invalidValue(`.${path}`, "", found.problem)];
  const { value } = found;
  if (value === undefined || typeof value === "string") return [];
  return [invalidValue(`.${path}`, "", accessor(path, value, "string"))];
}

type Found = { readonly value: unknown } | { readonly problem: string };

/** What a path leads to; undefined when it ends before. */
function valueAt(object: object, path: string): Found {
  let value: unknown = object;
  const keys = path.split(".");
  for (const [i, key] of keys.entries()) {
    if (value === undefined || value === null) return { value: undefined };
    if (!isRecord(value)) {
      return { problem: accessor(keys.slice(0, i + 1).join("."), value, "map[string]interface{}") };
    }
    if (!Object.hasOwn(value, key)) return { value: undefined };
    value = value[key];
  }
  return { value };
}

function accessor(path: string, value: unknown, expected: string): string {
  return `.${path} accessor error: ${inGo(value)} is of the type ${goType(value)}, expected ${expected}`;
}

function inGo(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(inGo).join(" ")}]`;
  if (!isRecord(value)) return String(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${members.map(([key, item]) => `${key}:${inGo(item)}`).join(" ")}]`;
}

function goType(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (isRecord(value)) return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}
