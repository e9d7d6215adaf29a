// The contestants as their users get them: each in a folder of its own, installed by npm, with what came along counted.
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import "../../scripts/typescript.mjs";
import { capture, Failure, npm } from "../../scripts/process.mjs";
import { readJson, root } from "../../scripts/workspace.mjs";

const { cacheFolder } = await import("../../tests/cache.ts");

/** What to install for a contestant; `undefined` for nothing. */
export const packages = {
  floor: undefined,
  lotse: "@lotse/client",
  "client-node": "@kubernetes/client-node",
  "fluent-client": "kubernetes-fluent-client",
};

/** The peers are no dependencies of the repository: they lie in the cache, at exactly these versions. */
const peerVersions = { "client-node": "1.4.0", "fluent-client": "3.11.6" };

/** How a contestant is called in the table. */
export function titleOf(name) {
  if (name === "floor") return "node:https";
  const version = peerVersions[name];
  return version === undefined ? packages[name] : `${packages[name]} ${version}`;
}

async function runNpm(args, what) {
  const flags = ["--no-audit", "--no-fund", "--loglevel=error"];
  const [command, all, options] = npm([...args, ...flags]);
  const { exitCode, stdout, stderr } = await capture(command, all, options);
  if (exitCode !== 0) throw new Failure(`${what} failed:\n${stderr || stdout}`);
  return stdout;
}

async function installInto(folder, spec) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "bench", private: true, type: "module" }));
  if (spec === undefined) return;
  await runNpm(["install", "--prefix", folder, "--prefer-offline", "--save-exact", spec], `npm install ${spec}`);
}

/** Packs the client as it would be published. */
async function packClient(folder) {
  const args = ["pack", path.join(root, "packages", "client"), "--json", "--pack-destination", folder];
  await runNpm(args, "npm pack");
  const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  return path.join(folder, tarball);
}

/** Installs a contestant and returns its folder. Ours is always new; a peer is kept in the cache. */
export async function installContestant(name, scratch, note) {
  const version = peerVersions[name];
  if (version === undefined) {
    const folder = mkdtempSync(path.join(scratch, `${name}-`));
    await installInto(folder, packages[name] && (await packClient(scratch)));
    return folder;
  }
  const spec = `${packages[name]}@${version}`;
  const folder = cacheFolder("bench-client", `${name}-${version}-node${process.versions.node.split(".")[0]}`);
  const done = path.join(folder, ".installed");
  if (existsSync(done)) return folder;
  note(`installing ${spec} into ${folder}, once`);
  rmSync(folder, { recursive: true, force: true });
  await installInto(folder, spec);
  writeFileSync(done, spec);
  return folder;
}

/** How many packages lie in a folder's node_modules, and how many megabytes their files have. */
export function weigh(folder) {
  const modules = path.join(folder, "node_modules");
  if (!existsSync(modules)) return { packages: 0, mb: 0 };
  const installed = readJson(path.join(modules, ".package-lock.json")).packages;
  const sizeOf = (entry) => {
    const status = lstatSync(entry);
    if (!status.isDirectory()) return status.size;
    return readdirSync(entry).reduce((sum, name) => sum + sizeOf(path.join(entry, name)), 0);
  };
  const inside = readdirSync(modules).filter((name) => name !== ".package-lock.json");
  const bytes = inside.reduce((sum, name) => sum + sizeOf(path.join(modules, name)), 0);
  return { packages: Object.keys(installed).length, mb: bytes / 1e6 };
}
