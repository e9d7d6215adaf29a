/** Follows one change through an operator's process, and tells which functions it came by. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { Relay } from "./relay.ts";

/** A function that a change comes by; the file is relative to the repository. */
export interface Hop {
  readonly name: string;
  readonly file: string;
}

/** What was seen of one change. */
export interface Walk {
  /** The watched functions, in the order of their calls. */
  readonly hits: readonly Hop[];
  /** Files whose functions ran between the queue and the handler. */
  readonly between: readonly string[];
  /** Files on the way from the queue to the handler: each called the next one, now or earlier. */
  readonly stack: readonly string[];
}

/** What is to be seen. */
export interface Watched {
  readonly hops: readonly Hop[];
  readonly dequeue: Hop;
  /** The last function of the walk: when it has been called, the change is over. */
  readonly last: Hop;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = "tests/scenarios/walk/operator.ts";
/** The handler of the operator that is followed. */
export const HANDLER: Hop = { name: "yourHandler", file: program };

const urlOf = (file: string) => pathToFileURL(path.join(root, file)).href;
const fileOf = (url: string) => path.relative(root, fileURLToPath(url)).split(path.sep).join("/");
const label = ({ name, file }: Hop) => `${name} ${urlOf(file)}`;

interface Report {
  readonly hits: readonly string[];
  readonly between: readonly string[];
  readonly stack: readonly string[];
  readonly failure?: string;
}

/** See the module comment. */
export async function follow({ hops, dequeue, last }: Watched): Promise<Walk> {
  // The cluster's time stands still, so that no bookmark comes between.
  const cluster = await Cluster.start({ tls: false, clock: new VirtualClock(Date.now()) });
  const relay = await Relay.open(cluster.url);
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-walk-"));
  const kubeconfig = path.join(folder, "kubeconfig");
  const [first] = cluster.kubeconfig.clusters ?? [];
  const clusters = [{ name: first?.name, cluster: { ...first?.cluster, server: relay.url } }];
  writeFileSync(kubeconfig, JSON.stringify({ ...cluster.kubeconfig, clusters }), { mode: 0o600 });
  const loader = ["--conditions=@lotse/source", "--import", urlOf("scripts/typescript.mjs")];
  const child = spawn(process.execPath, [...loader, path.join(root, program)], {
    env: { ...process.env, KUBECONFIG: kubeconfig, NODE_OPTIONS: "" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  try {
    await said(child, "idle");
    const client = await cluster.connect();
    const walker = await client.create({
      apiVersion: "walk.example.com/v1",
      kind: "Walker",
      metadata: { name: "one", namespace: "default" },
      spec: { steps: 1 },
    });
    // Once before, so that every function has been compiled and can be found.
    let idle = said(child, "idle");
    await walker.patch({ spec: { steps: 2 } });
    await idle;
    await tell(child, "arm", { hops: [...hops, HANDLER].map(at), dequeue: label(dequeue), handler: label(HANDLER) });
    relay.holdsAfterPatch = true;
    idle = said(child, "idle");
    await walker.patch({ spec: { steps: 3 } });
    await idle;
    relay.release();
    const report = await reportAfter(child, label(last));
    await client.close();
    return {
      hits: report.hits.map(hopOf),
      between: report.between.filter((url) => url.startsWith("file:")).map(fileOf),
      stack: report.stack.filter((url) => url.startsWith("file:")).map(fileOf),
    };
  } finally {
    const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill("SIGKILL");
    await exited;
    await relay.close();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const at = ({ name, file }: Hop) => ({ name, url: urlOf(file) });

function hopOf(text: string): Hop {
  const space = text.indexOf(" ");
  return { name: text.slice(0, space), file: fileOf(text.slice(space + 1)) };
}

/** The report, as soon as the change has come by `last`; after a while in any case, which then tells what is missing. */
async function reportAfter(child: ChildProcess, last: string): Promise<Report> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const report = (await tell(child, "look", {})) as Report;
    if (report.failure !== undefined) throw new Error(report.failure);
    if (report.hits.at(-1) === last || performance.now() > giveUpAt) return report;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function tell(child: ChildProcess, command: string, details: object): Promise<unknown> {
  const answer = said(child, command);
  child.send({ command, ...details });
  return answer;
}

/** Resolves with what the process says to `done`; rejects when something has failed there, or it has ended. */
function said(child: ChildProcess, done: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      child.off("message", onMessage);
      child.off("exit", onExit);
      settle();
    };
    const onExit = (code: number | null) => end(() => reject(new Error(`the operator's process has ended: ${code}`)));
    const onMessage = (message: unknown) => {
      const { done: what, error, result } = message as { done: string; error?: string; result?: unknown };
      if (error !== undefined) end(() => reject(new Error(`${what}: ${error}`)));
      else if (what === done) end(() => resolve(result));
    };
    child.on("message", onMessage);
    child.on("exit", onExit);
  });
}
