/** `lotse generate`: what an operator needs to be deployed, made from its declarations. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isResourceClass } from "../declare/index.ts";
import {
  accessManifests,
  deploymentManifest,
  dockerfile,
  type Need,
  needOf,
  parseRecording,
  toYaml,
  toYamlStream,
} from "../generate/index.ts";
import { permissionsOf } from "../operator/index.ts";
import { kindNames } from "./describe.ts";
import type { Io } from "./io.ts";
import { type LoadedOperator, loadOperators, resolveFiles, shownPath } from "./load.ts";
import { Problem, splitMessage } from "./problem.ts";

/** What can be made. */
export const PRODUCTS = ["crd", "rbac", "deploy", "dockerfile"] as const;

/** One of {@link PRODUCTS}. */
export type Product = (typeof PRODUCTS)[number];

/** The flags of `lotse generate`. */
export interface GenerateOptions {
  /** A folder; standard output without one. */
  readonly output?: string | undefined;
  /** Where the operator will run. */
  readonly namespace?: string | undefined;
  /** The namespaces that it will serve. */
  readonly serve?: readonly string[] | undefined;
  readonly image?: string | undefined;
  /** What its handlers did while its tests ran. */
  readonly from?: readonly string[] | undefined;
}

/** One file of what is made. */
interface GeneratedFile {
  readonly name: string;
  readonly text: string;
}

/** Makes `product` for the operators of `files`. */
export async function generate(
  product: string,
  files: readonly string[],
  options: GenerateOptions,
  io: Io,
): Promise<number> {
  if (!isProduct(product)) {
    throw new Problem(
      { what: `nobody can generate ${JSON.stringify(product)}`, todo: `choose one of ${PRODUCTS.join(", ")}` },
      { exitCode: 2 },
    );
  }
  const resolved = resolveFiles(files, io.cwd, `generate ${product}`);
  const operators = await loadOperators(resolved, io.cwd);
  const made = operators.flatMap((one) => MAKERS[product](one, options, io));
  if (made.length === 0) {
    throw new Problem({
      what: `there is no ${product} to make`,
      why: `${operators.map(({ operator }) => `${operator.name} handles ${kindNames(operator)}`).join("; ")}`,
      todo: "kinds made by resource() have a definition; others belong to somebody else",
    });
  }
  if (options.output === undefined) io.stdout.write(made.map(({ text }) => text).join("---\n"));
  else writeFiles(made, path.resolve(io.cwd, options.output), io);
  return 0;
}

function isProduct(text: string): text is Product {
  return (PRODUCTS as readonly string[]).includes(text);
}

type Maker = (operator: LoadedOperator, options: GenerateOptions, io: Io) => GeneratedFile[];

const MAKERS: Readonly<Record<Product, Maker>> = {
  crd: ({ operator }) =>
    definitionsOf(operator).map((crd) => ({ name: `${crd.metadata?.name ?? "crd"}.yaml`, text: toYaml(crd) })),
  rbac: (one, options, io) => [{ name: "rbac.yaml", text: toYamlStream(access(one, options, io)) }],
  deploy: (one, options, io) => {
    const { name } = one.operator;
    const deployment = deploymentManifest({
      name,
      namespace: options.namespace ?? "default",
      image: options.image ?? `${name}:latest`,
      serves: options.serve,
    });
    const manifests = [...definitionsOf(one.operator), ...access(one, options, io), deployment];
    return [{ name: "deploy.yaml", text: toYamlStream(manifests) }];
  },
  dockerfile: ({ operator, file }, _options, io) => [
    {
      name: "Dockerfile",
      text: dockerfile({ name: operator.name, file: shownPath(path.resolve(io.cwd, file), io.cwd) }),
    },
  ],
};

function definitionsOf({ resources }: LoadedOperator["operator"]) {
  return resources.flatMap(({ resource }) => (isResourceClass(resource) ? [resource.crd()] : []));
}

function access({ operator }: LoadedOperator, options: GenerateOptions, io: Io): object[] {
  const framework = permissionsOf(operator, { namespaces: options.serve });
  return accessManifests({
    name: operator.name,
    namespace: options.namespace ?? "default",
    needs: [...framework, ...recorded(options.from ?? [], io)],
    serves: options.serve,
  });
}

function recorded(files: readonly string[], io: Io): Need[] {
  return files.flatMap((file) => {
    try {
      return parseRecording(readFileSync(path.resolve(io.cwd, file), "utf8")).flatMap(
        (request) => needOf(request) ?? [],
      );
    } catch (cause) {
      throw new Problem(
        {
          what: `the recording ${file} cannot be read`,
          why: splitMessage(cause as Error).what,
          todo: `record one: LOTSE_RECORD=${file} npm test`,
        },
        { cause },
      );
    }
  });
}

function writeFiles(files: readonly GeneratedFile[], folder: string, io: Io): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const { name, text } of files) {
      writeFileSync(path.join(folder, name), text);
      io.stdout.write(`${shownPath(path.join(folder, name), io.cwd)}\n`);
    }
  } catch (cause) {
    throw new Problem(
      { what: `${folder} cannot be written to`, why: (cause as Error).message, todo: "choose another folder with -o" },
      { cause },
    );
  }
}
