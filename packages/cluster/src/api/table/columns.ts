import { formatLabelSelector } from "@lotse/client/meta";
import { type ApiObject, isRecord, objectAt } from "../../registry/index.ts";
import { ageCell } from "./age.ts";

/** A column of a table: what it is called and how its cell is found in an object. */
export interface Column {
  readonly name: string;
  /** `string` unless told. */
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  /** Only shown by `-o wide`. */
  readonly wide?: boolean;
  /** The rows have this cell although the table declares no such column. */
  readonly undeclared?: true;
  readonly cell: (object: ApiObject, now: number) => unknown;
}

/** How kubectl shows that there is nothing. */
export const NONE = "<none>";
/** How kubectl shows what cannot be told. */
export const UNKNOWN = "<unknown>";
/** How kubectl shows a field that was never given a value. */
export const UNSET = "<unset>";

/** The first column of nearly every kind. */
export const nameColumn: Column = { name: "Name", format: "name", cell: (object) => object.metadata.name };

/** Time since the creation, as kubectl shortens it. */
export const age: Column = {
  name: "Age",
  cell: (object, now) => ageCell(object.metadata.creationTimestamp, now),
};
/** The time of creation in full, for kinds whose age tells little. */
export const createdAt: Column = { name: "Created At", cell: (object) => object.metadata.creationTimestamp ?? UNKNOWN };

/** A cell that is a field: `spec.type`. Missing values print as `missing`. */
export function field(name: string, path: string, missing: unknown = "", more: Partial<Column> = {}): Column {
  const keys = path.split(".");
  const last = keys.pop() as string;
  return { name, cell: (object) => objectAt(object, ...keys)[last] ?? missing, ...more };
}

/** A column with a number out of the object; 0 where it is missing. */
export const number = (name: string, path: string): Column => field(name, path, 0, { type: "integer" });
/** The column in `kubectl get -o wide` only. */
export const wide = (column: Column): Column => ({ ...column, wide: true });

/** A label selector in one line. */
export const selectorText = (value: unknown): string =>
  isRecord(value) ? formatLabelSelector(value as Record<string, string>) || NONE : NONE;
/** The selector in the object's spec. */
export const selector: Column = wide({ name: "Selector", cell: (o) => selectorText(objectAt(o, "spec").selector) });
