// Completes package-lock.json after `npm install`: node scripts/lock.mjs
//
// A registry mirror may carry native packages of some platforms only. npm then leaves the others out of the lock, and
// `npm ci` refuses such a lock on every platform. What an entry needs is known from the package's exact version and
// from its name, which says the platform. Its checksum is asked for; a registry that does not carry the package does not
// know it, and a guess would be worse than none: it stays out, as npm does for packages without one. Everything else has
// its checksum, or the check of the lock fails.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { capture, main, npm, say } from "./process.mjs";
import { root } from "./workspace.mjs";

const systems = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "aix", "win32"];
const processors = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

/** The platform that a native package is for, or undefined when its name does not say. */
export function platformOf(name) {
  const words = name.split("/").at(-1).split("-");
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  if (cpu === undefined || (os === undefined && cpu !== "wasm32")) return undefined;
  const libc = words.some((word) => word.startsWith("musl"))
    ? "musl"
    : words.some((word) => word.startsWith("gnu"))
      ? "glibc"
      : undefined;
  return { ...(os && { os: [os] }), cpu: [cpu], ...(os === "linux" && libc && { libc: [libc] }) };
}

/** Adds what is missing to a parsed lock. Returns the names of the added packages. */
export function complete(lock) {
  const added = [];
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const where = `node_modules/${name}`;
      const platform = platformOf(name);
      if (where in lock.packages || platform === undefined || !/^\d+\.\d+\.\d+/.test(version)) continue;
      const { cpu, libc, os } = platform;
      lock.packages[where] = {
        version,
        cpu,
        ...(entry.dev && { dev: true }),
        ...(libc && { libc }),
        optional: true,
        ...(os && { os }),
      };
      added.push(name);
    }
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a === b ? 0 : a.localeCompare(b, "en")));
  lock.packages = Object.fromEntries(sorted);
  return added;
}

/** The name of the package at a place of the lock: `node_modules/a/node_modules/@b/c` is `@b/c`. */
const nameOf = (where) => where.split("node_modules/").at(-1);

/** The places of what is fetched from a registry and has no strong checksum. */
function unchecked(lock) {
  return Object.entries(lock.packages)
    .filter(([where, entry]) => where.includes("node_modules/") && !entry.link)
    .filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""))
    .map(([where]) => where);
}

/** The places without a checksum that have no excuse: only a native package of another platform may be unknown here. */
export function unexcused(lock) {
  return unchecked(lock).filter((where) => {
    const { optional, version, integrity } = lock.packages[where];
    return integrity !== undefined || !optional || !version || platformOf(nameOf(where)) === undefined;
  });
}

/** Fills in what `ask(name, version)` knows; undefined when it knows nothing. Returns the names of what got a checksum. */
export async function addChecksums(lock, ask) {
  const told = await Promise.all(
    unchecked(lock).map(async (where) => {
      const entry = lock.packages[where];
      const integrity = await ask(nameOf(where), entry.version);
      if (!integrity) return [];
      // Where npm has it: after the version.
      const { version, resolved, integrity: _, ...rest } = entry;
      lock.packages[where] = { version, ...(resolved && { resolved }), integrity, ...rest };
      return [nameOf(where)];
    }),
  );
  return told.flat();
}

/** A few questions at a time: each is a program of its own. */
function registry(most = 4) {
  const slots = Array.from({ length: most }, () => Promise.resolve());
  let turn = 0;
  return (name, version) => {
    const slot = turn++ % most;
    const answer = slots[slot].then(async () => {
      const [command, args, options] = npm(["view", `${name}@${version}`, "dist.integrity", "--loglevel=silent"]);
      const { exitCode, stdout } = await capture(command, args, options);
      return exitCode === 0 ? stdout.trim() || undefined : undefined;
    });
    slots[slot] = answer;
    return answer;
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const file = path.join(root, "package-lock.json");
    const lock = JSON.parse(readFileSync(file, "utf8"));
    const added = complete(lock);
    const checked = await addChecksums(lock, registry());
    if (added.length + checked.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
    say(`${added.length} packages of other platforms added to package-lock.json, ${checked.length} checksums`);
    const unknown = unchecked(lock).map(nameOf);
    if (unknown.length > 0) say(`the registry does not know those of ${unknown.length}: ${unknown.join(", ")}`);
  });
}
