/** Lists as the server prints them: what `kubectl get` shows. */
import { type KindDescription, type KubeBody, type ObjectMeta, pathOf } from "../kinds/index.ts";
import { UnsupportedError } from "./errors.ts";
import type { ListOptions } from "./options.ts";
import { listQuery } from "./read.ts";
import { requestPart } from "./requests.ts";
import type { Session } from "./session.ts";

/** A column of a table. */
export interface TableColumn {
  readonly name: string;
  /** `string`, `integer`, `number`, `boolean`, `date` or `array`. */
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown; higher ones only where there is room (`kubectl get -o wide`). */
  readonly priority: number;
}

/** A row of a table: one object. */
export interface TableRow {
  readonly cells: readonly unknown[];
  /** The object, or as much of it as was asked for. */
  readonly object: KubeBody;
  readonly metadata: ObjectMeta;
  /** The cell of a column, by its name in any case. */
  get(column: string): unknown;
}

/** What the server prints of a kind's objects. */
export interface Table {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly TableRow[];
  readonly resourceVersion: string;
}

/** Options of `table`. */
export interface TableOptions extends ListOptions {
  /** How much of each object comes with its row. Default `"Metadata"`. */
  readonly includeObject?: "None" | "Metadata" | "Object" | undefined;
}

const ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io";

interface TableAnswer extends KubeBody {
  columnDefinitions?: TableColumn[];
  rows?: { cells?: unknown[]; object?: KubeBody }[] | null;
}

/** `client.table`: all pages as one table. */
export async function readTable(session: Session, kind: KindDescription, o: TableOptions): Promise<Table> {
  const path = pathOf(kind, { namespace: o.namespace ?? session.view.namespace });
  let columns: readonly TableColumn[] = [];
  const rows: TableRow[] = [];
  let token: string | undefined;
  for (;;) {
    const answer: TableAnswer = await session.json({
      ...requestPart(o),
      method: "GET",
      path,
      query: { ...listQuery(o, undefined, token), includeObject: o.includeObject ?? "Metadata" },
      headers: { accept: ACCEPT },
    });
    if (answer.kind !== "Table") {
      throw new UnsupportedError(`the server does not print ${kind.plural} as a table`, {
        hint: "list the objects instead: client.list()",
      });
    }
    // Only the first page has to have them.
    if (token === undefined) columns = answer.columnDefinitions ?? [];
    for (const { cells = [], object = {} } of answer.rows ?? []) rows.push(rowOf(columns, cells, object));
    const { continue: next, resourceVersion = "" } = (answer.metadata ?? {}) as Record<string, string | undefined>;
    if (!next) return { columns, rows, resourceVersion };
    token = next;
  }
}

function rowOf(columns: readonly TableColumn[], cells: readonly unknown[], object: KubeBody): TableRow {
  return {
    cells,
    object,
    metadata: object.metadata ?? {},
    get: (column) => cells[columns.findIndex(({ name }) => name.toLowerCase() === column.toLowerCase())],
  };
}
