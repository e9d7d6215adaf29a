import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe } from "vitest";
import { kubectlPath } from "./kubectl/kubectl.ts";
import { isDryRun, isWrite, type Write, writesOf } from "./real/audit.ts";
import { programPath } from "./real/build.ts";
import { RealCluster, type RealClusterOptions } from "./real/cluster.ts";
import { type Outcome, type RunOptions, run } from "./run.ts";

export type { Write } from "./real/audit.ts";
export { type Outcome, type RunOptions, run } from "./run.ts";

/** The embedded cluster of this repository, or a real kube-apiserver. */
export type ClusterKind = "embedded" | "real";

/** A cluster that a whole-product test talks to without knowing which it is. */
export interface TestCluster {
  readonly kind: ClusterKind;
  readonly url: string;
  /** The admin's kubeconfig. */
  readonly kubeconfig: object;
  /** The same as a file. */
  readonly kubeconfigPath: string;
  /** A client of its own, closed with the cluster. */
  connect(): Promise<Client>;
  /** Runs the real kubectl as admin. */
  kubectl(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** The successful writes so far, in order, without dry runs and those of the cluster's own controllers. */
  writes(): Promise<Write[]>;
  /** Forgets every version of every object but the present one. */
  compact(): Promise<void>;
  stop(): Promise<void>;
}

/** How {@link startCluster} starts either kind. */
export interface StartOptions extends RealClusterOptions {
  /** The embedded cluster without the controllers that the real one does not run either. */
  readonly bare?: boolean;
  /** The embedded cluster with TLS, as the real one always has it. */
  readonly tls?: boolean;
}

/** Starts a cluster. Prefer {@link withCluster} or {@link describeOn}, which stop it. */
export async function startCluster(kind: ClusterKind, options: StartOptions = {}): Promise<TestCluster> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-test-"));
  const backend = await (kind === "real" ? startReal(options) : startEmbedded(options)).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const kubeconfigPath = path.join(folder, "kubeconfig");
  writeFileSync(kubeconfigPath, JSON.stringify(backend.kubeconfig), { mode: 0o600 });
  const clients: Client[] = [];
  return {
    kind,
    url: backend.url,
    kubeconfig: backend.kubeconfig,
    kubeconfigPath,
    writes: () => backend.writes(),
    compact: () => backend.compact(),
    async connect() {
      const client = await Client.connect({ kubeconfig: kubeconfigPath });
      clients.push(client);
      return client;
    },
    kubectl: (args, o = {}) =>
      run(backend.kubectlPath, args, {
        ...o,
        // A cache of discovery in the home folder would carry one test's kinds into the next.
        env: { ...o.env, KUBECONFIG: kubeconfigPath, KUBECACHEDIR: path.join(folder, "cache") },
      }),
    async stop() {
      try {
        await Promise.all(clients.map((client) => client.close()));
        await backend.stop();
      } finally {
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  };
}

/** Runs `body` on a fresh cluster, which is gone afterwards whatever happens. */
export async function withCluster<T>(kind: ClusterKind, body: (cluster: TestCluster) => Promise<T>): Promise<T> {
  const cluster = await startCluster(kind);
  try {
    return await body(cluster);
  } finally {
    await cluster.stop();
  }
}

/**
 * Declares the same suite once for each kind of cluster; each has one cluster for the whole suite.
 *
 * @example
 * describeOn(["embedded", "real"], "deletion", (cluster) => {
 *   it("removes the object", async () => {
 *     const client = await cluster().connect();
 *   });
 * });
 */
export function describeOn(
  kinds: readonly ClusterKind[],
  title: string,
  suite: (cluster: () => TestCluster) => void,
  options: RealClusterOptions = {},
): void {
  describe.each(kinds)(`${title} on the %s cluster`, (kind) => {
    let cluster: TestCluster | undefined;
    beforeAll(async () => {
      cluster = await startCluster(kind, options);
    });
    afterAll(async () => {
      await cluster?.stop();
    });
    suite(() => {
      if (cluster === undefined)
        throw new Error("The cluster runs only while tests run: call cluster() inside a test.");
      return cluster;
    });
  });
}

/**
 * The clusters that scenarios run on: the embedded one in `npm test`, the real one in `npm run test:real`. The same
 * file, the same expectations.
 */
export function clustersUnderTest(): readonly ClusterKind[] {
  return process.env.LOTSE_TEST_CLUSTER === "real" ? ["real"] : ["embedded"];
}

interface Backend {
  readonly url: string;
  readonly kubeconfig: object;
  readonly kubectlPath: string;
  writes(): Promise<Write[]>;
  compact(): Promise<void>;
  stop(): Promise<void>;
}

async function startReal(options: RealClusterOptions): Promise<Backend> {
  const cluster = await RealCluster.start(options);
  return {
    url: cluster.url,
    kubeconfig: cluster.kubeconfig,
    kubectlPath: cluster.kubectlPath,
    writes: async () => writesOf(await cluster.auditLog()),
    compact: () => cluster.compact(),
    stop: () => cluster.stop(),
  };
}

/** Those whose counterparts do not run beside a bare kube-apiserver. */
const NONE_OF_THEIRS = {
  workloads: false,
  quotas: false,
  policies: false,
  certificates: false,
  disruptionBudgets: false,
  podCollection: false,
  nodeTaints: false,
} as const;

async function startEmbedded({ bare = false, tls = false }: StartOptions): Promise<Backend> {
  // Roles decide here as they do there; the administrator may do everything on both. What TLS adds is tried on the real
  // server by the same files, and by suites of its own: here it was a tenth of the CPU.
  const cluster = await Cluster.start({
    tls,
    rbac: true,
    ...(bare ? { controllers: NONE_OF_THEIRS } : {}),
  });
  const fetched = kubectlPath();
  return {
    url: cluster.url,
    kubeconfig: cluster.kubeconfig,
    kubectlPath: existsSync(fetched) ? fetched : programPath("kubectl"),
    // The embedded cluster's controllers make no requests, so every write in its log is somebody's.
    async writes() {
      return cluster.requests
        .filter(({ verb, resource = "", path, status }) => isWrite(verb, resource) && status < 400 && !isDryRun(path))
        .map(({ verb, resource = "", namespace, name, subresource, user, userAgent, body }) => ({
          verb,
          resource,
          namespace,
          // The path of a create has no name; the audit log takes it from the object, too.
          name: name ?? (body as { metadata?: { name?: string } } | undefined)?.metadata?.name,
          subresource,
          user,
          userAgent,
        }));
    },
    compact: async () => cluster.compact(),
    stop: () => cluster.stop(),
  };
}
