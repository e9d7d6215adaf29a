/** Programs from PyPI, each set in a virtual environment in the cache folder, once. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { cacheFolder } from "./cache.ts";
import { type Outcome, run } from "./run.ts";

const oldestPython = [3, 11] as const;
const hint = `Install Python ${oldestPython.join(".")} or newer with its modules venv and pip (Debian: apt install python3-venv).`;

/** What is to be installed. */
export interface PythonPackages {
  /** As people call it. */
  readonly title: string;
  /** The folder in the cache. */
  readonly folder: string;
  /** With their versions: `kopf==1.45.2`. */
  readonly packages: readonly string[];
}

/** The packages cannot be had: whoever needs them cannot run. The message says what to install. */
export class PythonMissingError extends Error {
  override readonly name: string = "PythonMissingError";
}

/** Installs packages unless they are there. Returns the Python that has them. */
export async function installPackages(
  { title, folder: place, packages }: PythonPackages,
  log: (line: string) => void,
): Promise<string> {
  const version = await pythonVersion(title);
  const label = [...packages, `python-${version}`].join("_").replaceAll("==", "-");
  const folder = cacheFolder(place, label);
  const python = path.join(folder, "bin", "python");
  // Written last: an installation that was interrupted is begun anew.
  const stamp = path.join(folder, "complete");
  if (existsSync(stamp)) return python;
  log(`installing ${packages.join(" and ")} into ${folder}: once, then never again`);
  mkdirSync(path.dirname(folder), { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  const since = performance.now();
  const elapsed = () => `${Math.round((performance.now() - since) / 1000)} s`;
  const timer = setInterval(() => log(`  … ${title} (${elapsed()})`), 10_000);
  try {
    await succeed(title, "python3", ["-m", "venv", folder]);
    await succeed(title, python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages]);
  } finally {
    clearInterval(timer);
  }
  writeFileSync(stamp, "");
  log(`  ${title} installed in ${elapsed()}`);
  return python;
}

async function pythonVersion(title: string): Promise<string> {
  const { exitCode, stdout } = await tried("python3", ["-c", "import platform; print(platform.python_version())"]);
  if (exitCode !== 0) throw new PythonMissingError(`${title} needs Python, and there is no python3.\n${hint}`);
  const version = stdout.trim();
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < oldestPython[0] || (major === oldestPython[0] && minor < oldestPython[1])) {
    throw new PythonMissingError(`${title} needs a newer Python than ${version}.\n${hint}`);
  }
  return version;
}

async function succeed(title: string, command: string, args: readonly string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await tried(command, args);
  if (exitCode === 0) return;
  const last = (stderr || stdout).trim().split("\n").slice(-5).join("\n");
  const what = `${path.basename(command)} ${args.slice(0, 3).join(" ")}`;
  throw new PythonMissingError(`${title} cannot be installed (${what}):\n${last}\n${hint} pip needs a package index.`);
}

/** Runs a program; one that is not there is one that failed. */
function tried(command: string, args: readonly string[]): Promise<Outcome> {
  return run(command, args).catch((error: Error) => ({ exitCode: 127, stdout: "", stderr: error.message }));
}
