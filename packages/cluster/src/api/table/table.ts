import { compileJsonPath, type JsonPath } from "@lotse/client/meta";
import { type ApiObject, type Codec, type Endpoint, isRecord, type PrinterColumn } from "../../registry/index.ts";
import { ageCell } from "./age.ts";
import { type Column, nameColumn } from "./columns.ts";
import { orderOf, printerOf } from "./printers.ts";

/** How much of each object a row of a table carries. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** A column as the Table of meta.k8s.io describes it to clients. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** One object in a table: its cells and as much of it as was asked for. */
export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: unknown;
}

/** What `kubectl get` asks for instead of a list. */
export interface Table {
  readonly kind: "Table";
  readonly apiVersion: string;
  readonly metadata: Record<string, unknown>;
  columnDefinitions: readonly ColumnDefinition[] | null;
  rows: readonly TableRow[];
}

/** Prints objects of one kind as rows, the way `kubectl get` shows them. */
export class TablePrinter {
  readonly #version: string;
  readonly #include: IncludeObject;
  readonly #columns: readonly Column[];
  readonly #order: ((a: ApiObject, b: ApiObject) => number) | undefined;
  readonly #now: number;
  readonly #codec: Codec;

  constructor(endpoint: Endpoint, metaVersion: string, includeObject: IncludeObject, now: number) {
    this.#version = `meta.k8s.io/${metaVersion}`;
    this.#include = includeObject;
    this.#now = now;
    this.#codec = endpoint.version.codec;
    this.#order = orderOf(endpoint);
    this.#columns = endpoint.resource.custom ? customColumns(endpoint) : printerOf(endpoint);
  }

  table(objects: readonly ApiObject[], metadata: Record<string, unknown>): Table {
    return {
      kind: "Table",
      apiVersion: this.#version,
      metadata,
      columnDefinitions: this.#declared().map(definition),
      rows: (this.#order ? [...objects].sort(this.#order) : objects).map((object) => this.#row(object)),
    };
  }

  /** A row that carries nothing but how far a watch has come. */
  bookmarkRow(object: ApiObject): TableRow {
    return { cells: this.#declared().map(() => ""), object: this.#include === "None" ? null : object };
  }

  #declared(): Column[] {
    return this.#columns.filter(({ undeclared }) => !undeclared);
  }

  #row(object: ApiObject): TableRow {
    const cells = this.#columns.map((column) => column.cell(object, this.#now) ?? null);
    switch (this.#include) {
      case "None":
        return { cells, object: null };
      case "Object":
        return { cells, object };
      case "Metadata":
        return {
          cells,
          object: {
            kind: "PartialObjectMetadata",
            apiVersion: this.#version,
            metadata: this.#codec.metaInOrder(
              isDaemonSet(object) ? withoutGeneration(object.metadata) : object.metadata,
            ),
          },
        };
    }
  }
}

const isDaemonSet = ({ kind, apiVersion }: ApiObject): boolean => kind === "DaemonSet" && apiVersion === "apps/v1";

/** Tables are made before this annotation is added to DaemonSets. */
function withoutGeneration({ annotations, ...metadata }: ApiObject["metadata"]): ApiObject["metadata"] {
  const { "deprecated.daemonset.template.generation": _, ...others } = annotations ?? {};
  return Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others };
}

function definition(column: Column): ColumnDefinition {
  return {
    name: column.name,
    type: column.type ?? "string",
    format: column.format ?? "",
    description: column.description ?? "",
    priority: column.wide ? 1 : (column.priority ?? 0),
  };
}

function customColumns(endpoint: Endpoint): Column[] {
  const declared = endpoint.version.columns ?? [];
  if (declared.length > 0) return [nameColumn, ...declared.map(customColumn)];
  const age: Column = {
    name: "Age",
    type: "date",
    cell: (object, now) => ageCell(object.metadata.creationTimestamp, now),
  };
  return [nameColumn, age];
}

function customColumn(column: PrinterColumn): Column {
  const path = compileJsonPath(column.jsonPath);
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? "",
    description: column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
    priority: column.priority ?? 0,
    cell: (object, now) => customCell(column.type, path, object, now),
  };
}

/** A value as its column's type asks for it; one of another type is left out, as is a missing one. */
function customCell(type: string, path: JsonPath, object: ApiObject, now: number): unknown {
  const found = path.evaluate(object);
  const value = found[0];
  if (value === undefined || value === null) return null;
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageCell(value, now) : null;
    default:
      if (found.length > 1 || isRecord(value) || Array.isArray(value)) return goValue(found);
      return String(value);
  }
}

/** Several values, or one that is not a scalar, in the notation of a real server: JSON, joined by blanks. */
function goValue(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value))).join(" ");
}
