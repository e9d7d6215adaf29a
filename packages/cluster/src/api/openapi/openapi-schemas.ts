import { lookup, setKey } from "@lotse/client/meta";
import { type BuiltinTables, type Endpoint, isRecord } from "../../registry/index.ts";
import * as words from "./openapi-words.ts";

/** A schema as OpenAPI v3 writes it. */
export type OpenApiSchema = Record<string, unknown>;

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const OBJECT_META = `${META}.ObjectMeta`;
const LIST_META = `${META}.ListMeta`;
const REF = "#/components/schemas/";

/** A group version, for which a document is written; undefined for the one that has everything. */
export interface DocumentScope {
  readonly group: string;
  readonly version: string;
}

/** Types of discovery, which no object has and which the tables therefore leave out. */
const text = (required = false): OpenApiSchema => ({ type: "string", ...(required ? { default: "" } : {}) });
const ref = (name: string): OpenApiSchema => ({ $ref: name, default: {} });
const listOf = (items: OpenApiSchema): OpenApiSchema => ({
  type: "array",
  items,
  "x-kubernetes-list-type": "atomic",
});
const typed = (
  kind: string,
  required: readonly string[],
  properties: Readonly<Record<string, OpenApiSchema>>,
): OpenApiSchema => ({
  type: "object",
  required,
  properties: { apiVersion: text(), kind: text(), ...properties },
  "x-kubernetes-group-version-kind": [{ group: "", kind, version: "v1" }],
});
const plain = (...names: string[]): OpenApiSchema => ({
  type: "object",
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, text(true)])),
});

const ADDRESSES = listOf(ref(`${META}.ServerAddressByClientCIDR`));
const DISCOVERY: Readonly<Record<string, OpenApiSchema>> = {
  [`${META}.APIVersions`]: typed("APIVersions", ["versions", "serverAddressByClientCIDRs"], {
    versions: listOf(text(true)),
    serverAddressByClientCIDRs: ADDRESSES,
  }),
  [`${META}.APIGroupList`]: typed("APIGroupList", ["groups"], { groups: listOf(ref(`${META}.APIGroup`)) }),
  [`${META}.APIGroup`]: typed("APIGroup", ["name", "versions"], {
    name: text(true),
    versions: listOf(ref(`${META}.GroupVersionForDiscovery`)),
    preferredVersion: ref(`${META}.GroupVersionForDiscovery`),
    serverAddressByClientCIDRs: ADDRESSES,
  }),
  [`${META}.GroupVersionForDiscovery`]: plain("groupVersion", "version"),
  [`${META}.ServerAddressByClientCIDR`]: plain("clientCIDR", "serverAddress"),
  "io.k8s.apimachinery.pkg.version.Info": {
    type: "object",
    required: [
      "major",
      "minor",
      "gitVersion",
      "gitCommit",
      "gitTreeState",
      "buildDate",
      "goVersion",
      "compiler",
      "platform",
    ],
    properties: {
      ...Object.fromEntries(
        ["emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"].map((name) => [
          name,
          text(),
        ]),
      ),
      ...(plain(
        "major",
        "minor",
        "gitVersion",
        "gitCommit",
        "gitTreeState",
        "buildDate",
        "goVersion",
        "compiler",
        "platform",
      ).properties as object),
    },
  },
};

/** Adds a component and everything that it refers to. */
export function collectComponents(
  name: string,
  tables: BuiltinTables,
  into: Record<string, OpenApiSchema>,
  scope?: DocumentScope,
): void {
  if (Object.hasOwn(into, name)) return;
  const schema = lookup(DISCOVERY, name) ?? tables.schemas.get(name);
  into[name] = {};
  const refs = new Set<string>();
  into[name] = ofScope(described(name, rewrite(schema, refs, false) as OpenApiSchema), scope);
  for (const next of refs) collectComponents(next, tables, into, scope);
}

function described(name: string, schema: OpenApiSchema): OpenApiSchema {
  if (name !== OBJECT_META || !isRecord(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([key, property]) => {
    const description = lookup(words.OBJECT_META, key);
    return [key, description === undefined ? property : { description, ...(property as OpenApiSchema) }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** A type that many groups share names in a document only those of its group. */
function ofScope(schema: OpenApiSchema, scope: DocumentScope | undefined): OpenApiSchema {
  const kinds = schema["x-kubernetes-group-version-kind"];
  if (scope === undefined || !Array.isArray(kinds) || kinds.length < 2) return schema;
  const own = (kinds as DocumentScope[]).filter(
    ({ group, version }) => group === "" || (group === scope.group && version === scope.version),
  );
  return { ...schema, "x-kubernetes-group-version-kind": own };
}

/**
 * Points references to the components of this document. One with something beside it has to be wrapped; that of a
 * property always is, because a real server describes every property.
 */
function rewrite(node: unknown, refs: Set<string>, property: boolean): unknown {
  if (Array.isArray(node)) return node.map((item) => rewrite(item, refs, false));
  if (!isRecord(node)) return node;
  if (typeof node.$ref === "string") {
    refs.add(node.$ref);
    const { $ref, ...beside } = node;
    const target = { $ref: REF + $ref };
    return property || Object.keys(beside).length > 0 ? { allOf: [target], ...beside } : target;
  }
  const result: OpenApiSchema = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "default" || key === "enum" || key === "x-kubernetes-group-version-kind") result[key] = value;
    else if (key === "properties" && isRecord(value)) {
      result[key] = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewrite(item, refs, true)]));
    } else setKey(result, key, rewrite(value, refs, false));
  }
  return result;
}

/** The name of a custom kind's component: its group from the end, its version, itself. */
export function customName({ resource, version }: Endpoint, kind: string): string {
  return [...resource.group.split(".").reverse(), version.version, kind].join(".");
}

const TYPE_FIELDS = {
  apiVersion: { description: words.API_VERSION, type: "string" },
  kind: { description: words.KIND, type: "string" },
};
const OWN_META = { description: words.METADATA, allOf: [{ $ref: REF + OBJECT_META }] };

/**
 * The components of a custom resource: itself, and its list. In the document that has everything its schema is reduced to
 * what the readers of that one understand.
 */
export function customComponents(
  endpoint: Endpoint,
  tables: BuiltinTables,
  into: Record<string, OpenApiSchema>,
  scope?: DocumentScope,
): void {
  const { resource, version } = endpoint;
  const gvk = (kind: string) => [{ group: resource.group, kind, version: version.version }];
  const selectable = Object.keys(version.selectable ?? {}).map((fieldPath) => ({ fieldPath }));
  const extensions = selectable.length > 0 ? { "x-kubernetes-selectable-fields": selectable } : {};
  const schema = version.codec.schema.schema as OpenApiSchema;
  collectComponents(OBJECT_META, tables, into, scope);
  collectComponents(LIST_META, tables, into, scope);
  into[customName(endpoint, resource.kind)] = {
    ...(scope === undefined ? oldCustomSchema(schema) : newCustomSchema(schema)),
    "x-kubernetes-group-version-kind": gvk(resource.kind),
    ...extensions,
  };
  into[customName(endpoint, resource.listKind)] = {
    type: "object",
    required: ["items"],
    properties: {
      ...TYPE_FIELDS,
      items: {
        description: words.ITEMS,
        type: "array",
        items: { $ref: REF + customName(endpoint, resource.kind) },
      },
      metadata: { description: words.LIST_METADATA, allOf: [{ $ref: REF + LIST_META }] },
    },
    "x-kubernetes-group-version-kind": gvk(resource.listKind),
    ...extensions,
  };
}

function newCustomSchema(schema: OpenApiSchema, old = false): OpenApiSchema {
  const embedded = withEmbedded(schema, old);
  return { ...embedded, properties: { ...(embedded.properties as object | undefined), ...COMMON_FIELDS } };
}

const COMMON_FIELDS = { ...TYPE_FIELDS, metadata: OWN_META };

/** Readers of the old form take fields that are named for the only ones: where any may be, none is named. */
function oldCustomSchema(schema: OpenApiSchema): OpenApiSchema {
  return isOpen(schema) ? { type: "object" } : newCustomSchema(oldCustom(schema), true);
}

const isOpen = (schema: OpenApiSchema): boolean => schema["x-kubernetes-preserve-unknown-fields"] === true;
const isNullable = (schema: unknown): boolean => isRecord(schema) && schema.nullable === true;

function oldCustom(schema: OpenApiSchema): OpenApiSchema {
  const { properties, items, type, required, ...rest } = schema;
  const untyped = isOpen(schema) || isNullable(schema);
  const kept = untyped || !isRecord(properties) ? undefined : properties;
  const item = untyped || !isRecord(items) ? undefined : items;
  const open = isNullable(schema) || (isOpen(schema) && type === "object") || (type === "array" && item === undefined);
  const needed = Array.isArray(required) && !isNullable(schema.additionalProperties) ? (required as string[]) : [];
  const left = needed.filter((name) => !isNullable(kept && lookup(kept, name)));
  return {
    ...rest,
    ...(open || type === undefined ? {} : { type }),
    ...(left.length > 0 ? { required: left } : {}),
    ...(kept && { properties: mapValues(kept, oldCustom) }),
    ...(item && { items: oldCustom(item) }),
    ...(isRecord(schema.additionalProperties) && { additionalProperties: oldCustom(schema.additionalProperties) }),
  };
}

function mapValues(record: object, change: (schema: OpenApiSchema) => OpenApiSchema): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value as OpenApiSchema)]));
}

/** Objects inside of objects have the fields that all objects have. */
function withEmbedded(schema: OpenApiSchema, old: boolean): OpenApiSchema {
  const result: OpenApiSchema = { ...schema };
  if (isRecord(schema.properties)) {
    result.properties = mapValues(schema.properties, (property) => withEmbedded(property, old));
  }
  for (const key of ["items", "additionalProperties"]) {
    if (isRecord(schema[key])) result[key] = withEmbedded(schema[key] as OpenApiSchema, old);
  }
  if (schema["x-kubernetes-embedded-resource"] === true && !(old && isOpen(schema))) {
    const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
    result.properties = { ...(result.properties as object | undefined), ...COMMON_FIELDS };
    result.required = [...required, ...["kind", "apiVersion"].filter((key) => !required.includes(key))];
  }
  return result;
}
