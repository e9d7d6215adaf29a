/** Starts the embedded cluster for a command and tells kubectl how to reach it. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";
import { type EmbeddedCluster, type ImportPackage, importCluster } from "./optional-packages.ts";

/** Where the kubeconfig lies unless the user says otherwise, below the working directory. */
export const DEFAULT_KUBECONFIG = path.join(".lotse", "kubeconfig");

/** How pods run: not at all, pretended, or as processes of this machine. */
export const KUBELETS = ["off", "simulate", "process"] as const;

/** One of {@link KUBELETS}. */
export type KubeletChoice = (typeof KUBELETS)[number];

/** How to start it. */
export interface LocalClusterOptions {
  readonly port?: number | undefined;
  readonly kubeconfig?: string | undefined;
  readonly plainHttp?: boolean | undefined;
  /** The folder in which the cluster is kept; in memory without one. */
  readonly data?: string | undefined;
  /** Whether roles decide who may do what. */
  readonly rbac?: boolean | undefined;
  /** Default `simulate`: pods that only pretend still become ready, which is what most operators wait for. */
  readonly kubelet?: KubeletChoice | undefined;
}

const WITH_YOUR_RIGHTS =
  "Warning: --kubelet process runs what manifests say on this machine, with your rights: apply none that you do not trust\n";

/** A cluster and its kubeconfig. */
export interface LocalCluster {
  readonly cluster: EmbeddedCluster;
  /** Absolute path. */
  readonly kubeconfig: string;
}

/** Starts a cluster and writes its kubeconfig, readable for its owner alone: it carries an admin's key. */
export async function startLocalCluster(
  { port, kubeconfig = DEFAULT_KUBECONFIG, plainHttp, data, rbac, kubelet = "simulate" }: LocalClusterOptions,
  io: Io,
  load?: ImportPackage,
): Promise<LocalCluster> {
  const { Cluster } = await importCluster(load);
  if (kubelet === "process") io.stderr.write(WITH_YOUR_RIGHTS);
  const cluster = await Cluster.start({
    ...(port !== undefined && { port }),
    ...(plainHttp && { tls: false }),
    ...(data !== undefined && { data: path.resolve(io.cwd, data) }),
    ...(rbac && { rbac }),
    kubelet: kubelet === "off" ? false : kubelet,
  }).catch((error: unknown) => {
    throw problemOf(error, port);
  });
  const cut = cluster.data?.cut;
  if (cut) {
    io.stderr.write(
      `Warning: ${cut.bytes} bytes at the end of ${cut.file} were cut off at byte ${cut.offset}: a write that was never finished. They are in ${cut.kept}\n`,
    );
  }
  try {
    const file = path.resolve(io.cwd, kubeconfig);
    await writeKubeconfig(cluster, file);
    return { cluster, kubeconfig: file };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function writeKubeconfig(cluster: EmbeddedCluster, file: string): Promise<void> {
  const folder = path.dirname(file);
  try {
    mkdirSync(folder, { recursive: true });
    // The folder is ours: it must not find its way into the project's repository.
    const ignore = path.join(folder, ".gitignore");
    if (path.basename(folder) === ".lotse" && !existsSync(ignore)) writeFileSync(ignore, "*\n");
    await cluster.writeKubeconfig(file);
    chmodSync(file, 0o600);
  } catch (cause) {
    throw new Problem(
      {
        what: `the kubeconfig ${file} cannot be written`,
        why: (cause as Error).message,
        todo: "choose another place with --kubeconfig",
      },
      { cause },
    );
  }
}

function problemOf(error: unknown, port: number | undefined): unknown {
  const { code } = error as { code?: string };
  if (code === "EADDRINUSE") {
    return new Problem(
      {
        what: `port ${port} is taken`,
        why: "another program listens on it, perhaps another cluster",
        todo: "choose another with --port, or leave it out to get a free one",
      },
      { cause: error },
    );
  }
  if (code === "EACCES") {
    return new Problem(
      { what: `port ${port} may not be used`, why: "low ports are for the administrator", todo: "use --port 6443" },
      { cause: error },
    );
  }
  return error;
}

/** A path as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
