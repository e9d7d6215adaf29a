// What envtest does with the programs of a folder: both are started, asked for their health, and told to end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const assets = process.argv[2];
const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-stranger-envtest-"));
const children = [];
try {
  const [etcdPort, port] = [await freePort(), await freePort()];
  const etcd = `http://127.0.0.1:${etcdPort}`;
  await start("etcd", `${etcd}/health`, [`--data-dir=${path.join(folder, "data")}`, `--listen-client-urls=${etcd}`]);
  await start("kube-apiserver", `https://127.0.0.1:${port}/healthz`, [
    `--etcd-servers=${etcd}`,
    `--secure-port=${port}`,
    `--cert-dir=${path.join(folder, "certs")}`,
  ]);
  for (const child of children.reverse()) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  console.log("both answered, both ended");
} finally {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function start(name, url, flags) {
  const child = spawn(path.join(assets, name), flags, { stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
  const giveUp = Date.now() + 60_000;
  while ((await statusOf(url)) !== 200) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    if (Date.now() > giveUp) throw new Error(`${name} does not answer at ${url}`);
    await wait(50);
  }
}

function statusOf(url) {
  const { get } = url.startsWith("https:") ? https : http;
  return new Promise((resolve) => {
    get(url, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).once("error", () => resolve(0));
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
