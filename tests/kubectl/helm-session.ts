/** A cluster of its own and one of the real Helms beside it, with a home that ends with the tests. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll } from "vitest";
import { type Outcome, run } from "../run.ts";
import { type HelmVersion, helmPath } from "./kubectl.ts";

/** What the suites of Helm share. */
export interface HelmSession {
  /** For kubectl and Helm: this cluster, and nobody's own configuration. */
  env(): Record<string, string>;
  helm(line: string): Promise<Outcome>;
  /** What Helm says; an error when it fails. */
  ok(line: string): Promise<string>;
}

/** Sets the stage for the tests of a suite; `prepare` tells the cluster what its images do. */
export function useHelm(version: HelmVersion, prepare: (cluster: Cluster) => void = () => {}): HelmSession {
  let cluster: Cluster;
  let home: string;

  beforeAll(async () => {
    home = mkdtempSync(path.join(os.tmpdir(), "lotse-helm-"));
    cluster = await Cluster.start({ kubelet: "simulate", rbac: true });
    prepare(cluster);
    await cluster.writeKubeconfig(path.join(home, "kubeconfig"));
  });

  afterAll(async () => {
    await cluster?.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  const env = () => ({
    KUBECONFIG: path.join(home, "kubeconfig"),
    KUBECACHEDIR: path.join(home, "cache"),
    HELM_CACHE_HOME: path.join(home, "helm-cache"),
    HELM_CONFIG_HOME: path.join(home, "helm-config"),
    HELM_DATA_HOME: path.join(home, "helm-data"),
  });
  const helm = (line: string) => run(helmPath(version), line.split(" "), { env: env() });

  return {
    env,
    helm,
    async ok(line) {
      const { exitCode, stdout, stderr } = await helm(line);
      if (exitCode !== 0) throw new Error(`helm ${line}\nends with ${exitCode}, having said:\n${stdout}${stderr}`);
      return stdout;
    },
  };
}
