import { type BuiltinTables, type Endpoint, isRecord } from "../registry/index.ts";

/** A schema as OpenAPI v3 writes it. */
export type OpenApiSchema = Record<string, unknown>;

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const OBJECT_META = `${META}.ObjectMeta`;
const LIST_META = `${META}.ListMeta`;
const REF = "#/components/schemas/";

/** Adds a built-in component and everything that it refers to. */
export function collectComponents(ref: string, tables: BuiltinTables, into: Record<string, OpenApiSchema>): void {
  if (Object.hasOwn(into, ref)) return;
  const schema = tables.schemas.get(ref);
  into[ref] = {};
  const refs = new Set<string>();
  into[ref] = rewrite(schema, refs) as OpenApiSchema;
  for (const next of refs) collectComponents(next, tables, into);
}

/** Points references to the components of this document; one with something beside it has to be wrapped. */
function rewrite(node: unknown, refs: Set<string>): unknown {
  if (Array.isArray(node)) return node.map((item) => rewrite(item, refs));
  if (!isRecord(node)) return node;
  if (typeof node.$ref === "string") {
    refs.add(node.$ref);
    const { $ref, ...beside } = node;
    const target = { $ref: REF + $ref };
    return Object.keys(beside).length === 0 ? target : { allOf: [target], ...beside };
  }
  const result: OpenApiSchema = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "default" || key === "enum" || key === "x-kubernetes-group-version-kind") result[key] = value;
    else if (key === "properties" && isRecord(value)) {
      result[key] = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewrite(item, refs)]));
    } else result[key] = rewrite(value, refs);
  }
  return result;
}

/** The components of a custom resource: itself, its list, and the metadata that both have. */
export function customComponents(endpoint: Endpoint, tables: BuiltinTables): Record<string, OpenApiSchema> {
  const { resource, version } = endpoint;
  const prefix = [...resource.group.split(".").reverse(), version.version].join(".");
  const gvk = (kind: string) => [{ group: resource.group, kind, version: version.version }];
  const schema = version.codec.schema.schema as OpenApiSchema;
  const components: Record<string, OpenApiSchema> = {};
  collectComponents(OBJECT_META, tables, components);
  collectComponents(LIST_META, tables, components);
  const typeFields = { apiVersion: { type: "string" }, kind: { type: "string" } };
  components[`${prefix}.${resource.kind}`] = {
    ...schema,
    properties: {
      ...typeFields,
      ...(isRecord(schema.properties) ? schema.properties : {}),
      metadata: { allOf: [{ $ref: REF + OBJECT_META }], default: {} },
    },
    "x-kubernetes-group-version-kind": gvk(resource.kind),
  };
  components[`${prefix}.${resource.listKind}`] = {
    type: "object",
    required: ["items"],
    properties: {
      ...typeFields,
      items: { type: "array", items: { $ref: `${REF}${prefix}.${resource.kind}` } },
      metadata: { allOf: [{ $ref: REF + LIST_META }] },
    },
    "x-kubernetes-group-version-kind": gvk(resource.listKind),
  };
  return components;
}
