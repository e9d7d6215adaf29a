// One cluster, and the suite that tries it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import type { SuitePrograms } from "./build.ts";
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
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Runs specs on a cluster of their own, one after the other. */
export async function runSpecs(specs: readonly string[], options: RunOptions): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-conformance-"));
  try {
    await using cluster = await Cluster.start({ kubelet: "simulate", rbac: true });
    const kubeconfig = path.join(folder, "kubeconfig");
    writeFileSync(kubeconfig, JSON.stringify(cluster.kubeconfig), { mode: 0o600 });
    let left = [...specs];
    while (left.length > 0) {
      const done = await runOnce(left, folder, kubeconfig, options);
      for (const outcome of done) options.onOutcome(outcome);
      const seen = new Set(done.map(({ spec }) => spec));
      const rest = left.filter((spec) => !seen.has(spec));
      // Every turn gets rid of one spec at least, so that this ends.
      if (rest.length === left.length) {
        const [spec = "", ...others] = left;
        options.onOutcome({ spec, state: "failed", seconds: 0, message: "The suite ended without a word about it." });
        left = others;
      } else left = rest;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
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
  const watch = watchProgress(child, specs, limitSeconds * 1_000);
  try {
    await once(child, "close");
  } finally {
    watch.stop();
  }
  if (existsSync(report)) return readReport(readFileSync(report, "utf8"), new Set(specs));
  throw new Error(`The suite ended without a report:\n${watch.tail()}`);
}

/** Interrupts a spec that takes too long: the suite cleans up after it, writes its report and ends. */
function watchProgress(child: ChildProcess, specs: readonly string[], limitMs: number) {
  let timer: NodeJS.Timeout | undefined;
  const last: string[] = [];
  const onLine = (line: string) => {
    last.push(line);
    if (last.length > 30) last.shift();
    // A spec begins with its name, after which come its labels.
    if (!line.startsWith("[sig-") || !specs.some((spec) => line.startsWith(spec))) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      child.kill("SIGINT");
      // Its own cleaning up may hang, too. A second signal says that there is no more patience.
      timer = setTimeout(() => child.kill("SIGINT"), 30_000);
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
  return { stop: () => clearTimeout(timer), tail: () => last.join("\n") };
}
