// Builds the real Kubernetes servers from the Go module proxy, once for each change of the recipe:
//   node --import ./scripts/typescript.mjs tests/real/build.ts
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cacheFolder } from "../cache.ts";

/** Which Kubernetes is built. */
export const version = "v1.36.3";
const versionPackage = "k8s.io/component-base/version";
// Without a version the servers call themselves v0.0.0, and kubectl refuses to talk to them.
const ldflags = [
  "-s -w",
  `-X ${versionPackage}.gitVersion=${version}`,
  `-X ${versionPackage}.gitMajor=1`,
  `-X ${versionPackage}.gitMinor=36`,
].join(" ");
/** How its programs are built: the same for all, so that what one has compiled the next one finds. */
export const buildFlags: readonly string[] = ["-trimpath", "-buildvcs=false", "-ldflags", ldflags];
const flags = ["build", ...buildFlags];

/** Each program and its Go package; the quick ones first, so that a broken set-up shows early. */
const programs = {
  etcd: "./etcd",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
} as const;

/** A program of the real cluster. */
export type Program = keyof typeof programs;

const recipe = fileURLToPath(new URL("./server", import.meta.url));

/** Go is not there: the suite cannot run, which is neither a pass nor a failed test. */
export class GoMissingError extends Error {
  override readonly name = "GoMissingError";
}

/** The folder of the built programs, whether they are there yet or not. */
export function binFolder(): string {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum", "etcd/main.go"]) hash.update(readFileSync(path.join(recipe, file)));
  hash.update(JSON.stringify([flags, programs, process.platform, process.arch]));
  return cacheFolder("kubernetes", `${version}-${hash.digest("hex").slice(0, 12)}`);
}

/** The path of a built program. */
export function programPath(program: Program): string {
  return path.join(binFolder(), process.platform === "win32" ? `${program}.exe` : program);
}

/** Whether all programs are there. */
export function isBuilt(): boolean {
  return (Object.keys(programs) as Program[]).every((program) => existsSync(programPath(program)));
}

/** Builds what is missing, of all programs or of some. */
export async function buildServers(log: (line: string) => void, only?: readonly Program[]): Promise<void> {
  const wanted = (Object.entries(programs) as [Program, string][]).filter(([name]) => only?.includes(name) ?? true);
  const missing = wanted.filter(([name]) => !existsSync(programPath(name)));
  if (missing.length === 0) return;
  log(`building Kubernetes ${version} into ${binFolder()}: some minutes the first time, never again`);
  for (const [name, source] of missing) await buildProgram(programPath(name), recipe, [...flags, source], log);
}

/**
 * Builds one program. It appears under its name only when it is complete, so that a build that was interrupted, or one
 * that runs beside this one, does no harm.
 */
export async function buildProgram(
  file: string,
  cwd: string,
  args: readonly string[],
  log: (line: string) => void,
): Promise<void> {
  await requireGo();
  mkdirSync(path.dirname(file), { recursive: true });
  const name = path.basename(file);
  const since = performance.now();
  const elapsed = () => `${Math.round((performance.now() - since) / 1000)} s`;
  const timer = setInterval(() => log(`  … ${name} (${elapsed()})`), 15_000);
  const draft = `${file}.${process.pid}.draft`;
  try {
    const [command = "build", ...rest] = args;
    const { exitCode, output } = await go([command, "-o", draft, ...rest], cwd);
    if (exitCode !== 0) {
      throw new Error(
        `${name} does not build (go exited with ${exitCode}):\n${output.trim().split("\n").slice(-15).join("\n")}`,
      );
    }
    renameSync(draft, file);
  } finally {
    clearInterval(timer);
    rmSync(draft, { force: true });
  }
  log(`  ${name} built in ${elapsed()}`);
}

async function requireGo(): Promise<void> {
  const { exitCode } = await go(["version"], recipe).catch(() => ({ exitCode: 127 }));
  if (exitCode === 0) return;
  throw new GoMissingError(
    "Programs of Kubernetes are built with Go, and Go is not installed.\nInstall Go 1.26 or newer (https://go.dev/dl), or skip this suite.",
  );
}

function go(args: readonly string[], cwd: string): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("go", args, {
      cwd,
      env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly", GOWORK: "off" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ exitCode: code ?? 1, output }));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    await buildServers((line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof GoMissingError ? 2 : 1;
  }
}
