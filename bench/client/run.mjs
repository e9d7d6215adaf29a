// `npm run bench:client`: the client beside the two clients that people use on Node.js, and beside what Node.js brings.
//
//   node bench/client/run.mjs       five interleaved rounds, every figure from a process of its own
//     --rounds N           medians of N rounds                 --quick    one short round: shows that it works
//     --contestants a,b    of floor, lotse, client-node, fluent-client
//     --measures a,b       of import, requests1, requests50, requests500, watch, list
//     --profile DIR        CPU profiles, with the costliest functions of each contestant (slows them down)
//     --json               for programs                        --strict   exit code 1 above a bar
//     --js                 builds no declarations: where others break the types; the size on disk is then that of JavaScript
//
// The peers are installed once, by npm, into the cache. The server (server.mjs) hands out bytes that lie ready.
import { fork } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { capture, Failure, leaveResults, main, say, seconds } from "../../scripts/process.mjs";
import { root } from "../../scripts/workspace.mjs";
import { topFunctions } from "../engine/profile.mjs";
import { sample } from "../measure.mjs";
import { installContestant, packages, titleOf, weigh } from "./install.mjs";
import { firstVersion } from "./pods.mjs";
import { medians, report } from "./report.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

/** Progress goes where it disturbs no program that reads the result. */
const note = (line) => process.stderr.write(`${line}\n`);

const requests = (width) => (quick) => ["requests", { width, warmUpMs: quick ? 50 : 150, ms: quick ? 200 : 450 }];

/** What the process of a measurement gets to do; importing is measured otherwise. */
const measures = {
  import: undefined,
  requests1: requests(1),
  requests50: requests(50),
  requests500: requests(500),
  watch: (quick) => ["watch", { events: eventsOf(quick), firstVersion, size: 1000 }],
  list: () => ["list", { size: 5000 }],
};

const eventsOf = (quick) => (quick ? 5000 : 50_000);

function readOptions() {
  const flag = { type: "boolean", default: false };
  const text = { type: "string" };
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        ...{ quick: flag, json: flag, strict: flag, js: flag },
        ...{ rounds: text, contestants: text, measures: text, profile: text },
      },
    }));
  } catch (error) {
    throw new Failure(error.message, 2);
  }
  const some = (name, all) => {
    const names = values[name]?.split(",") ?? all;
    const unknown = names.find((one) => !all.includes(one));
    if (unknown !== undefined) throw new Failure(`--${name} knows no ${unknown}, only ${all.join(", ")}.`, 2);
    return names;
  };
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Failure("--rounds takes a number from 1 up.", 2);
  const { quick, json, strict, js, profile } = values;
  return {
    ...{ quick, json, strict, js, rounds, profile: profile && path.resolve(profile) },
    contestants: some("contestants", Object.keys(packages)),
    measures: some("measures", Object.keys(measures)),
  };
}

/** The build tells its progress on standard output, which is for the result alone. */
async function buildQuietly(types) {
  const { write } = process.stdout;
  process.stdout.write = (...args) => process.stderr.write(...args);
  try {
    await build({ types });
  } finally {
    process.stdout.write = write;
  }
}

/** An authority and a certificate for the server. They come from the sources: the bench runs with no build, too. */
async function makeCertificates(scratch) {
  const { build: bundle } = await import("esbuild");
  const outfile = path.join(scratch, "certificates.mjs");
  const entry = path.join(root, "packages", "client", "src", "certificates", "index.ts");
  await bundle({
    ...{ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", target: "node20" },
    logLevel: "silent",
  });
  const { CertificateAuthority } = await import(pathToFileURL(outfile).href);
  const authority = new CertificateAuthority("bench", Date.now());
  const { certPem, keyPem } = authority.issue({ commonName: "server", hosts: ["127.0.0.1"], usage: "server" });
  return { ca: authority.certPem, cert: certPem, key: keyPem };
}

/** Starts the server and writes a kubeconfig for it. */
async function startServer(scratch, events) {
  const { ca, cert, key } = await makeCertificates(scratch);
  const child = fork(path.join(here, "server.mjs"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const port = await new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message.port));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Failure(`The server ended with exit code ${code}.`)));
    child.send({ cert, key, events });
  });
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    "certificate-authority-data": Buffer.from(ca).toString("base64"),
  };
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "bench", preferences: {} },
    clusters: [{ name: "bench", cluster }],
    users: [{ name: "bench", user: { token: "a-token-that-nobody-checks" } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench", namespace: "default" } }],
  };
  const kubeconfig = path.join(scratch, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(config));
  return { kubeconfig, stop: () => child.disconnect() };
}

/** Puts into the contestant's folder what its processes run. */
function furnish(name, folder) {
  copyFileSync(path.join(here, "sample.mjs"), path.join(folder, "sample.mjs"));
  copyFileSync(path.join(here, "contestants", `${name}.mjs`), path.join(folder, "contestant.mjs"));
  writeFileSync(path.join(folder, "import.mjs"), importing(packages[name]));
}

const importing = (specifier) => `
  const since = performance.now();
  ${specifier ? `const module = await import(${JSON.stringify(specifier)});` : ""}
  const ms = performance.now() - since;
  process.stdout.write(JSON.stringify({ ms, mb: process.memoryUsage().rss / 2 ** 20 }), () => process.exit(0));`;

async function takeSample(name, folder, measure, { quick, kubeconfig, profile }) {
  const [what, options] = measures[measure](quick);
  const flags = [];
  if (profile) {
    const target = path.join(profile, `${measure}-${name}`);
    mkdirSync(target, { recursive: true });
    flags.push("--cpu-prof", "--cpu-prof-dir", target);
  }
  const args = [...flags, path.join(folder, "sample.mjs"), what, JSON.stringify(options)];
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  const { exitCode, stdout, stderr } = await capture(process.execPath, args, { cwd: folder, env, timeout: 120_000 });
  const last = stdout.trimEnd().split("\n").at(-1);
  if (exitCode !== 0) throw new Failure(`${measure} of ${name} failed:\n${stderr || stdout}`);
  return JSON.parse(last);
}

/** Import cost over a process that imports nothing, measured just before. */
async function takeImport(folder, bare) {
  const base = await sample(path.join(bare, "import.mjs"));
  const { ms, mb } = await sample(path.join(folder, "import.mjs"));
  return { ms: ms - base.ms, mb: mb - base.mb };
}

/** Everybody once for every measure. Whoever is first changes from round to round. */
async function runRound(round, folders, bare, options) {
  const names = Object.keys(folders);
  const shift = round % names.length;
  const figures = Object.fromEntries(names.map((name) => [name, {}]));
  for (const measure of options.measures) {
    for (const name of [...names.slice(shift), ...names.slice(0, shift)]) {
      if (measure === "import" && packages[name] === undefined) continue;
      const taken = await (measure === "import"
        ? takeImport(folders[name], bare)
        : takeSample(name, folders[name], measure, options));
      for (const [key, value] of Object.entries(taken)) figures[name][`${measure}.${key}`] = value;
    }
  }
  return figures;
}

function printProfiles({ profile, measures: taken, contestants }) {
  for (const measure of taken.filter((one) => one !== "import")) {
    for (const name of contestants) {
      const { total, self } = topFunctions(path.join(profile, `${measure}-${name}`));
      say(`\n${name}, ${measure}: ${total.toFixed(0)} ms of work; functions by themselves`);
      for (const { what, ms, share } of self) {
        say(`${ms.toFixed(0).padStart(7)} ms ${(share * 100).toFixed(1).padStart(5)} %  ${what}`);
      }
    }
  }
}

async function measure(options, scratch) {
  const load = os.loadavg()[0].toFixed(1);
  const folders = {};
  for (const name of options.contestants) folders[name] = await installContestant(name, scratch, note);
  const bare = folders.floor ?? (await installContestant("floor", scratch, note));
  for (const [name, folder] of Object.entries({ floor: bare, ...folders })) furnish(name, folder);
  const { kubeconfig, stop } = await startServer(scratch, eventsOf(options.quick));
  const rounds = [];
  try {
    // The file cache warms up.
    for (const folder of Object.values(folders)) await sample(path.join(folder, "import.mjs"));
    for (let round = 0; round < options.rounds; round++) {
      const since = performance.now();
      rounds.push(await runRound(round, folders, bare, { ...options, kubeconfig }));
      note(`round ${round + 1} of ${options.rounds} took ${seconds(since)}`);
    }
  } finally {
    stop();
  }
  const results = {};
  for (const name of options.contestants) {
    const { packages: count, mb } = weigh(folders[name]);
    const weight = packages[name] === undefined ? {} : { "install.packages": count, "install.mb": mb };
    results[name] = { ...weight, ...medians(rounds.map((round) => round[name])) };
  }
  return { load, rounds, results };
}

await main(async () => {
  const options = readOptions();
  await ensureInstalled();
  await buildQuietly(!options.js);
  const scratch = mkdtempSync(path.join(os.tmpdir(), "lotse-bench-client-"));
  try {
    const { load, rounds, results } = await measure(options, scratch);
    const { table, broken } = report(results, titleOf);
    const machine = `Node.js ${process.versions.node}, ${os.availableParallelism()} cores (${os.cpus()[0]?.model}), load ${load} at the start, ${new Date().toISOString().slice(0, 10)}`;
    if (options.json) say(JSON.stringify({ machine, rounds, results, broken }, null, 2));
    else {
      say(`medians of ${options.rounds} interleaved rounds, ${machine}\n\n${table}`);
      if (options.profile) printProfiles(options);
    }
    leaveResults(1, 0);
    return options.strict && broken.length > 0 ? 1 : 0;
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
});
