// Completes package-lock.json after `npm install`: node scripts/lock.mjs
//
// A registry mirror may carry native packages of some platforms only. npm then leaves the others out of the lock, and
// `npm ci` refuses such a lock on every platform. What an entry needs is known from the package's exact version and
// from its name, which says the platform; its checksum stays unknown, as npm does for packages without one.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { main, say } from "./process.mjs";
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => {
    const file = path.join(root, "package-lock.json");
    const lock = JSON.parse(readFileSync(file, "utf8"));
    const added = complete(lock);
    if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
    say(`${added.length} packages of other platforms added to package-lock.json`);
  });
}
