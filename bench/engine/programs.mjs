// What contestants need before they can run: Kopf from PyPI, and those that are compiled. Everything is made once, into
// the cache folder outside of the repository, for each change of its sources.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { capture } from "../../scripts/process.mjs";
import "../../scripts/typescript.mjs";
import { installKopf, KopfMissingError } from "./python.mjs";

const { buildGoProgram } = await import("../../tests/clients/go/build.ts");
const { cacheFolder } = await import("../../tests/cache.ts");

/** A contestant cannot be had on this machine: the others can be compared without. The message says what is missing. */
export class ProgramMissingError extends Error {}

const folderOf = (name) => fileURLToPath(new URL(`./contestants/${name}`, import.meta.url));

const makers = {
  kopf: (note) =>
    installKopf(note).catch((error) => {
      throw error instanceof KopfMissingError ? new ProgramMissingError(error.message) : error;
    }),
  "controller-runtime": (note) =>
    buildGoProgram(folderOf("controller-runtime"), ["bench", "engine"], note).catch(async (error) => {
      if (await runs("go", "version")) throw new ProgramMissingError(error.message);
      throw new ProgramMissingError(
        "controller-runtime is built with Go, and Go is not installed.\nInstall Go 1.26 or newer.",
      );
    }),
  "kube-rs": (note) => buildCargoProgram(folderOf("kube-rs"), "lotse-bench-kube-rs", note),
};

/**
 * The program of a contestant, made unless it is there; undefined for those that need none.
 *
 * @param {string} name
 * @param {(line: string) => void} note
 * @returns {Promise<string | undefined>}
 * @throws {ProgramMissingError}
 */
export async function makeProgram(name, note) {
  return makers[name]?.(note);
}

/** Builds the program of a folder unless it is there. Returns its path. */
async function buildCargoProgram(folder, binary, note) {
  const name = path.basename(folder);
  const hash = createHash("sha256").update(JSON.stringify([process.platform, process.arch]));
  const sources = readdirSync(path.join(folder, "src")).map((file) => path.join("src", file));
  for (const source of ["Cargo.toml", "Cargo.lock", ...sources.sort()]) {
    hash.update(source).update(readFileSync(path.join(folder, source)));
  }
  const target = cacheFolder("bench", `${name}-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(target)) return target;
  if (!(await runs("cargo", "--version"))) {
    throw new ProgramMissingError(
      `${name} is built with cargo, and cargo is not installed.\nInstall Rust 1.89 or newer.`,
    );
  }
  // What it depends on is compiled once, whatever becomes of the program itself.
  const workshop = cacheFolder("bench", "cargo");
  mkdirSync(workshop, { recursive: true });
  note(`building ${name} into ${target}: some minutes the first time, never again`);
  await cargo(name, folder, workshop, note);
  const draft = `${target}.${process.pid}.draft`;
  try {
    copyFileSync(path.join(workshop, "release", binary), draft);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
  return target;
}

function cargo(name, folder, workshop, note) {
  return new Promise((resolve, reject) => {
    const child = spawn("cargo", ["build", "--release", "--locked"], {
      cwd: folder,
      env: { ...process.env, CARGO_TARGET_DIR: workshop, CARGO_TERM_COLOR: "never" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const since = performance.now();
    let told = "";
    const lines = () => told.trim().split("\n");
    const timer = setInterval(() => {
      note(`  … ${name} (${Math.round((performance.now() - since) / 1000)} s): ${lines().at(-1).trim()}`);
    }, 10_000);
    child.stderr.setEncoding("utf8").on("data", (text) => {
      told = (told + text).slice(-8000);
    });
    child.on("error", (error) => {
      clearInterval(timer);
      reject(error);
    });
    child.on("close", (code) => {
      clearInterval(timer);
      if (code === 0) resolve();
      else reject(new ProgramMissingError(`${name} does not build:\n${lines().slice(-15).join("\n")}`));
    });
  });
}

/** Whether there is such a program. */
async function runs(command, ...args) {
  const { exitCode } = await capture(command, args).catch(() => ({ exitCode: 127 }));
  return exitCode === 0;
}
