// One cluster, and the suite that tries it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Pod } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import type { SuitePrograms } from "./build.ts";
import { programPods } from "./pods.ts";
import { focusOf, type Outcome, readReport } from "./specs.ts";

/** What the suite is told, besides where the cluster is and what to run. */
const FLAGS: readonly string[] = [
  "--provider=skeleton",
  "--minStartupPods=0",
  "--allowed-not-ready-nodes=-1",
  "--dump-logs-on-failure=false",
  "--disable-log-dump=true",
  "--ginkgo.no-color",
  "--ginkgo.v",
  "--ginkgo.timeout=24h",
  // Specs that do not listen when they are interrupted are left behind.
  "--ginkgo.grace-period=2s",
];

export interface RunOptions {
  readonly programs: SuitePrograms;
  /** How long one spec may take before it is interrupted. */
  readonly limitSeconds: number;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Runs specs one after the other, on a cluster of their own, and on a new one when a spec had to be interrupted. */
export async function runSpecs(specs: readonly string[], options: RunOptions): Promise<void> {
  let left = [...specs];
  while (left.length > 0) {
    const done = await runOnCluster(left, options);
    const seen = new Set(done.map(({ spec }) => spec));
    // Every turn gets rid of one spec at least, so that this ends.
    const [first = ""] = left;
    if (seen.size === 0) {
      done.push({ spec: first, state: "failed", seconds: 0, message: "The suite ended without a word about it." });
      seen.add(first);
    }
    for (const outcome of done) options.onOutcome(outcome);
    left = left.filter((spec) => !seen.has(spec));
  }
}

async function runOnCluster(specs: readonly string[], options: RunOptions): Promise<Outcome[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-conformance-"));
  try {
    await using cluster = await Cluster.start({ kubelet: "simulate", rbac: true });
    programPods(cluster);
    await furnish(cluster);
    const kubeconfig = path.join(folder, "kubeconfig");
    writeFileSync(kubeconfig, JSON.stringify(cluster.kubeconfig), { mode: 0o600 });
    return await runOnce(specs, folder, kubeconfig, options);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Some specs wait a minute for these on every node, and then go on without them. */
const SYSTEM_PODS: readonly string[] = ["kube-proxy", "fluentd-elasticsearch", "node-problem-detector"];

async function furnish(cluster: Cluster): Promise<void> {
  await using client = await cluster.connect();
  for (const name of SYSTEM_PODS) {
    await client.create(Pod.gen({ name, namespace: "kube-system", image: name }));
  }
}

async function runOnce(
  specs: readonly string[],
  folder: string,
  kubeconfig: string,
  { programs, limitSeconds }: RunOptions,
): Promise<Outcome[]> {
  const report = path.join(folder, "report.json");
  rmSync(report, { force: true });
  const args = [
    ...FLAGS,
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${programs.kubectl}`,
    `--ginkgo.json-report=${report}`,
    `--ginkgo.focus=${focusOf(specs)}`,
  ];
  const child = spawn(programs.suite, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const watch = watchProgress(child, specs, limitSeconds * 1_000);
  try {
    await once(child, "close");
  } finally {
    watch.stop();
    process.off("exit", end);
  }
  const outcomes = existsSync(report) ? tryReport(readFileSync(report, "utf8"), specs) : undefined;
  if (outcomes) return outcomes;
  // It came to no end, not even to that of its report: all that is known is what it said on the way.
  const { spec, passed } = watch.progress();
  if (spec === undefined) throw new Error(`The suite ended before its first spec:\n${watch.tail()}`);
  const message = "The suite did not end when it was interrupted.";
  return [...passed, { spec, state: "too slow", seconds: limitSeconds, message }];
}

function tryReport(json: string, specs: readonly string[]): Outcome[] | undefined {
  try {
    return readReport(json, new Set(specs));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Interrupts a spec that takes too long: the suite cleans up after it, writes its report and ends. */
function watchProgress(child: ChildProcess, specs: readonly string[], limitMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let present: string | undefined;
  const passed: Outcome[] = [];
  const last: string[] = [];
  const onLine = (line: string) => {
    last.push(line);
    if (last.length > 30) last.shift();
    const seconds = /^• \[([\d.]+) seconds\]/.exec(line)?.[1];
    if (seconds && present !== undefined) passed.push({ spec: present, state: "passed", seconds: Number(seconds) });
    // A spec begins with its name, after which come its labels.
    const begun = line.startsWith("[sig-") ? specs.find((spec) => line.startsWith(spec)) : undefined;
    if (begun === undefined) return;
    present = begun;
    clearTimeout(timer);
    timer = setTimeout(() => {
      child.kill("SIGINT");
      // Its own cleaning up may hang, too. Further signals say that there is no more patience.
      timer = setTimeout(() => {
        child.kill("SIGINT");
        timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
      }, 5_000);
    }, limitMs);
  };
  for (const stream of [child.stdout, child.stderr]) {
    let begun = "";
    stream?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (begun + text).split("\n");
      begun = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    });
  }
  return { stop: () => clearTimeout(timer), tail: () => last.join("\n"), progress: () => ({ spec: present, passed }) };
}
