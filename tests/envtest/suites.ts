// controller-runtime's own suites, as they come from the module proxy: fetched and compiled once.
import { spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { cacheFolder } from "../cache.ts";

export const version = "v0.25.2";
const module = "sigs.k8s.io/controller-runtime";

/** Go is not there: the suites cannot run, which is neither a pass nor a failure. */
export class GoMissingError extends Error {
  override readonly name = "GoMissingError";
}

/** The tests of one package, as a program. */
export interface Suite {
  /** `pkg/client` */
  readonly name: string;
  readonly program: string;
  /** Where the program has to run: it reads files beside its sources. */
  readonly folder: string;
}

/** How a program ended, and what it said. */
export interface Outcome {
  readonly exitCode: number;
  /** Everything, in the order in which it came. */
  readonly output: string;
  /** What it said on standard output alone. */
  readonly stdout: string;
  readonly seconds: number;
}

/** Runs a program to its end; never rejects for an exit code. */
export function execute(program: string, args: readonly string[], cwd: string, env: object = {}): Promise<Outcome> {
  const since = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let stdout = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (stream === child.stdout) stdout += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ exitCode: code ?? 1, output, stdout, seconds: (performance.now() - since) / 1_000 });
    });
  });
}

async function go(args: readonly string[], cwd: string): Promise<string> {
  const env = { GOFLAGS: "-mod=mod -buildvcs=false", GOWORK: "off" };
  const { exitCode, output, stdout } = await execute("go", args, cwd, env);
  // What it downloads it tells on standard error, in the midst of its answer.
  if (exitCode === 0) return stdout.trim();
  throw new Error(`go ${args.join(" ")} exited with ${exitCode}:\n${output.trim().split("\n").slice(-15).join("\n")}`);
}

/** The suites that start a control plane, and whose names contain one of the words if there are any. Some minutes the first time, never again. */
export async function buildSuites(words: readonly string[], log: (line: string) => void): Promise<Suite[]> {
  const goVersion = await go(["env", "GOVERSION"], ".").catch(() => "");
  if (goVersion === "") {
    throw new GoMissingError(
      "controller-runtime's suites are compiled with Go, and Go is not installed.\nInstall Go 1.26 or newer (https://go.dev/dl), or skip this suite.",
    );
  }
  const folder = cacheFolder("envtest", `controller-runtime-${version}`);
  const source = path.join(folder, "source");
  if (!existsSync(source)) await fetchSource(folder, source, log);
  const programs = path.join(folder, `${goVersion}-${process.platform}-${process.arch}`);
  mkdirSync(programs, { recursive: true });
  const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}";
  const found = (await go(["list", "-f", format, "./pkg/..."], source)).split("\n").filter((line) => line !== "");
  const suites: Suite[] = [];
  for (const dir of found) {
    const name = path.relative(source, dir).split(path.sep).join("/");
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    if (!startsControlPlane(dir)) continue;
    const program = path.join(programs, `${name.replaceAll("/", "_")}.test`);
    if (!existsSync(program)) {
      log(`compiling ${name}`);
      const draft = `${program}.${process.pid}.draft`;
      await go(["test", "-c", "-o", draft, `./${name}`], source);
      renameSync(draft, program);
    }
    suites.push({ name, program, folder: dir });
  }
  return suites;
}

/** Suites that start none say nothing about us, and some of them only pass on a machine that has nothing else to do. */
function startsControlPlane(dir: string): boolean {
  const tests = readdirSync(dir).filter((file) => file.endsWith("_test.go"));
  return tests.some((file) => CONTROL_PLANE.test(readFileSync(path.join(dir, file), "utf8")));
}

const CONTROL_PLANE = /pkg\/(?:internal\/testing\/controlplane|envtest)"|^package (?:envtest|controlplane)/m;

async function fetchSource(folder: string, source: string, log: (line: string) => void): Promise<void> {
  log(`fetching controller-runtime ${version}`);
  mkdirSync(folder, { recursive: true });
  const { Dir } = JSON.parse(await go(["mod", "download", "-json", `${module}@${version}`], folder)) as { Dir: string };
  const draft = `${source}.${process.pid}.draft`;
  cpSync(Dir, draft, { recursive: true });
  // A module has lost the marks of its programs on the way, and may not be written to.
  for (const entry of readdirSync(draft, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    chmodSync(file, entry.isDirectory() || file.endsWith(".sh") ? 0o755 : 0o644);
  }
  rmSync(source, { recursive: true, force: true });
  renameSync(draft, source);
}
