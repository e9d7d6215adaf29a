/** Where `lotse dev` works: on an embedded cluster of its own, or with `--real` on the one of the current context. */
import type { Client } from "@lotse/client";
import { type ConnectOptions, connect } from "../connect/index.ts";
import { type KubeletChoice, startLocalCluster } from "../local-cluster/index.ts";
import { projectSettings } from "../project/index.ts";
import type { AnnouncedLine, Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";

/** The flags that choose the cluster. */
export interface DevClusterOptions extends ConnectOptions {
  readonly real?: boolean | undefined;
  readonly port?: number | undefined;
  readonly kubelet?: KubeletChoice | undefined;
  /** The folder in which the cluster is kept; in memory without one. */
  readonly data?: string | undefined;
  /** Roles decide, and the operator has the one that it would be deployed with. */
  readonly rbac?: boolean | undefined;
  readonly namespace?: readonly string[] | undefined;
  readonly installCrds?: boolean | undefined;
}

/** A cluster to develop on. */
export interface DevCluster {
  readonly client: Client;
  readonly real: boolean;
  readonly url: string;
  /** The embedded one has none, and a real one may have none either. */
  readonly context: string | undefined;
  /** The file that kubectl needs, if it is not the usual one. */
  readonly kubeconfig: string | undefined;
  readonly crds: "install" | undefined;
  /** A client that is the service account `namespace/name`; undefined without `--rbac`. */
  readonly connectAs: ((account: string) => Promise<Client>) | undefined;
  readonly announced: readonly AnnouncedLine[];
  close(): Promise<void>;
}

/** A {@link Problem} for flags that contradict each other, before anything is started. */
export function checkDevOptions({ real, port, kubelet, data, rbac, context }: DevClusterOptions): void {
  const [embedded] = Object.entries({
    "--port": port,
    "--kubelet": kubelet,
    "--data": data,
    "--rbac": rbac || undefined,
  })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag);
  if (real && embedded !== undefined) {
    throw new Problem(
      {
        what: `--real and ${embedded} exclude each other`,
        why: `${embedded} is about the embedded cluster`,
        todo: "leave one of them out",
      },
      { exitCode: 2 },
    );
  }
  if (!real && context !== undefined) {
    throw new Problem(
      {
        what: "--context needs --real",
        why: "without --real the operator gets an embedded cluster of its own",
        todo: `add --real to work on ${context}`,
      },
      { exitCode: 2 },
    );
  }
}

/** Starts the embedded cluster, or connects to the real one. */
export function openDevCluster(
  file: string,
  options: DevClusterOptions,
  io: Io,
  onWarning: (text: string) => void,
): Promise<DevCluster> {
  return options.real ? openReal(options, io, onWarning) : openEmbedded(file, options, io);
}

async function openEmbedded(file: string, options: DevClusterOptions, io: Io): Promise<DevCluster> {
  const kubelet = options.kubelet ?? projectSettings(file).kubelet;
  const { port, data, rbac } = options;
  const { cluster, kubeconfig } = await startLocalCluster(
    { port, kubeconfig: options.kubeconfig, kubelet, data, rbac },
    io,
  );
  const upAfter = Math.round(io.uptime());
  const client = await cluster.connect().catch(async (error: unknown) => {
    await cluster.stop();
    throw error;
  });
  return {
    client,
    real: false,
    url: cluster.url,
    context: undefined,
    kubeconfig,
    crds: "install",
    connectAs: rbac
      ? (serviceAccount) => cluster.connect({ kubeconfig: cluster.kubeconfigFor({ serviceAccount }) })
      : undefined,
    announced: [
      ["cluster", `${cluster.url}, up after ${upAfter} ms`],
      ...(cluster.data ? [["data", `stays in ${cluster.data.folder}`] as AnnouncedLine] : []),
      ...(rbac ? [["rights", "the operator has those of `lotse generate deploy`, you have all"] as AnnouncedLine] : []),
    ],
    async close() {
      await client.close();
      await cluster.stop();
    },
  };
}

async function openReal(options: DevClusterOptions, io: Io, onWarning: (text: string) => void): Promise<DevCluster> {
  const { client, server, context, user, version } = await connect(options, io, onWarning);
  return {
    client,
    real: true,
    url: server,
    context,
    kubeconfig: options.kubeconfig,
    // Definitions are the whole cluster's: others may rely on those that are there.
    crds: options.installCrds ? "install" : undefined,
    connectAs: undefined,
    announced: [
      ["cluster", [server, context && `context ${context}`, version].filter(Boolean).join(", ")],
      ["identity", user ?? "not told by the cluster"],
      ["beware", "what the operator does here is real; the one of its name that is deployed pauses meanwhile"],
    ],
    close: () => client.close(),
  };
}
