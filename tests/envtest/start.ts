// How long envtest waits for a control plane: the same steps in the same order, without a test.
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import os from "node:os";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { freePort } from "../../packages/cluster/src/test-port.ts";
import { execute } from "./suites.ts";

/** What a control plane costs. */
export interface StartCost {
  readonly seconds: number;
  /** Resident memory of both programs, in megabytes; 0 where the system does not tell. */
  readonly megabytes: number;
}

/** As often as envtest looks. */
const POLL_MS = 100;

/** Starts the programs of a folder as envtest does, and stops them. */
export async function startCost(assets: string): Promise<StartCost> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-envtest-start-"));
  const children: ChildProcess[] = [];
  try {
    const { signing, certs } = await keys(folder);
    const [etcdPort, port, peerPort] = [await freePort(), await freePort(), await freePort()];
    const since = performance.now();
    const run = async (name: string, url: string, ...argv: string[]) => {
      await execute(path.join(assets, name), ["--help"], folder);
      const child = spawn(path.join(assets, name), argv, { stdio: "ignore" });
      children.push(child);
      while (!(await answers(url))) {
        if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    };
    const etcd = `http://127.0.0.1:${etcdPort}`;
    await run(
      "etcd",
      `${etcd}/health`,
      `--data-dir=${path.join(folder, "etcd")}`,
      `--listen-client-urls=${etcd}`,
      `--advertise-client-urls=${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      "--unsafe-no-fsync=true",
    );
    await run(
      "kube-apiserver",
      `https://127.0.0.1:${port}/healthz`,
      `--etcd-servers=${etcd}`,
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      `--cert-dir=${certs}`,
      "--authorization-mode=RBAC",
      "--disable-admission-plugins=ServiceAccount",
      "--service-cluster-ip-range=10.0.0.0/24",
      `--service-account-issuer=https://127.0.0.1:${port}/`,
      `--service-account-key-file=${signing}`,
      `--service-account-signing-key-file=${signing}`,
    );
    const seconds = (performance.now() - since) / 1_000;
    return { seconds, megabytes: children.reduce((sum, { pid }) => sum + memoryOf(pid), 0) };
  } finally {
    for (const child of children.reverse()) {
      if (child.exitCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What envtest makes before it starts anything: a key for tokens, and the certificate that the API server shows. */
async function keys(folder: string): Promise<{ readonly signing: string; readonly certs: string }> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const signing = path.join(folder, "sa.key");
  writeFileSync(signing, privateKey.export({ type: "pkcs1", format: "pem" }));
  // Whose certificate it is does not matter here: nobody looks.
  await using cluster = await Cluster.start();
  const { user = {} } = cluster.kubeconfigFor({ user: "kube-apiserver" }).users?.[0] ?? {};
  const certs = path.join(folder, "certs");
  mkdirSync(certs);
  const pem = (base64 = "") => Buffer.from(base64, "base64");
  writeFileSync(path.join(certs, "apiserver.crt"), pem(user["client-certificate-data"]));
  writeFileSync(path.join(certs, "apiserver.key"), pem(user["client-key-data"]));
  return { signing, certs };
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const call = send(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on("error", () => resolve(false));
    call.end();
  });
}

function memoryOf(pid: number | undefined): number {
  try {
    const [, kilobytes = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return 0;
  }
}
