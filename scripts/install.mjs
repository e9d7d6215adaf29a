// Makes node_modules agree with package-lock.json. The first command in a fresh clone ends up here; every later one
// costs a few milliseconds.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Failure, heartbeat, main, npm, say, seconds } from "./process.mjs";
import { readJson, root } from "./workspace.mjs";

const oldest = [20, 19];

/** Installs when needed; tells whether it did. */
export async function ensureInstalled(base = root) {
  requireNode();
  const lockFile = path.join(base, "package-lock.json");
  const stampFile = path.join(base, "node_modules", ".lotse-install");
  const wanted = digest(lockFile);
  if (isInstalled(lockFile, stampFile, wanted)) return false;
  const release = await takeTurn(base);
  try {
    // Somebody else may have installed while we waited.
    if (isInstalled(lockFile, stampFile, wanted)) return false;
    await install(base, lockFile);
    writeFileSync(stampFile, wanted);
    return true;
  } finally {
    release();
  }
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  throw new Failure(
    `Node.js ${process.versions.node} is too old: Lotse needs ${oldest.join(".")} or newer.\nInstall a newer Node.js and run the same command again.`,
  );
}

// Native packages differ by platform, so a node_modules carried to another one counts as foreign.
function digest(lockFile) {
  return createHash("sha256")
    .update(readFileSync(lockFile))
    .update(`${process.platform}-${process.arch}`)
    .digest("hex");
}

function isInstalled(lockFile, stampFile, wanted) {
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === wanted) return true;
  // Without our stamp it may still be up to date: somebody ran npm by hand. npm leaves a lock of what it installed.
  const hidden = path.join(path.dirname(stampFile), ".package-lock.json");
  if (!existsSync(hidden) || !agrees(readJson(lockFile), readJson(hidden))) return false;
  writeFileSync(stampFile, wanted);
  return true;
}

function agrees(lock, installed) {
  for (const [where, entry] of Object.entries(lock.packages)) {
    if (!where.startsWith("node_modules/") && !where.includes("/node_modules/")) continue;
    const there = installed.packages[where];
    if (there === undefined ? !entry.optional && !entry.peer : there.version !== entry.version) return false;
  }
  return true;
}

async function install(base, lockFile) {
  const since = performance.now();
  const count = Object.keys(readJson(lockFile).packages).filter((where) => where.includes("node_modules/")).length;
  say(`installing up to ${count} packages (npm ci), once for this package-lock.json`);
  const stop = heartbeat("npm ci is still running");
  const [command, args, options] = npm(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  const output = await new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: base, stdio: ["ignore", "pipe", "pipe"], ...options });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => (text += part));
    child.on("error", (error) =>
      reject(new Failure(`npm does not start: ${error.message}\nInstall npm, it comes with Node.js.`)),
    );
    child.on("close", (code) => resolve({ code, text }));
  }).finally(stop);
  if (output.code !== 0) throw new Failure(explain(output.text));
  say(`installed in ${seconds(since)}`);
}

function explain(text) {
  const lines = text.split("\n").filter((line) => /^npm error\s+\S/.test(line) && !line.includes("A complete log"));
  const what = lines.find((line) => !/npm error (code|errno|syscall|type)\b/.test(line)) ?? lines[0] ?? text.trim();
  const why = /EUSAGE|in sync/.test(text)
    ? "package.json and package-lock.json disagree: run `npm install` and `node scripts/lock.mjs`."
    : /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|network/i.test(text)
      ? "The package registry cannot be reached: check the network or the registry setting (`npm config get registry`)."
      : "Run `npm ci` to see all that npm says.";
  return `The packages could not be installed: ${what.replace(/^npm error\s*/, "")}\n${why}`;
}

/** One installation at a time for a folder: npm ci takes node_modules away under a second one. */
async function takeTurn(base) {
  const name = createHash("sha256").update(base).digest("hex").slice(0, 16);
  const lock = path.join(os.tmpdir(), `lotse-install-${name}`);
  let told = false;
  for (;;) {
    try {
      mkdirSync(lock);
      writeFileSync(path.join(lock, "pid"), String(process.pid));
      const release = () => rmSync(lock, { recursive: true, force: true });
      process.once("exit", release);
      return () => {
        process.off("exit", release);
        release();
      };
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (isAbandoned(lock)) {
      rmSync(lock, { recursive: true, force: true });
      continue;
    }
    if (!told) say("waiting for another installation of this folder");
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function isAbandoned(lock) {
  let pid;
  try {
    pid = Number(readFileSync(path.join(lock, "pid"), "utf8"));
  } catch {
    // Its owner is between the two writes, or has just released it, or died between them.
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    return Date.now() - made > 10_000;
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    if (!(await ensureInstalled())) say("node_modules is up to date");
  });
}
