import { type BuiltinKind, builtinKinds } from "@lotse/client/kinds";
import { lookup } from "@lotse/client/meta";
import type { CelSlot } from "../cel.ts";
import { FieldOrder } from "../field-order.ts";
import { apiVersionOf, type Resource, type ResourceVersion, type ScalePaths } from "../resource.ts";
import { rulesOf } from "../rules/index.ts";
import { createMessageTable, createSchemaTable } from "../tables/index.ts";
import { conversionOf } from "./builtin-conversions.ts";
import { builtinStrategy } from "./builtin-strategies.ts";
import { defaultsOf } from "./defaults.ts";
import { TypedCodec } from "./typed-codec.ts";
import type { BuiltinTables } from "./typed-shape.ts";

/** The generated tables, opened when the first object of a built-in kind is read or written. */
export function lazyTables(): () => BuiltinTables {
  let tables: BuiltinTables | undefined;
  return () => {
    tables ??= createTables();
    return tables;
  };
}

function createTables(): BuiltinTables {
  const messages = createMessageTable();
  return { schemas: createSchemaTable(), messages, order: new FieldOrder(messages) };
}

/** Kinds that are answered on the spot and never stored: reviews and the like. */
function isStored(kind: BuiltinKind): boolean {
  return kind.verbs.includes("get");
}

/** Where objects are kept when another resource shows them too. */
const TABLES: Record<string, string> = { "events.k8s.io/events": "events" };

const SCALES: ScalePaths = { spec: "spec.replicas", status: "status.replicas", selector: "spec.selector" };

const DEPRECATIONS: Record<string, string> = {
  "/v1/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  "/v1/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
};

/** Every built-in resource, in the order of discovery. */
export function builtinResources(tables: () => BuiltinTables, cel: CelSlot): Resource[] {
  const groups = new Map<string, BuiltinKind[]>();
  for (const kind of builtinKinds) {
    const key = `${kind.group}/${kind.plural}`;
    const versions = groups.get(key);
    if (versions) versions.push(kind);
    else groups.set(key, [kind]);
  }
  return [...groups.values()].map((versions) => toResource(versions, tables, cel));
}

function toResource(kinds: readonly BuiltinKind[], tables: () => BuiltinTables, cel: CelSlot): Resource {
  const main = kinds.find((kind) => kind.preferred) ?? (kinds[0] as BuiltinKind);
  const key = `${main.group}/${main.plural}`;
  const plain = main.group === "" ? main.plural : `${main.plural}.${main.group}`;
  return {
    group: main.group,
    plural: main.plural,
    singular: main.singular,
    kind: main.kind,
    listKind: `${main.kind}List`,
    namespaced: main.namespaced,
    shortNames: main.shortNames,
    categories: main.categories,
    table: isStored(main) ? (lookup(TABLES, key) ?? plain) : "",
    storageVersion: main.version,
    versions: new Map(kinds.map((kind) => [kind.version, toVersion(kind, main.version, tables)])),
    strategy: builtinStrategy(
      main.group,
      main.plural,
      main.subresources.some((sub) => sub.name === "status"),
      cel,
    ),
    custom: false,
    closed: false,
  };
}

function toVersion(kind: BuiltinKind, storageVersion: string, tables: () => BuiltinTables): ResourceVersion {
  const apiVersion = apiVersionOf(kind.group, kind.version);
  let codec: TypedCodec | undefined;
  return {
    version: kind.version,
    verbs: kind.verbs,
    subresources: kind.subresources,
    // The component's name needs the tables, which must not be opened before a client asks for this kind.
    get codec() {
      codec ??= new TypedCodec(tables, {
        apiVersion,
        kind: kind.kind,
        ref: refOf(kind, tables()),
        refOf: (apiVersion, name) => {
          const other = builtinKinds.find(
            (one) => one.kind === name && apiVersionOf(one.group, one.version) === apiVersion,
          );
          return other && refOf(other, tables());
        },
        defaults: defaultsOf(kind.group, kind.kind),
        checksItself:
          kind.kind === "CustomResourceDefinition" ||
          kind.group === "admissionregistration.k8s.io" ||
          rulesOf(kind.group, kind.plural).whole === true,
        ownChecks: new Set(rulesOf(kind.group, kind.plural).own),
        conversion: conversionOf(kind.group, kind.kind, kind.version, storageVersion),
      });
      return codec;
    },
    scale: kind.subresources.some((sub) => sub.name === "scale") ? SCALES : undefined,
    deprecation: lookup(DEPRECATIONS, `${kind.group}/${kind.version}/${kind.plural}`),
    columns: undefined,
    selectable: undefined,
  };
}

function refOf(kind: BuiltinKind, tables: BuiltinTables): string {
  const ref = tables.schemas.refOfKind(kind.group, kind.version, kind.kind);
  if (ref === undefined) throw new Error(`The tables have no schema for ${kind.group}/${kind.version} ${kind.kind}`);
  return ref;
}
