/**
 * The packages that only development needs. They are found at run time or not at all, hence what is used of them is
 * written down here: an image for production has neither.
 */
import type { Client, Kubeconfig } from "@lotse/client";
import type { ResourceInput } from "../../declare/index.ts";
import type { LogSink } from "../../report/index.ts";
import { type Io, Problem } from "../terminal/index.ts";

/** What the commands use of `@lotse/cluster`. */
export interface ClusterPackage {
  readonly Cluster: {
    start(options?: {
      port?: number;
      tls?: boolean;
      name?: string;
      data?: string;
      kubelet?: "simulate" | "process" | false;
      rbac?: boolean;
    }): Promise<EmbeddedCluster>;
  };
  /** What the API server would refuse in a definition. */
  checkDefinition(crd: object): Promise<readonly FieldProblem[]>;
  /** What it would refuse or warn of in a policy over kinds with these definitions. */
  checkPolicy(policy: object, definitions: readonly object[]): Promise<readonly FieldProblem[]>;
  /** Puts programs for `KUBEBUILDER_ASSETS` into a folder. */
  installEnvtest(folder: string): Promise<InstalledEnvtest>;
  /** Judges objects of a definition as a server would, rules in CEL included. */
  objectJudge(crd: object): Promise<ObjectJudge>;
}

/** What a server would refuse in an object of a version. */
export type ObjectJudge = (
  version: string,
  body: object,
) => readonly { readonly path: string; readonly what: string }[];

/** A mistake in an object, in the words of the API server. */
export interface FieldProblem {
  /** Empty for the whole. */
  readonly path: string;
  readonly message: string;
  readonly reason: string;
}

/** What was put there. */
export interface InstalledEnvtest {
  readonly folder: string;
  readonly programs: readonly string[];
  /** Whether compiled code is kept for them. */
  readonly compiled: boolean;
}

/** A cluster at work. */
export interface EmbeddedCluster {
  readonly url: string;
  readonly port: number;
  /** What it found in its data folder. */
  readonly data?: { readonly folder: string; readonly objects: number; readonly cut?: CutTail | undefined } | undefined;
  writeKubeconfig(path: string): unknown;
  connect(options?: { readonly kubeconfig?: Kubeconfig }): Promise<Client>;
  /** The kubeconfig of a service account, `namespace/name`. */
  kubeconfigFor(identity: { readonly serviceAccount: string }): Kubeconfig;
  stop(): Promise<void>;
}

/** The end of a log that was never finished, hence cut off. */
export interface CutTail {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  readonly kept: string;
}

/** What the commands use of `@lotse/console`. */
export interface ConsolePackage {
  startConsole(options: { client: Client; kinds: readonly ResourceInput[] }): Promise<ConsoleServer>;
}

/** A console at work. */
export interface ConsoleServer {
  readonly url: string;
  /** Takes log lines. */
  readonly sink: LogSink;
  /** Shows these kinds from now on. */
  show(kinds: readonly ResourceInput[]): void;
  stop(): Promise<void>;
}

/** What `lotse chaos` uses of `@lotse/testing`. */
export interface TestingPackage {
  readonly ChaosProxy: {
    open(
      cluster: { readonly kubeconfig?: string; readonly context?: string; readonly env: Io["env"] },
      options: {
        readonly token: string;
        readonly tls: true;
        readonly keep: false;
        readonly onEvent: (event: ChaosEvent) => void;
      },
    ): Promise<ChaosProxy>;
  };
  decideBy(rules: readonly ChaosRule[], options: { readonly seed: number }): ChaosProxy["rule"];
}

/** A proxy at work. */
export interface ChaosProxy {
  readonly url: string;
  /** Of the authority that has signed its certificate, PEM. */
  readonly ca: string | undefined;
  rule: (request: ChaosRequest) => object | undefined;
  kill: () => Promise<void>;
  close(): Promise<void>;
}

/** A request as the proxy sees it. */
export interface ChaosRequest {
  readonly verb: string;
  readonly write: boolean;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly label: string;
  readonly path: string;
  readonly body: unknown;
}

/** What the proxy has seen or done. */
export type ChaosEvent =
  | { readonly type: "request" | "event" | "watch ended"; readonly request: ChaosRequest }
  | { readonly type: "fault"; readonly request: ChaosRequest; readonly fault: string }
  | { readonly type: "answer"; readonly request: ChaosRequest; readonly status: number }
  | { readonly type: "unreachable"; readonly request: ChaosRequest; readonly error: Error };

/** What is done to which requests. */
export interface ChaosRule {
  readonly fault: string | { readonly type: string };
  readonly verbs?: readonly string[] | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  readonly chance?: number | undefined;
  readonly at?: number | undefined;
  readonly atWrite?: number | undefined;
  readonly times?: number | undefined;
}

/** How a package is imported by its name. */
export type ImportPackage = (name: string) => Promise<unknown>;

// The name comes as a value, so that no bundler follows it.
const importPackage: ImportPackage = (name) => import(name);

/** The embedded cluster; a {@link Problem} that tells how to get it when it is not installed. */
export async function importCluster(load: ImportPackage = importPackage): Promise<ClusterPackage> {
  const found = await optional<ClusterPackage>("@lotse/cluster", load);
  if (found) return found;
  throw new Problem({
    what: "the embedded cluster is not installed",
    why: "it is a package of its own, because it does not belong into production",
    todo: "npm install --save-dev @lotse/cluster",
  });
}

/** The testing kit; a {@link Problem} that tells how to get it when it is not installed. */
export async function importTesting(load: ImportPackage = importPackage): Promise<TestingPackage> {
  const found = await optional<TestingPackage>("@lotse/testing", load);
  if (found) return found;
  throw new Problem({
    what: "the testing kit is not installed",
    why: "it is a package of its own, because it does not belong into production",
    todo: "npm install --save-dev @lotse/testing",
  });
}

/** A way to import the cluster for a process that is nothing else: with the code that was compiled for it before. */
export interface ImportAlone {
  readonly load: ImportPackage;
  /** Keeps compiled code for the next process; to be called when this one has nothing better to do. */
  keep(): void;
}

/** Makes an {@link ImportAlone}. */
export function importAlone(load: ImportPackage = importPackage): ImportAlone {
  let keep = (): unknown => undefined;
  return {
    load: async (name) => {
      const { loadPacked } = (await load(`${name}/packed`)) as PackedEntry;
      const found = await loadPacked();
      keep = found.keep;
      return found;
    },
    keep: () => void keep(),
  };
}

interface PackedEntry {
  loadPacked(): Promise<Pick<ClusterPackage, "Cluster"> & { keep(): unknown }>;
}

/** The console, if it is installed. */
export async function importConsole(load: ImportPackage = importPackage): Promise<ConsolePackage | undefined> {
  const found = await optional<Partial<ConsolePackage>>("@lotse/console", load);
  return typeof found?.startConsole === "function" ? (found as ConsolePackage) : undefined;
}

async function optional<T>(name: string, load: ImportPackage): Promise<T | undefined> {
  try {
    return (await load(name)) as T;
  } catch (error) {
    if (isMissing(error, name)) return undefined;
    throw error;
  }
}

/** Whether the package itself is missing, and not something that it needs. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message = "" } = error as { code?: string; message?: string };
  if (code !== "ERR_MODULE_NOT_FOUND") return false;
  // "Cannot find package 'ws' imported from …/@lotse/cluster/…" names it too.
  return message.split(" imported from ", 1)[0]?.includes(name) ?? false;
}
