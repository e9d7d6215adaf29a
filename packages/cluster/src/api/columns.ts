import type { ApiObject } from "../registry/index.ts";

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
  readonly cell: (object: ApiObject, now: number) => unknown;
}

export const NONE = "<none>";
export const UNKNOWN = "<unknown>";
export const UNSET = "<unset>";

export const nameColumn: Column = { name: "Name", format: "name", cell: (object) => object.metadata.name };
