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
];

export interface RunOptions {
  readonly programs: SuitePrograms;
  /** How long one spec may take before it is interrupted. */
  readonly limitSeconds: number;
  /** Whether there is a node, whose pods are simulated. */
  readonly kubelet: boolean;
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
    await using cluster = await Cluster.start({ ...(options.kubelet && { kubelet: "simulate" }), rbac: true });
    if (options.kubelet) {
      programPods(cluster);
      await furnish(cluster);
    } else await pretendNode(cluster);
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

/** The suite does not begin without a node that is ready. Nothing looks after this one: no pod ever gets there. */
async function pretendNode(cluster: Cluster): Promise<void> {
  await using client = await cluster.connect();
  const now = new Date().toISOString();
  const ready = { type: "Ready", status: "True", reason: "Pretended", lastHeartbeatTime: now, lastTransitionTime: now };
  const resources = { cpu: "4", memory: "8Gi", pods: "110" };
  await client.create({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "pretended" },
    status: { conditions: [ready], capacity: resources, allocatable: resources },
  });
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
  // A suite that was killed has left no report: what is known is what it said on the way.
  if (watch.killed) return watch.outcomes;
  if (existsSync(report)) return readReport(readFileSync(report, "utf8"), new Set(specs));
  throw new Error(`The suite ended without a report:\n${watch.tail}`);
}

/** Follows what the suite says, and ends it when one spec takes too long: asked to, it would take its time. */
function watchProgress(child: ChildProcess, specs: readonly string[], limitMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let present: string | undefined;
  const seen = { killed: false, outcomes: [] as Outcome[], tail: "" };
  const last: string[] = [];
  const onLine = (line: string) => {
    last.push(line);
    if (last.length > 30) last.shift();
    seen.tail = last.join("\n");
    const end = /^• (\[FAILED\] )?\[([\d.]+) seconds\]/.exec(line);
    if (end && present !== undefined) {
      seen.outcomes.push({ spec: present, state: end[1] ? "failed" : "passed", seconds: Number(end[2]) });
      present = undefined;
      clearTimeout(timer);
    }
    // A spec begins with its name, after which come its labels.
    const begun = line.startsWith("[sig-") ? specs.find((spec) => line.startsWith(spec)) : undefined;
    if (begun === undefined) return;
    present = begun;
    clearTimeout(timer);
    timer = setTimeout(() => {
      seen.killed = true;
      seen.outcomes.push({ spec: begun, state: "too slow", seconds: limitMs / 1_000 });
      child.kill("SIGKILL");
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
  return Object.assign(seen, { stop: () => clearTimeout(timer) });
}
