// Kopf from PyPI, in a virtual environment in the cache folder, once.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import "../../scripts/typescript.mjs";
import { capture } from "../../scripts/process.mjs";

const packages = ["kopf==1.45.2", "uvloop==0.23.0"];

/** Kopf cannot take part. */
export class KopfMissingError extends Error {}

/** Installs Kopf unless it is there. Returns the Python that has it. */
export async function installKopf(log) {
  const { cacheFolder } = await import("../../tests/cache.ts");
  const { exitCode, stdout } = await capture("python3", [
    "-c",
    "import platform; print(platform.python_version())",
  ]).catch(() => ({ exitCode: 1, stdout: "" }));
  if (exitCode !== 0)
    throw new KopfMissingError("Kopf needs Python, and there is no python3. Install Python 3.10 or newer.");
  const label = [...packages, `python-${stdout.trim()}`].join("_").replaceAll("==", "-");
  const folder = cacheFolder("kopf", label);
  const python = path.join(folder, "bin", "python");
  // Written last: an installation that was interrupted is begun anew.
  const stamp = path.join(folder, "complete");
  if (existsSync(stamp)) return python;
  log(`installing ${packages.join(" and ")} into ${folder}`);
  mkdirSync(path.dirname(folder), { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  await run("python3", ["-m", "venv", folder]);
  await run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages]);
  writeFileSync(stamp, "");
  return python;
}

async function run(command, args) {
  const { exitCode, stdout, stderr } = await capture(command, args);
  if (exitCode === 0) return;
  const last = (stderr || stdout).trim().split("\n").slice(-5).join("\n");
  throw new KopfMissingError(
    `Kopf cannot be installed (${path.basename(command)} ${args.slice(0, 3).join(" ")}):\n${last}`,
  );
}
