import { compileJsonPath } from "@lotse/client/meta";
import type { BuiltinTables } from "../builtin/typed-shape.ts";
import { compareVersions } from "../catalog.ts";
import type { CelSlot } from "../cel.ts";
import type { Converter } from "../codec.ts";
import type { ApiObject } from "../object.ts";
import { apiVersionOf, type Resource, type ResourceVersion, type Subresource } from "../resource.ts";
import { finalizerWarnings } from "../rules/index.ts";
import type { Schema } from "../schema/index.ts";
import { defaultStrategy, type Strategy } from "../strategy.ts";
import type { Crd, CrdVersion } from "./crd.ts";
import { CustomCodec } from "./custom-codec.ts";

/** In the order in which a real server lists them. */
const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const SUBRESOURCE_VERBS = ["get", "patch", "update"];

/** The resource that an established definition adds to the server; undefined when it serves no version. */
export function customResource(
  crd: Crd,
  tables: () => BuiltinTables,
  cel: CelSlot,
  converter?: Converter,
): Resource | undefined {
  const { group, names, scope } = crd.spec;
  const storage = crd.spec.versions.find((version) => version.storage)?.name ?? "";
  const served = crd.spec.versions.filter((version) => version.served).sort((a, b) => compareVersions(a.name, b.name));
  if (served.length === 0) return undefined;
  const preferred = served.find((version) => version.deprecated !== true);
  return {
    group,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    namespaced: scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    table: `${names.plural}.${group}`,
    storageVersion: storage,
    versions: new Map(
      served.map((version) => [version.name, toVersion(crd, version, storage, preferred, tables, cel, converter)]),
    ),
    strategy: strategyOf(served),
    custom: true,
    closed: crd.metadata.deletionTimestamp !== undefined,
  };
}

function strategyOf(versions: readonly CrdVersion[]): Strategy {
  return {
    ...defaultStrategy,
    unconditionalUpdate: false,
    tracksGeneration: true,
    hasStatus: versions.some((version) => version.subresources?.status !== undefined),
    ownFieldLabels: true,
    anyFinalizer: true,
    warnings: (object, old, subresource) => (subresource === undefined ? finalizerWarnings(object, old) : []),
  };
}

function toVersion(
  crd: Crd,
  version: CrdVersion,
  storage: string,
  preferred: CrdVersion | undefined,
  tables: () => BuiltinTables,
  cel: CelSlot,
  converter: Converter | undefined,
): ResourceVersion {
  const { group, names } = crd.spec;
  const scale = version.subresources?.scale;
  const paths = scale && {
    spec: scale.specReplicasPath.replace(/^\./, ""),
    status: scale.statusReplicasPath.replace(/^\./, ""),
    selector: scale.labelSelectorPath?.replace(/^\./, ""),
  };
  return {
    version: version.name,
    verbs: VERBS,
    subresources: subresourcesOf(crd, version),
    codec: new CustomCodec(tables, cel, {
      apiVersion: apiVersionOf(group, version.name),
      storageApiVersion: apiVersionOf(group, storage),
      kind: names.kind,
      schema: schemaOf(version),
      schemas: new Map(crd.spec.versions.map((other) => [apiVersionOf(group, other.name), schemaOf(other)])),
      converter,
      scale: paths,
    }),
    scale: paths,
    deprecation: deprecationOf(crd, version, preferred),
    columns: version.additionalPrinterColumns,
    selectable: selectableOf(version),
  };
}

function schemaOf(version: CrdVersion): Schema {
  return version.schema?.openAPIV3Schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
}

function subresourcesOf(crd: Crd, version: CrdVersion): Subresource[] {
  const own = { group: crd.spec.group, version: version.name, kind: crd.spec.names.kind };
  const found: Subresource[] = [];
  if (version.subresources?.status) found.push({ name: "status", ...own, verbs: SUBRESOURCE_VERBS });
  if (version.subresources?.scale) {
    found.push({ name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: SUBRESOURCE_VERBS });
  }
  return found;
}

function deprecationOf(crd: Crd, version: CrdVersion, preferred: CrdVersion | undefined): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const title = (name: string) => `${apiVersionOf(crd.spec.group, name)} ${crd.spec.names.kind}`;
  const text = `${title(version.name)} is deprecated`;
  // A newer stable version is named as the way out.
  return preferred && compareVersions(preferred.name, version.name) < 0
    ? `${text}; use ${title(preferred.name)}`
    : text;
}

function selectableOf(version: CrdVersion): ResourceVersion["selectable"] {
  const fields = version.selectableFields ?? [];
  if (fields.length === 0) return undefined;
  return Object.fromEntries(
    fields.map(({ jsonPath }) => {
      const path = compileJsonPath(jsonPath);
      const read = (object: ApiObject): string => {
        const value = path.evaluate(object)[0];
        return value === undefined || value === null ? "" : String(value);
      };
      return [jsonPath.replace(/^\./, ""), read];
    }),
  );
}
