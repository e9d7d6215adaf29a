/** `lotse generate types`: TypeScript for kinds of others, from files or from a cluster. */
import { statSync } from "node:fs";
import path from "node:path";
import {
  type Client,
  CustomResourceDefinition,
  findKinds,
  type KindDescription,
  loadManifests,
  NotFoundError,
} from "@lotse/client";
import { type GeneratedFile, type TypesInput, typesModule } from "../../generate/index.ts";
import { type ConnectOptions, connect } from "../connect/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem, similarNames } from "../terminal/index.ts";

/** Which kinds of which cluster, in which version. */
export interface TypesOptions extends ConnectOptions {
  readonly apiVersion?: string | undefined;
}

/** One file with the types of all `sources`: files with definitions, or names of kinds. */
export async function generateTypes(
  sources: readonly string[],
  options: TypesOptions,
  io: Io,
): Promise<readonly GeneratedFile[]> {
  if (sources.length === 0) {
    throw new Problem(
      {
        what: "nothing is named to make types of",
        todo: "name a file with definitions (crd.yaml), or a kind of the cluster (certificates.cert-manager.io)",
      },
      { exitCode: 2 },
    );
  }
  const definitions: TypesInput[] = [];
  const kinds: string[] = [];
  for (const one of sources) {
    if (isFile(one, io)) definitions.push(...(await fromFile(one, io)));
    else kinds.push(one);
  }
  if (kinds.length > 0) definitions.push(...(await fromCluster(kinds, options, io)));
  return [{ name: "types.ts", text: typesModule(definitions, options.apiVersion) }];
}

/** A name that looks like a file is one, so that a wrong path is not looked for in a cluster. */
function isFile(source: string, io: Io): boolean {
  if (statSync(path.resolve(io.cwd, source), { throwIfNoEntry: false })) return true;
  if (!/\.(?:ya?ml|json)$|[/\\]/.test(source)) return false;
  throw new Problem(
    { what: `there is no file ${source}`, todo: "check the path; it counts from the working directory" },
    { exitCode: 2 },
  );
}

async function fromFile(file: string, io: Io): Promise<TypesInput[]> {
  const objects = await loadManifests(path.resolve(io.cwd, file));
  const definitions = objects.flatMap(({ body }) => (isDefinition(body) ? [body.spec] : []));
  if (definitions.length > 0) return definitions;
  const found = [...new Set(objects.map(({ body }) => String(body.kind)))];
  throw new Problem({
    what: `${file} has no CustomResourceDefinition`,
    why: found.length > 0 ? `it has ${found.slice(0, 5).join(", ")}` : "it has no objects",
    todo: "name a file with definitions of apiextensions.k8s.io/v1",
  });
}

function isDefinition(body: object): body is { spec: TypesInput } {
  const { apiVersion, kind } = body as { apiVersion?: unknown; kind?: unknown };
  return kind === "CustomResourceDefinition" && apiVersion === "apiextensions.k8s.io/v1";
}

async function fromCluster(names: readonly string[], options: TypesOptions, io: Io): Promise<TypesInput[]> {
  const { client, server } = await connect(options, io, () => {});
  try {
    const { kinds } = await client.discover();
    const found: TypesInput[] = [];
    for (const name of names) found.push(await definitionOf(client, kindCalled(name, kinds, server)));
    return found;
  } finally {
    await client.close();
  }
}

function kindCalled(name: string, kinds: readonly KindDescription[], server: string): KindDescription {
  const found = findKinds(kinds, name);
  const groups = new Set(found.map(({ group }) => group));
  if (groups.size > 1) {
    const full = found.map(({ plural, group }) => `${plural}.${group}`);
    throw new Problem(
      { what: `${name} means several kinds: ${[...new Set(full)].join(", ")}`, todo: "name one of them in full" },
      { exitCode: 2 },
    );
  }
  const [kind] = found;
  if (kind) return kind;
  const near = similarNames(
    name,
    kinds.map(({ plural }) => plural),
  );
  throw new Problem({
    what: `the cluster at ${server} has no kind ${name}`,
    todo: near.length > 0 ? `did you mean ${near.slice(0, 3).join(" or ")}?` : "see `kubectl api-resources`",
  });
}

async function definitionOf(client: Client, kind: KindDescription): Promise<TypesInput> {
  try {
    const { body } = await client.get(CustomResourceDefinition, `${kind.plural}.${kind.group}`);
    return body.spec;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const builtIn = !kind.group.includes(".") || kind.group.endsWith(".k8s.io");
    throw new Problem(
      {
        what: `${kind.kind} has no definition in the cluster`,
        why: builtIn ? "it belongs to Kubernetes itself" : "another API server serves it",
        todo: builtIn
          ? `import it: import { ${kind.kind} } from "lotse/client";`
          : "name a file with a definition of it instead",
      },
      { cause: error },
    );
  }
}
