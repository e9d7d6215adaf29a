import { lookup, setKey } from "@lotse/client/meta";
import { type BuiltinTables, type Endpoint, isRecord } from "../registry/index.ts";

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
  into[name] = ofScope(rewrite(schema, refs, false) as OpenApiSchema, scope);
  for (const next of refs) collectComponents(next, tables, into, scope);
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

const TYPE_FIELDS = { apiVersion: { type: "string" }, kind: { type: "string" } };
const OWN_META = { allOf: [{ $ref: REF + OBJECT_META }] };

/** The components of a custom resource: itself, and its list. */
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
    ...(withEmbedded(schema) as OpenApiSchema),
    properties: {
      ...((withEmbedded(schema) as OpenApiSchema).properties as object | undefined),
      ...TYPE_FIELDS,
      metadata: OWN_META,
    },
    "x-kubernetes-group-version-kind": gvk(resource.kind),
    ...extensions,
  };
  into[customName(endpoint, resource.listKind)] = {
    type: "object",
    required: ["items"],
    properties: {
      ...TYPE_FIELDS,
      items: { type: "array", items: { $ref: REF + customName(endpoint, resource.kind) } },
      metadata: { allOf: [{ $ref: REF + LIST_META }] },
    },
    "x-kubernetes-group-version-kind": gvk(resource.listKind),
    ...extensions,
  };
}

/** Objects inside of objects have the fields that all objects have. */
function withEmbedded(schema: OpenApiSchema): OpenApiSchema {
  const result: OpenApiSchema = { ...schema };
  if (isRecord(schema.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, item]) => [name, withEmbedded(item as OpenApiSchema)]),
    );
  }
  for (const key of ["items", "additionalProperties"]) {
    if (isRecord(schema[key])) result[key] = withEmbedded(schema[key] as OpenApiSchema);
  }
  if (schema["x-kubernetes-embedded-resource"] === true) {
    const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
    result.properties = { ...(result.properties as object | undefined), ...TYPE_FIELDS, metadata: OWN_META };
    result.required = [...required, ...["kind", "apiVersion"].filter((key) => !required.includes(key))];
  }
  return result;
}
