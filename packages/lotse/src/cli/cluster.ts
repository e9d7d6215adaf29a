/** `lotse cluster`: nothing but the embedded cluster. Imports only what that needs: it has to be up at once. */
import path from "node:path";
import {
  type EmbeddedCluster,
  importAlone,
  importCluster,
  type LocalClusterOptions,
  shellWord,
  startLocalCluster,
} from "./local-cluster/index.ts";
import type { Io } from "./terminal/index.ts";
import { type AnnouncedLine, announce, Problem, stopOnSignal, wantsColours } from "./terminal/index.ts";

/** The flags of `lotse cluster`. */
export interface ClusterOptions extends LocalClusterOptions {
  readonly output?: "json" | undefined;
  /** The folder to put the programs of envtest into, instead of starting a cluster. */
  readonly envtest?: string | undefined;
}

const CALM_MS = 1_000;

function endOf({ data }: EmbeddedCluster): string {
  return data ? `Ctrl-C; its data stays in ${data.folder}` : "Ctrl-C; its data is kept in memory and goes with it";
}

/** Puts programs into a folder that start embedded clusters for others. */
async function envtest(folder: string, { output }: ClusterOptions, io: Io): Promise<number> {
  const { installEnvtest } = await importCluster();
  const made = await installEnvtest(path.resolve(io.cwd, folder)).catch((error: unknown) => {
    throw new Problem({
      what: `the programs for envtest cannot be put into ${folder}`,
      why: error instanceof Error ? error.message : String(error),
      todo: "choose another folder",
    });
  });
  if (output === "json") io.stdout.write(`${JSON.stringify(made)}\n`);
  else {
    announce(
      io.stdout,
      "etcd and kube-apiserver for envtest are ready",
      [
        ["use them", `export KUBEBUILDER_ASSETS=${shellWord(made.folder)}`],
        ["try it", "go test ./..."],
      ],
      wantsColours(io.stdout, io.env),
    );
  }
  if (!made.compiled) {
    io.stderr.write(
      "Note: compiled code cannot be kept (LOTSE_CACHE names a folder): the programs start more slowly\n",
    );
  }
  return 0;
}

/** Runs a cluster until the user asks it to stop. */
export async function cluster(options: ClusterOptions, io: Io): Promise<number> {
  if (options.envtest !== undefined) return envtest(options.envtest, options, io);
  const stop = stopOnSignal(io);
  try {
    const alone = importAlone();
    const { cluster, kubeconfig } = await startLocalCluster(options, io, alone.load);
    try {
      const milliseconds = Math.round(io.uptime());
      if (options.output === "json") {
        io.stdout.write(`${JSON.stringify({ url: cluster.url, port: cluster.port, kubeconfig, milliseconds })}\n`);
      } else {
        announce(
          io.stdout,
          `Kubernetes is ready after ${milliseconds} ms`,
          [
            ["server", cluster.url],
            ["use it", `export KUBECONFIG=${shellWord(kubeconfig)}`],
            ["try it", "kubectl get namespaces"],
            ...(options.rbac
              ? [["rights", "roles decide (RBAC); this kubeconfig is the administrator's"] as AnnouncedLine]
              : []),
            ["end it", endOf(cluster)],
          ],
          wantsColours(io.stdout, io.env),
        );
      }
      // By then the first requests are answered, too; a cluster that is stopped sooner leaves it to the next one.
      setTimeout(() => alone.keep(), CALM_MS).unref();
      await stop.requested;
    } finally {
      await cluster.stop();
    }
  } finally {
    stop[Symbol.dispose]();
  }
  return 0;
}
