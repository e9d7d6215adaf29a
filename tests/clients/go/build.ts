/** Builds Go programs into the cache folder, once for each change of them. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../../cache.ts";

// The same flags as those of the real servers: what both need is compiled once.
const flags = ["build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"];

/** Builds the clients in Go unless they are there. Returns the program's path. */
export function buildGoClient(log: (line: string) => void): Promise<string> {
  return buildGoProgram(fileURLToPath(new URL(".", import.meta.url)), ["clients", "go"], log);
}

/** Builds the program of a folder unless it is there. Returns its path, which `place` begins. */
export async function buildGoProgram(
  folder: string,
  place: readonly [area: string, name: string],
  log: (line: string) => void,
): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([flags, process.platform, process.arch]));
  const sources = readdirSync(folder).filter((name) => /^go\.|\.go$/.test(name));
  for (const source of sources.sort()) hash.update(source).update(readFileSync(path.join(folder, source)));
  const [area, name] = place;
  const target = cacheFolder(area, `${name}-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(target)) return target;
  mkdirSync(path.dirname(target), { recursive: true });
  log(`building a Go program into ${target}: a minute or more the first time, never again`);
  const draft = `${target}.${process.pid}.draft`;
  try {
    await go(folder, [...flags, "-o", draft, "."]);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
  return target;
}

function go(folder: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("go", args, {
      cwd: folder,
      env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly", GOWORK: "off" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", (error) => reject(new Error(`The program in ${folder} is built with Go: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(`The program in ${folder} does not build:\n${output.trim().split("\n").slice(-15).join("\n")}`),
        );
    });
  });
}
