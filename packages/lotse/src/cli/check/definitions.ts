/** What a server would say of the definitions of an operator's kinds, and which line of the source it is about. */
import { isResourceClass, type ResourceClass } from "../../declare/index.ts";
import { type ClusterPackage, type FieldProblem, importCluster } from "../local-cluster/index.ts";
import type { LoadedOperator } from "../project/index.ts";
import { Problem } from "../terminal/index.ts";
import type { Finding } from "./findings.ts";

/** A kind made by `resource()`. */
export type OwnKind = ResourceClass<unknown, unknown>;

/** The kinds of operators that are made by `resource()`, each once, whichever of its versions is handled. */
export function ownKinds(operators: readonly LoadedOperator[]): ReadonlyMap<string, OwnKind> {
  const all = operators.flatMap(({ operator }) =>
    // An operator of another copy of the package may know less.
    (operator.kinds ?? operator.resources.map(({ resource }) => resource)).filter(isResourceClass),
  );
  return new Map(all.map((kind) => [`${kind.description.plural}.${kind.description.group}`, kind]));
}

/** A warning for each check that a schema has and no API server makes, with its place in the source and in the schema. */
export function schemaFindings(kinds: Iterable<OwnKind>): Finding[] {
  return [...kinds].flatMap((kind) =>
    kind.versions.flatMap(({ name }) =>
      (kind.version(name) as OwnKind).gaps().map(({ path, what, todo }): Finding => {
        const place = [kind.sourceLocation, kind.description.kind, name, path].filter((part) => part !== undefined);
        return { level: "warning", check: "definitions", place: place.join(" "), message: what, todo };
      }),
    ),
  );
}

/** What a server would refuse, by definition; undefined when the embedded cluster, which knows, is not installed. */
export async function judgeDefinitions(
  kinds: ReadonlyMap<string, OwnKind>,
): Promise<ReadonlyMap<string, readonly Finding[]> | undefined> {
  const found = await optionalCluster();
  if (!found) return undefined;
  const judged = new Map<string, readonly Finding[]>();
  for (const [name, kind] of kinds) {
    const problems = await found.checkDefinition(kind.crd());
    judged.set(
      name,
      problems.map((problem) => definitionFinding(kind, problem)),
    );
  }
  return judged;
}

/** The embedded cluster, which knows what a server takes; undefined when it is not installed. */
export function optionalCluster(): Promise<ClusterPackage | undefined> {
  return importCluster().catch((error: unknown) => {
    if (error instanceof Problem) return undefined;
    throw error;
  });
}

/** The server's words, with the line of the rule or else of the kind. */
export function definitionFinding(kind: OwnKind, { path, message }: FieldProblem): Finding {
  const { place, version, rule } = readField(path, kind);
  const written = rule === undefined ? undefined : version?.places.get(rule);
  const where = [written ?? kind.sourceLocation, kind.description.kind, version?.name, place];
  return {
    level: "error",
    check: "definitions",
    place: where.filter((part) => part !== undefined && part !== "").join(" "),
    message,
  };
}

interface ReadField {
  /** `spec.items[].name`, or the field of the definition where it is none of a schema. */
  readonly place: string;
  readonly version: OwnKind["versions"][number] | undefined;
  /** The field of the rule, below the schema of its version. */
  readonly rule: string | undefined;
}

/** From `spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[items].items…` to the place in the schema. */
function readField(field: string, kind: OwnKind): ReadField {
  const schema = /openAPIV3Schema(.*)$/.exec(field)?.[1];
  if (schema === undefined) return { place: field, version: undefined, rule: undefined };
  // Where all versions have the same schema, it is told of none of them.
  const [, index = "0"] = /^spec\.versions\[(\d+)\]/.exec(field) ?? [];
  const place = schema
    .replaceAll(/\.properties\[([^\]]+)\]/g, ".$1")
    .replaceAll(/\.items(?=\.|$)/g, "[]")
    .replaceAll(/\.additionalProperties(?=\.|$)/g, ".*")
    .replace(/^\./, "");
  const [rule] = /^.*\.x-kubernetes-validations\[\d+\]/.exec(schema) ?? [];
  return { place, version: kind.versions[Number(index)], rule };
}
