/** The server's own view of a kind: its Table answer, with the columns that `kubectl get` shows. */
import type { ObjectMeta } from "@lotse/client";
import { isObject } from "@lotse/client/meta";

/** A column beside name, namespace and age, which the page shows by itself. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/** One object. */
export interface TableRow {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** ISO 8601. */
  readonly created: string | undefined;
  readonly deleting: boolean;
  /** One for each column. */
  readonly cells: readonly (string | number | boolean | null)[];
}

/** A page of objects, and how to ask for the next. */
export interface TablePage {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly TableRow[];
  readonly next: string | undefined;
}

/** Asks for a Table, and takes a plain list from servers (aggregated ones) that have none. */
export const TABLE_ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/** Reads a Table, or a plain list when the server answered with one. */
export function readTable(answer: unknown): TablePage {
  if (!isObject(answer)) return { columns: [], rows: [], next: undefined };
  const metadata = isObject(answer.metadata) ? answer.metadata : {};
  const next = typeof metadata.continue === "string" && metadata.continue !== "" ? metadata.continue : undefined;
  if (answer.kind !== "Table") {
    const items = Array.isArray(answer.items) ? answer.items : [];
    return { columns: [], rows: items.map((item) => rowOf(item, [])), next };
  }
  const definitions = Array.isArray(answer.columnDefinitions) ? answer.columnDefinitions.filter(isObject) : [];
  const shown = definitions.map((column, at) => ({ column, at })).filter(({ column, at }) => isShown(column, at));
  const rows = Array.isArray(answer.rows) ? answer.rows.filter(isObject) : [];
  return {
    columns: shown.map(({ column }) => ({
      name: String(column.name),
      type: String(column.type),
      description: typeof column.description === "string" ? column.description : "",
    })),
    rows: rows.map(({ object, cells }) => {
      const values = Array.isArray(cells) ? cells : [];
      return rowOf(
        object,
        shown.map(({ at }) => cellOf(values[at])),
      );
    }),
    next,
  };
}

/** Not the wide ones; the name and the age the page shows by itself, the age so that it grows. */
function isShown(column: Readonly<Record<string, unknown>>, at: number): boolean {
  const isName = column.format === "name" || (at === 0 && String(column.name).toLowerCase() === "name");
  return !isName && column.name !== "Age" && !(Number(column.priority) > 0);
}

function rowOf(object: unknown, cells: TableRow["cells"]): TableRow {
  const metadata: ObjectMeta = isObject(object) && isObject(object.metadata) ? object.metadata : {};
  return {
    namespace: metadata.namespace,
    name: metadata.name ?? "",
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    created: metadata.creationTimestamp,
    deleting: metadata.deletionTimestamp !== undefined,
    cells,
  };
}

function cellOf(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return JSON.stringify(value);
}
