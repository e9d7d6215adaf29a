import { existsSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { run } from "../run.ts";
import { writesOf } from "./audit.ts";
import { RealCluster } from "./cluster.ts";

describe("the real cluster", () => {
  let cluster: RealCluster;
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-test-"));
  const kubeconfig = path.join(folder, "kubeconfig");
  const kubectl = (...args: string[]) => run(cluster.kubectlPath, ["--kubeconfig", kubeconfig, ...args]);

  beforeAll(async () => {
    cluster = await RealCluster.start();
    cluster.writeKubeconfig(kubeconfig);
  });
  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("answers the real kubectl with its own version", async () => {
    const { stdout } = await kubectl("version", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      clientVersion: { gitVersion: "v1.36.3" },
      serverVersion: { gitVersion: "v1.36.3", major: "1", minor: "36" },
    });
  });

  it("tells by its audit log who wrote what, with the bodies", async () => {
    await kubectl("create", "namespace", "audited");
    const created = (await cluster.auditLog()).filter(
      (event) => event.verb === "create" && event.objectRef?.name === "audited",
    );
    expect(created).toHaveLength(1);
    expect(created[0]).toMatchObject({
      stage: "ResponseComplete",
      user: { username: "kubernetes-admin" },
      requestObject: { metadata: { name: "audited" } },
      responseStatus: { code: 201 },
    });
    expect(writesOf(await cluster.auditLog())).toContainEqual(
      expect.objectContaining({ verb: "create", resource: "namespaces", name: "audited", user: "kubernetes-admin" }),
    );
  });

  it("counts no refused write", async () => {
    const { exitCode } = await kubectl("create", "configmap", "Not_A_Name");
    expect(exitCode).toBe(1);
    expect(writesOf(await cluster.auditLog()).filter((write) => write.resource === "configmaps")).toEqual([]);
  });

  it("collects what a deleted owner leaves behind", async () => {
    await kubectl("create", "configmap", "owner");
    const { stdout: uid } = await kubectl("get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}");
    const child = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "child", ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }] },
    };
    const applied = await run(cluster.kubectlPath, ["--kubeconfig", kubeconfig, "apply", "-f", "-"], {
      stdin: JSON.stringify(child),
    });
    expect(applied).toMatchObject({ exitCode: 0 });
    await kubectl("delete", "configmap", "owner");
    const waited = await kubectl("wait", "--for=delete", "configmap/child", "--timeout=60s");
    expect(waited).toMatchObject({ exitCode: 0 });
  });

  it("leaves no process and no data behind", async () => {
    const short = await RealCluster.start({ controllers: [] });
    const { pids, folder: data } = short;
    expect(pids.map(isAlive)).toEqual([true, true]);
    await short.stop();
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(existsSync(data)).toBe(false);
  });

  it("is gone when its test was killed", async () => {
    const script = path.join(import.meta.dirname, "abandon.ts");
    const { stdout } = await run(process.execPath, ["--import", "./scripts/typescript.mjs", script]);
    const { pids, folder: data } = JSON.parse(stdout) as { pids: number[]; folder: string };
    expect(pids).toHaveLength(2);
    await vi.waitFor(() => expect([pids.map(isAlive), existsSync(data)]).toEqual([[false, false], false]), 20_000);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
