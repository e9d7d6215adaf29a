/** `lotse generate`: what an operator needs to be deployed, made from its declarations. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { loadManifests } from "@lotse/client";
import { isResourceClass } from "../declare/index.ts";
import {
  type About,
  aboutOf,
  accessManifests,
  deploymentManifest,
  dockerfile,
  type ExampleObject,
  type GeneratedFile,
  helmChart,
  type Need,
  needOf,
  olmBundle,
  parseRecording,
  toYaml,
  toYamlStream,
} from "../generate/index.ts";
import { type PermissionScope, permissionsOf } from "../operator/index.ts";
import type { ConnectOptions } from "./connect.ts";
import { kindNames } from "./describe.ts";
import type { Io } from "./io.ts";
import { type LoadedOperator, loadOperators, resolveFiles, shownPath } from "./load.ts";
import { Problem, splitMessage } from "./problem.ts";

/** What can be made of an operator. */
const PRODUCTS = ["crd", "rbac", "deploy", "dockerfile", "helm", "olm"] as const;

/** One of {@link PRODUCTS}. */
type Product = (typeof PRODUCTS)[number];

/** Those that are a folder and not one file: only one operator has room in it. */
const FOLDERS: ReadonlySet<Product> = new Set(["helm", "olm"]);

/** The flags of `lotse generate`. */
export interface GenerateOptions extends ConnectOptions {
  /** A folder; standard output without one. */
  readonly output?: string | undefined;
  /** Where the operator will run. */
  readonly namespace?: string | undefined;
  /** The namespaces that it will serve. */
  readonly serve?: readonly string[] | undefined;
  readonly image?: string | undefined;
  /** What its handlers did while its tests ran. */
  readonly from?: readonly string[] | undefined;
  /** Which version of a kind to make types of. */
  readonly apiVersion?: string | undefined;
}

/** Makes `product` for the operators of `files`, or types of the kinds that they name. */
export async function generate(
  product: string,
  files: readonly string[],
  options: GenerateOptions,
  io: Io,
): Promise<number> {
  if (product === "types") {
    const { generateTypes } = await import("./generate-types.ts");
    put(await generateTypes(files, options, io), options, io);
    return 0;
  }
  if (!isProduct(product)) {
    throw new Problem(
      { what: `nobody can generate ${JSON.stringify(product)}`, todo: `choose one of ${PRODUCTS.join(", ")}, types` },
      { exitCode: 2 },
    );
  }
  const resolved = resolveFiles(files, io.cwd, `generate ${product}`);
  const operators = await loadOperators(resolved, io.cwd);
  if (FOLDERS.has(product) && operators.length > 1) {
    throw new Problem(
      {
        what: `there are ${operators.length} operators: ${operators.map(({ operator }) => operator.name).join(", ")}`,
        why: `what ${product} makes is one folder for one operator`,
        todo: "name the file of one of them, and call it once for each",
      },
      { exitCode: 2 },
    );
  }
  const made: GeneratedFile[] = [];
  for (const one of operators) made.push(...(await MAKERS[product](one, options, io)));
  if (made.length === 0) {
    throw new Problem({
      what: `there is no ${product} to make`,
      why: `${operators.map(({ operator }) => `${operator.name} handles ${kindNames(operator)}`).join("; ")}`,
      todo: "kinds made by resource() have a definition; others belong to somebody else",
    });
  }
  put(FOLDERS.has(product) && options.output === undefined ? made.map(withSource) : made, options, io);
  return 0;
}

function isProduct(text: string): text is Product {
  return (PRODUCTS as readonly string[]).includes(text);
}

type Maker = (
  operator: LoadedOperator,
  options: GenerateOptions,
  io: Io,
) => readonly GeneratedFile[] | Promise<readonly GeneratedFile[]>;

const MAKERS: Readonly<Record<Product, Maker>> = {
  crd: ({ operator }) =>
    definitionsOf(operator).map((crd) => ({ name: `${crd.metadata?.name ?? "crd"}.yaml`, text: toYaml(crd) })),
  rbac: (one, options, io) => [{ name: "rbac.yaml", text: toYamlStream(access(one, undefined, options, io)) }],
  deploy: (one, options, io) => {
    const { name } = one.operator;
    const definitions = definitionsOf(one.operator);
    const deployment = deploymentManifest({
      name,
      namespace: options.namespace ?? "default",
      image: options.image ?? `${name}:latest`,
      serves: options.serve,
      bringsDefinitions: installs(one),
    });
    const manifests = [...definitions, ...access(one, "wait", options, io), deployment];
    return [{ name: "deploy.yaml", text: toYamlStream(manifests) }];
  },
  dockerfile: ({ operator, file }, _options, io) => [
    {
      name: "Dockerfile",
      text: dockerfile({ name: operator.name, file: shownPath(path.resolve(io.cwd, file), io.cwd) }),
    },
  ],
  helm: (one, options, io) => {
    const needs = needsOf(one, { crds: "wait" }, options, io);
    const known = new Set(needs.map(keyOf));
    const besides = (scope: Scope) => needsOf(one, scope, options, io).filter((need) => !known.has(keyOf(need)));
    return helmChart({
      name: one.operator.name,
      about: aboutProject(one, io),
      definitions: definitionsOf(one.operator),
      needs,
      installNeeds: besides({ crds: "install" }),
      installs: installs(one),
      patternNeeds: besides({ crds: "wait", namespaces: ["*"] }),
      image: options.image,
      serves: options.serve,
    });
  },
  olm: async (one, options, io) =>
    olmBundle({
      name: one.operator.name,
      about: aboutProject(one, io),
      definitions: definitionsOf(one.operator),
      needs: needsOf(one, { crds: "wait" }, options, io),
      image: options.image,
      examples: await examplesOf(one, io),
    }),
};

const keyOf = (need: Need) => JSON.stringify(need);

/** Whether an operator would install definitions by itself. */
function installs({ operator }: LoadedOperator): boolean {
  return operator.options.crds === "install" && definitionsOf(operator).length > 0;
}

/** The manifests beside an operator, which show what its kinds are for. */
async function examplesOf({ file }: LoadedOperator, io: Io): Promise<ExampleObject[]> {
  const folder = path.join(path.dirname(path.resolve(io.cwd, file)), "manifests");
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const objects = await loadManifests(folder);
  return objects.map(({ body }) => body as unknown as ExampleObject);
}

function definitionsOf({ resources }: LoadedOperator["operator"]) {
  const classes = new Set(resources.flatMap(({ resource }) => (isResourceClass(resource) ? [resource] : [])));
  return [...classes].map((resource) => resource.crd());
}

/** Where the operator will run, and who brings its definitions. */
type Scope = Pick<PermissionScope, "namespaces" | "crds">;

function access(one: LoadedOperator, crds: Scope["crds"], options: GenerateOptions, io: Io): object[] {
  return accessManifests({
    name: one.operator.name,
    namespace: options.namespace ?? "default",
    needs: needsOf(one, { namespaces: options.serve, crds }, options, io),
    serves: options.serve,
  });
}

/** The framework's part comes from what is declared, that of the handlers from what they were seen to do. */
function needsOf({ operator, file }: LoadedOperator, scope: Scope, { from }: GenerateOptions, io: Io): Need[] {
  const recordings = from?.length ? from.map((one) => readRecording(one, io)) : keptRecording(file, io);
  const requests = recordings.map((text, i) => parsedRecording(text, from?.[i] ?? recordingOf(file)));
  const framework = permissionsOf(operator, { ...scope, handlersPatch: requests.length === 0 });
  return [...framework, ...requests.flat()];
}

/** Where a recording is kept beside the operator, so that nobody has to name it: `operator.requests.jsonl`. */
function recordingOf(file: string): string {
  return file.replace(/\.[^.]+$/, ".requests.jsonl");
}

function keptRecording(file: string, io: Io): string[] {
  const text = readIfThere(path.resolve(io.cwd, recordingOf(file)));
  return text === undefined ? [] : [text];
}

function readRecording(file: string, io: Io): string {
  try {
    return readFileSync(path.resolve(io.cwd, file), "utf8");
  } catch (cause) {
    throw recordingProblem(file, cause);
  }
}

function parsedRecording(text: string, file: string): Need[] {
  try {
    return parseRecording(text).flatMap((request) => needOf(request) ?? []);
  } catch (cause) {
    throw recordingProblem(file, cause);
  }
}

function recordingProblem(file: string, cause: unknown): Problem {
  return new Problem(
    {
      what: `the recording ${file} cannot be read`,
      why: splitMessage(cause as Error).what,
      todo: `record one: LOTSE_RECORD=${file} npm test`,
    },
    { cause },
  );
}

/** What the nearest package.json above an operator says. */
function aboutProject({ file }: LoadedOperator, io: Io): About {
  let folder = path.dirname(path.resolve(io.cwd, file));
  for (;;) {
    const text = readIfThere(path.join(folder, "package.json"));
    if (text !== undefined) return aboutOf(parsedJson(text, path.join(folder, "package.json")));
    const above = path.dirname(folder);
    if (above === folder) return aboutOf(undefined);
    folder = above;
  }
}

function parsedJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem({ what: `${file} is not JSON`, why: (cause as Error).message, todo: "correct it" }, { cause });
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}

/** In one stream, each file says where it belongs. */
function withSource({ name, text }: GeneratedFile): GeneratedFile {
  return { name, text: `# Source: ${name}\n${text}` };
}

function put(files: readonly GeneratedFile[], { output }: GenerateOptions, io: Io): void {
  if (output === undefined) io.stdout.write(files.map(({ text }) => text).join("---\n"));
  else writeFiles(files, path.resolve(io.cwd, output), io);
}

function writeFiles(files: readonly GeneratedFile[], folder: string, io: Io): void {
  try {
    for (const { name, text } of files) {
      const file = path.join(folder, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
      io.stdout.write(`${shownPath(file, io.cwd)}\n`);
    }
  } catch (cause) {
    throw new Problem(
      { what: `${folder} cannot be written to`, why: (cause as Error).message, todo: "choose another folder with -o" },
      { cause },
    );
  }
}
