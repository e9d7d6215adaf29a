/** `lotse generate`: what an operator needs to be deployed, made from its declarations. */

import { mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { loadManifests } from "@lotse/client";
import { toYaml, toYamlStream } from "@lotse/client/meta";
import {
  type About,
  aboutOf,
  accessManifests,
  certManagerManifests,
  definitionsOf,
  deploymentManifests,
  type ExampleObject,
  type GeneratedFile,
  helmChart,
  metricsReaderManifest,
  type Need,
  needsOfCoordination,
  networkPolicyManifest,
  olmBundle,
  type PermissionScope,
  permissionsOf,
  planOfChoice,
  podWebhooks,
  REGISTERED,
  webhookServiceManifest,
} from "../../generate/index.ts";
import { stopLimitOf } from "../../operator/index.ts";
import type { ConnectOptions } from "../connect/index.ts";
import { type HandlerNeeds, handlerNeeds, tellUnseen } from "../permissions/index.ts";
import { kindNames, type LoadedOperator, loadOperators, resolveFiles, shownPath } from "../project/index.ts";
import { readIfThere } from "../recording/index.ts";
import type { ProjectIo } from "../scan/index.ts";
import { Problem } from "../terminal/index.ts";
import { type CoordinationGenerateOptions, replicationOf } from "./coordination.ts";
import { makeDockerfile } from "./dockerfile.ts";
import { type MonitoringOptions, makeAlerts, makeDashboard } from "./monitoring.ts";
import { placedDefinitions, type WebhookGenerateOptions, webhookChoices } from "./webhooks.ts";

/** What can be made of an operator. */
const PRODUCTS = ["crd", "rbac", "deploy", "dockerfile", "helm", "olm", "dashboard", "alerts"] as const;

/** One of {@link PRODUCTS}. */
type Product = (typeof PRODUCTS)[number];

/** Those that are a folder and not one file. */
const FOLDERS: ReadonlySet<Product> = new Set(["helm", "olm"]);

/** Those in which only one operator has room. */
const SINGLE: ReadonlySet<Product> = new Set([...FOLDERS, "dashboard"]);

/** Those that carry rights, for which one has to know what handlers do. */
const RIGHTS: ReadonlySet<Product> = new Set(["rbac", "deploy", "helm", "olm"]);

const NO_NEEDS: HandlerNeeds = { needs: [], unseen: [], gone: [], isUnseen: () => false, todo: "" };

/** The flags of `lotse generate`. */
export interface GenerateOptions
  extends ConnectOptions,
    WebhookGenerateOptions,
    CoordinationGenerateOptions,
    MonitoringOptions {
  /** A folder; standard output without one. */
  readonly output?: string | undefined;
  /** Where the operator will run. */
  readonly namespace?: string | undefined;
  /** The namespaces that it will serve. */
  readonly serve?: readonly string[] | undefined;
  readonly image?: string | undefined;
  /** Whether metrics are for those who may read them. */
  readonly metricsAuth?: boolean | undefined;
  /** Images of the Dockerfile with their digests. */
  readonly pin?: readonly string[] | undefined;
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
  io: ProjectIo,
): Promise<number> {
  if (product === "types") {
    const { generateTypes } = await import("./types.ts");
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
  const operators = await loadOperators(resolved, io.cwd, io.code?.loader);
  if (SINGLE.has(product) && operators.length > 1) {
    throw new Problem(
      {
        what: `there are ${operators.length} operators: ${operators.map(({ operator }) => operator.name).join(", ")}`,
        why: `what ${product} makes is one ${FOLDERS.has(product) ? "folder" : "document"} for one operator`,
        todo: "name the file of one of them, and call it once for each",
      },
      { exitCode: 2 },
    );
  }
  const made: GeneratedFile[] = [];
  for (const loaded of operators) {
    const handlers = RIGHTS.has(product) ? await handlerNeeds(loaded, operators, options.from, io) : NO_NEEDS;
    tellUnseen(handlers, loaded.file, io);
    made.push(...(await MAKERS[product]({ loaded, handlers }, options, io)));
  }
  if (made.length === 0) {
    throw new Problem({
      what: `there is no ${product} to make`,
      why: `${operators.map(({ operator }) => `${operator.name} handles ${kindNames(operator)}`).join("; ")}`,
      todo: "kinds made by resource() have a definition; others belong to another project",
    });
  }
  put(FOLDERS.has(product) && options.output === undefined ? made.map(withSource) : made, options, io);
  return 0;
}

function isProduct(text: string): text is Product {
  return (PRODUCTS as readonly string[]).includes(text);
}

/** What something is made of. */
interface Subject {
  readonly loaded: LoadedOperator;
  readonly handlers: HandlerNeeds;
}

type Maker = (
  subject: Subject,
  options: GenerateOptions,
  io: ProjectIo,
) => readonly GeneratedFile[] | Promise<readonly GeneratedFile[]>;

const MAKERS: Readonly<Record<Product, Maker>> = {
  crd: ({ loaded }, options) =>
    placedDefinitions(webhookChoices(loaded.operator, options)).map((crd) => ({
      name: `${crd.metadata?.name ?? "crd"}.yaml`,
      text: toYaml(crd),
    })),
  rbac: (subject, options) => [{ name: "rbac.yaml", text: toYamlStream(rbacManifests(subject, options)) }],
  deploy: (subject, options) => [{ name: "deploy.yaml", text: toYamlStream(deployManifests(subject, options)) }],
  dockerfile: ({ loaded }, options, io) => makeDockerfile(loaded, options, io),
  dashboard: ({ loaded }, options) => makeDashboard(loaded.operator, options),
  alerts: ({ loaded }, options) => makeAlerts(loaded.operator, options),
  helm: (subject, options, io) => {
    const one = subject.loaded;
    const choices = webhookChoices(one.operator, { ...options, ...registeredByOperator(options, "helm") });
    // Whoever installs the chart says who makes the certificate.
    const webhooks = { registers: "operator", keepsSecret: true } as const;
    const replication = replicationOf(one.operator, options);
    // And how its processes share the work.
    const coordination = replication.plan.type === "peering" ? replication.plan : ({ type: "alone" } as const);
    const { name } = one.operator;
    const { coordination: declared } = one.operator.options;
    const needs = needsOf(subject, { crds: "wait", webhooks, coordination });
    const known = new Set(needs.map(keyOf));
    const besides = (scope: Scope) => needsOf(subject, scope).filter((need) => !known.has(keyOf(need)));
    return helmChart({
      name,
      about: aboutProject(one, io),
      definitions: placedDefinitions({ ...choices, certificates: "own" }),
      needs,
      installNeeds: besides({ crds: "install", webhooks, coordination }),
      installs: installs(one),
      patternNeeds: besides({ crds: "wait", namespaces: ["*"], webhooks, coordination }),
      image: options.image,
      serves: options.serve,
      stopMs: stopLimitOf(one.operator),
      certificates: choices.plan.asked ? choices.certificates : undefined,
      replication,
      metricsAuth: options.metricsAuth === true,
      coordinationNeeds: {
        leader: needsOfCoordination(planOfChoice("leader", declared), name),
        shards: needsOfCoordination(planOfChoice("shards", declared), name),
      },
    });
  },
  olm: async (subject, options, io) => {
    const { operator } = subject.loaded;
    const choices = webhookChoices(operator, { ...options, ...registeredByOperator(options, "olm") });
    const replication = replicationOf(operator, options);
    return olmBundle({
      name: operator.name,
      about: aboutProject(subject.loaded, io),
      definitions: placedDefinitions({ ...choices, certificates: "own" }),
      // The lifecycle manager registers webhooks, and makes their certificates.
      needs: needsOf(subject, {
        crds: "wait",
        webhooks: { registers: "nobody", keepsSecret: false },
        coordination: replication.plan,
        metricsAuth: options.metricsAuth,
      }),
      image: options.image,
      stopMs: stopLimitOf(operator),
      examples: await examplesOf(subject.loaded, io),
      webhooks: choices.plan,
      replication,
      metricsAuth: options.metricsAuth,
    });
  },
};

/** Flags that have no meaning where others register webhooks, or the chart's user chooses. */
function registeredByOperator({ webhooks, certificates }: GenerateOptions, product: "helm" | "olm") {
  const [flag, why] =
    webhooks === "manifests"
      ? [
          "--webhooks manifests",
          product === "helm" ? "the namespace is known when a chart is installed, and not before" : BY_OLM,
        ]
      : product === "olm" && certificates !== undefined
        ? ["--certificates", BY_OLM]
        : [];
  if (flag !== undefined && why !== undefined) {
    throw new Problem({ what: `${flag} is not for ${product}`, why, todo: "leave it out" }, { exitCode: 2 });
  }
  return { webhooks: undefined };
}

const BY_OLM = "the lifecycle manager registers webhooks itself, with certificates of its own";

/**
 * Everything that a cluster needs, in the order in which it is to be applied. Whatever judges requests comes last: nothing
 * of the operator itself may be kept from being applied by an operator that is not there yet.
 */
function deployManifests(subject: Subject, options: GenerateOptions): object[] {
  const { operator } = subject.loaded;
  const { name } = operator;
  const choices = webhookChoices(operator, options);
  const { place, plan, certificates, roles } = choices;
  const webhooks = plan.asked ? podWebhooks(place, certificates) : undefined;
  const registered = roles.registers === "nobody" ? [REGISTERED] : [];
  const replication = replicationOf(operator, options);
  const deployment = deploymentManifests({
    ...place,
    image: options.image ?? `${name}:latest`,
    serves: options.serve,
    bringsDefinitions: installs(subject.loaded),
    stopMs: stopLimitOf(operator),
    webhooks: webhooks && { ...webhooks, env: [...webhooks.env, ...registered] },
    replication,
    metricsAuth: options.metricsAuth,
  });
  return [
    ...placedDefinitions(choices),
    ...access(subject, { crds: "wait", coordination: replication.plan }, options),
    ...(webhooks ? [webhookServiceManifest(place)] : []),
    ...(webhooks && certificates === "cert-manager" ? certManagerManifests(place) : []),
    networkPolicyManifest({ ...place, webhooks, metricsAuth: options.metricsAuth }),
    ...deployment,
    ...choices.manifests,
  ];
}

const keyOf = (need: Need) => JSON.stringify(need);

/** Whether an operator would install definitions by itself. */
function installs({ operator }: LoadedOperator): boolean {
  return operator.options.crds === "install" && definitionsOf(operator).length > 0;
}

/** The manifests beside an operator, which show what its kinds are for. */
async function examplesOf({ file }: LoadedOperator, io: ProjectIo): Promise<ExampleObject[]> {
  const folder = path.join(path.dirname(path.resolve(io.cwd, file)), "manifests");
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const objects = await loadManifests(folder);
  return objects.map(({ body }) => body as unknown as ExampleObject);
}

/** Where the operator will run, and who brings its definitions. */
type Scope = Pick<PermissionScope, "namespaces" | "crds" | "webhooks" | "coordination" | "metricsAuth">;

/** Without a Deployment nothing tells the operator to share its work but itself, or whoever gives the flag. */
function rbacManifests(subject: Subject, options: GenerateOptions): object[] {
  const { coordination: choice } = options;
  const { coordination: declared } = subject.loaded.operator.options;
  return access(subject, { coordination: choice && planOfChoice(choice, declared) }, options);
}

function access(subject: Subject, scope: Pick<Scope, "crds" | "coordination">, options: GenerateOptions): object[] {
  const { place, roles: webhooks } = webhookChoices(subject.loaded.operator, options);
  const { serve: namespaces, metricsAuth } = options;
  const needs = needsOf(subject, { ...scope, namespaces, webhooks, metricsAuth });
  return [
    ...accessManifests({ ...place, needs, serves: namespaces }),
    ...(metricsAuth ? [metricsReaderManifest(place.name)] : []),
  ];
}

/** The framework's part comes from what is declared, that of the handlers from their code and what they were seen to do. */
function needsOf({ loaded: { operator }, handlers }: Subject, scope: Scope): Need[] {
  const framework = permissionsOf(operator, { ...scope, handlersPatch: (handler) => handlers.isUnseen(handler) });
  return [...framework, ...handlers.needs];
}

/** What the nearest package.json above an operator says. */
function aboutProject({ file }: LoadedOperator, io: ProjectIo): About {
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

/** In one stream, each file says where it belongs. */
function withSource({ name, text }: GeneratedFile): GeneratedFile {
  return { name, text: `# Source: ${name}\n${text}` };
}

function put(files: readonly GeneratedFile[], { output }: GenerateOptions, io: ProjectIo): void {
  if (output === undefined) io.stdout.write(files.map(({ text }) => text).join("---\n"));
  else writeFiles(files, path.resolve(io.cwd, output), io);
}

function writeFiles(files: readonly GeneratedFile[], folder: string, io: ProjectIo): void {
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
