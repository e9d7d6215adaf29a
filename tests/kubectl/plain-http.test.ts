/** kubectl sends no credentials of a kubeconfig without TLS; it gets in all the same, and nobody else does. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outcome, run } from "../run.ts";
import { kubectlPath, kubectlVersions } from "./kubectl.ts";

describe.each(kubectlVersions())("kubectl %s over plain HTTP", (version) => {
  let folder: string;
  let cluster: Cluster;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-plain-"));
    cluster = await Cluster.start({ tls: false, kubelet: { mode: "simulate", startDelay: 0 } });
    cluster.pods.program("web", { logs: ["hello"], exec: { id: "root\n" } });
    await cluster.writeKubeconfig(path.join(folder, "kubeconfig"));
  });

  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const kubectl = (args: readonly string[], more: { stdin?: string; env?: Record<string, string> } = {}) =>
    run(kubectlPath(version), args, {
      ...more,
      env: {
        KUBECONFIG: path.join(folder, "kubeconfig"),
        KUBECACHEDIR: path.join(folder, "cache"),
        HOME: folder,
        ...more.env,
      },
    });

  async function ok(outcome: Promise<Outcome>): Promise<string> {
    const { exitCode, stdout, stderr } = await outcome;
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    return stdout;
  }

  it("reads, writes, follows and runs commands in pods", async () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web" } };
    const stdin = JSON.stringify({ ...pod, spec: { containers: [{ name: "c", image: "i" }] } });
    expect(await ok(kubectl(["apply", "-f", "-"], { stdin }))).toContain("pod/web created");
    await ok(kubectl(["wait", "--for=condition=Ready", "pod/web", "--timeout=60s"]));
    expect(await ok(kubectl(["get", "secrets", "-A"]))).toBe("");
    expect(await ok(kubectl(["logs", "web"]))).toBe("hello\n");
    expect(await ok(kubectl(["exec", "web", "--", "id"]))).toBe("root\n");
    const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false" };
    expect(await ok(kubectl(["exec", "web", "--", "id"], { env }))).toBe("root\n");
    expect(await ok(kubectl(["explain", "pods"]))).toContain("KIND:       Pod");
    expect(await ok(kubectl(["auth", "can-i", "delete", "nodes"]))).toContain("yes");
  });

  it("is nobody with the bare address, whatever token it is given", async () => {
    const bare = structuredClone(cluster.kubeconfig) as { clusters: { cluster: { server: string } }[] };
    for (const one of bare.clusters) one.cluster.server = cluster.url;
    const file = path.join(folder, "bare.json");
    writeFileSync(file, JSON.stringify(bare));
    for (const token of [[], ["--token", cluster.token]]) {
      const refused = await kubectl(["get", "secrets", ...token], { env: { KUBECONFIG: file } });
      expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
      expect(refused.stderr).toContain("Error from server (Forbidden)");
    }
  });
});
