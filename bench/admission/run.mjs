// `npm run bench:admission`: AdmissionReviews a second, beside controller-runtime's webhook server with the same handler.
//
//   node bench/admission/run.mjs    five interleaved rounds; each figure is from servers of their own
//     --rounds N   --quick    one short round: shows that it works   --json    for programs   --strict   exit code 1 below a bar
//
// The server has one core and the program that loads it has another (taskset, where there is one): Go's HTTP client, which
// is what an API server asks with. It and the peer are built once, from the module proxy, into the cache.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { ensureInstalled } from "../../scripts/install.mjs";
import { capture, Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { root } from "../../scripts/workspace.mjs";
import "../../scripts/typescript.mjs";
import { median } from "../measure.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const note = (line) => process.stderr.write(`${line}\n`);

/** At least 0.7 of the peer's reviews a second on one core, for at most twice its CPU. */
const BARS = { throughput: 0.7, cpu: 2 };
const PATIENCE_MS = 30_000;

/** A review of the size that most have: a Deployment of some kilobytes, with its managed fields. */
function review() {
  const env = Array.from({ length: 30 }, (_, i) => ({ name: `SETTING_${i}`, value: `value of setting ${i}` }));
  const fields = Object.fromEntries(
    env.map(({ name }) => [`k:{"name":"${name}"}`, { ".": {}, "f:name": {}, "f:value": {} }]),
  );
  const managedFields = [
    { manager: "kubectl", operation: "Apply", apiVersion: "example.com/v1", fieldsType: "FieldsV1", fieldsV1: fields },
  ];
  const metadata = { name: "m-1", namespace: "default", uid: "7a1c", labels: { app: "m" }, managedFields };
  const object = { apiVersion: "example.com/v1", kind: "Machine", metadata, spec: { replicas: 3, env } };
  const kind = { group: "example.com", version: "v1", kind: "Machine" };
  const resource = { group: "example.com", version: "v1", resource: "machines" };
  const userInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      ...{ uid: "705ab4f5-6393-11e8-b7cc-42010a800002", kind, resource, requestKind: kind, requestResource: resource },
      ...{ name: "m-1", namespace: "default", operation: "UPDATE", userInfo, object, oldObject: object, dryRun: false },
      options: { kind: "UpdateOptions", apiVersion: "meta.k8s.io/v1" },
    },
  };
}

function readOptions() {
  const flag = { type: "boolean", default: false };
  try {
    const { values } = parseArgs({
      options: { quick: flag, json: flag, strict: flag, rounds: { type: "string" } },
    });
    const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
    if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a number from 1 up.");
    return { ...values, rounds };
  } catch (error) {
    throw new Failure(error.message, 2);
  }
}

/** The webhook server is no part of what Lotse publishes: what is measured comes from the sources. */
const ENTRY = `
export { CertificateAuthority } from "./packages/client/src/certificates/index.ts";
export { systemClock } from "./packages/client/src/meta/index.ts";
export { WebhookServer } from "./packages/lotse/src/admission/server/index.ts";
`;

/** The sources as one file, and certificates that both servers show. */
async function prepare(scratch) {
  const { build } = await import("esbuild");
  const bundle = path.join(scratch, "server.mjs");
  await build({
    ...{ stdin: { contents: ENTRY, resolveDir: root }, outfile: bundle, bundle: true, platform: "node", format: "esm" },
    ...{ target: "node20", conditions: ["@lotse/source"], external: ["ws", "js-yaml"], logLevel: "silent" },
  });
  const { CertificateAuthority } = await import(pathToFileURL(bundle).href);
  const authority = new CertificateAuthority("bench", Date.now());
  const { certPem, keyPem } = authority.issue({ commonName: "server", hosts: ["127.0.0.1"], usage: "server" });
  const certs = path.join(scratch, "certs");
  mkdirSync(certs);
  for (const [name, text] of Object.entries({ "tls.crt": certPem, "tls.key": keyPem, "ca.crt": authority.certPem })) {
    writeFileSync(path.join(certs, name), text);
  }
  const body = path.join(scratch, "review.json");
  writeFileSync(body, JSON.stringify(review()));
  return { bundle, certs, body };
}

const hasTwoCores = os.availableParallelism() >= 2 && process.platform === "linux";

/** A command that has one core to itself. */
function pinned(core, command) {
  return hasTwoCores ? ["taskset", "-c", String(core), ...command] : command;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

const contestants = {
  lotse: async ({ bundle, certs }) => {
    const child = start(pinned(0, [process.execPath, path.join(here, "contestant.mjs"), bundle, certs]));
    const port = await new Promise((resolve, reject) => {
      child.stdout.once("data", (text) => resolve(Number(String(text))));
      child.once("exit", () => reject(new Failure("the webhook server ended before it listened")));
    });
    return { child, port };
  },
  "controller-runtime": async ({ program, certs }) => {
    const port = await freePort();
    const child = start(pinned(0, [program, "serve", "-port", String(port), "-certs", certs]), { GOMAXPROCS: "1" });
    return { child, port };
  },
};

function start([command, ...args], env = {}) {
  return spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } });
}

/** Seconds of CPU that a process has had. */
function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function measure(name, protocol, bed, quick) {
  const { child, port } = await contestants[name](bed);
  try {
    const args = ["load", "-url", `https://127.0.0.1:${port}/validate/machines`, "-ca", path.join(bed.certs, "ca.crt")];
    const shape = ["-body", bed.body, "-width", "50", ...(protocol === "HTTP/1.1" ? ["-http1"] : [])];
    const load = async (times) => {
      const [command, ...rest] = pinned(1, [bed.program, ...args, ...shape, ...times]);
      const { exitCode, stdout, stderr } = await capture(command, rest);
      if (exitCode !== 0) throw new Failure(`the load failed: ${stderr}`);
      return JSON.parse(stdout);
    };
    // Until it is there, and has compiled what is hot.
    const since = performance.now();
    while ((await load(["-warmup", "1ms", "-for", "100ms"])).requests === 0) {
      if (performance.now() - since > PATIENCE_MS) throw new Failure(`${name} does not answer`);
    }
    await load(["-warmup", "1ms", "-for", quick ? "500ms" : "2s"]);
    const before = cpuOf(child.pid);
    const result = await load(["-warmup", "1ms", "-for", quick ? "1s" : "4s"]);
    const cpu = cpuOf(child.pid) - before;
    if (result.failures > 0) throw new Failure(`${name}: ${result.failures} requests had no good answer`);
    return { perSecond: result.requests / result.seconds, p99: result.p99Ms, cpuMs: (cpu * 1_000) / result.requests };
  } finally {
    child.kill("SIGKILL");
  }
}

function table(samples) {
  const rows = [];
  for (const protocol of ["HTTP/2", "HTTP/1.1"]) {
    for (const name of Object.keys(contestants)) {
      const mine = samples.filter((one) => one.name === name && one.protocol === protocol);
      const of = (key) => median(mine.map((one) => one[key]));
      rows.push({ protocol, name, perSecond: of("perSecond"), p99: of("p99"), cpuMs: of("cpuMs") });
    }
  }
  return rows;
}

await main(async () => {
  await ensureInstalled();
  const options = readOptions();
  const scratch = mkdtempSync(path.join(root, "node_modules", ".bench-admission-"));
  try {
    const { buildGoProgram } = await import("../../tests/clients/go/build.ts");
    const program = await buildGoProgram(path.join(here, "go"), ["bench", "admission"], note);
    const bed = { ...(await prepare(scratch)), program };
    const samples = [];
    for (let round = 1; round <= options.rounds; round++) {
      for (const protocol of ["HTTP/2", "HTTP/1.1"]) {
        for (const name of Object.keys(contestants)) {
          const figures = await measure(name, protocol, bed, options.quick);
          samples.push({ name, protocol, ...figures });
          note(
            `${round}/${options.rounds}  ${protocol.padEnd(8)} ${name.padEnd(18)} ${figures.perSecond.toFixed(0)} a second`,
          );
        }
      }
    }
    const rows = table(samples);
    const ratio = (protocol, key) => {
      const [lotse, peer] = Object.keys(contestants).map((name) =>
        rows.find((row) => row.protocol === protocol && row.name === name),
      );
      return lotse[key] / peer[key];
    };
    const bytes = readFileSync(bed.body).length;
    const bars = ["HTTP/2", "HTTP/1.1"].map((protocol) => {
      const [throughput, cpu] = [ratio(protocol, "perSecond"), ratio(protocol, "cpuMs")];
      return { protocol, throughput, cpu, ok: throughput >= BARS.throughput && cpu <= BARS.cpu };
    });
    if (options.json) say(JSON.stringify({ bytes, rows, bars, load: os.loadavg()[0] }));
    else {
      say(
        `Reviews of ${bytes} bytes, 50 at a time, medians of ${options.rounds}; load ${os.loadavg()[0].toFixed(1)}.\n`,
      );
      say("| protocol | server | reviews a second | p99 ms | CPU ms a review |\n| --- | --- | --- | --- | --- |");
      for (const { protocol, name, perSecond, p99, cpuMs } of rows) {
        say(`| ${protocol} | ${name} | ${perSecond.toFixed(0)} | ${p99.toFixed(1)} | ${cpuMs.toFixed(3)} |`);
      }
      for (const { protocol, throughput, cpu, ok } of bars) {
        say(
          `\n${protocol}: ${throughput.toFixed(2)} of the peer's reviews a second for ${cpu.toFixed(2)} of its CPU${ok ? "" : ": below the bar"}`,
        );
      }
    }
    const failed = bars.filter(({ ok }) => !ok).length;
    leaveResults(bars.length - failed, failed);
    return options.strict && failed > 0 ? 1 : 0;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
