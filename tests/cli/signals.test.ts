/** How commands end when somebody asks them to: by Ctrl-C, by Ctrl-C again, by a SIGTERM as the kubelet sends it. */
import path from "node:path";
import { type Client, ConfigMap } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { ChaosProxy, type ChaosFault as Fault } from "@lotse/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Ending, Project, type Running } from "./project.ts";

const operator = (cleanup: string) => `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "good", settings: { process: { graceful: "60s" } } });
operator.on.event(ConfigMap, function look() {});
operator.on.cleanup(async function tidy({ logger }) { logger.info("tidying up"); ${cleanup} });
export default operator;
`;

let project: Project;
let cluster: Cluster;

beforeAll(async () => {
  project = new Project();
  project.write("quick.ts", operator(""));
  project.write("stuck.ts", operator("await new Promise(() => {});"));
  cluster = await Cluster.start({ kubelet: false });
  await cluster.writeKubeconfig(path.join(project.folder, "kubeconfig"));
}, 300_000);

afterAll(async () => {
  await project.remove();
  await cluster.stop();
});

const COMMANDS = [
  ["run", ["run", "quick.ts", "--kubeconfig", "kubeconfig"], "the operator is ready"],
  ["dev", ["dev", "quick.ts", "--no-console", "--kubeconfig", "dev.yaml"], "the operator is ready"],
  ["cluster", ["cluster", "--kubeconfig", "cluster.yaml"], "KUBECONFIG="],
] as const;

/** Sends the signal until the process has ended: how soon the second one counts is the command's own business. */
async function insist({ child, ended }: Running, signal: NodeJS.Signals): Promise<Ending> {
  const timer = setInterval(() => child.kill(signal), 50);
  try {
    return await ended;
  } finally {
    clearInterval(timer);
  }
}

describe.each(COMMANDS)("lotse %s", (_name, argv, ready) => {
  it.each(["SIGINT", "SIGTERM"] as const)("ends in order at one %s, with 0", async (signal) => {
    const running = project.begin(argv);
    await running.says(ready);
    running.child.kill(signal);
    expect(await running.ended).toBe(0);
    expect(running.err()).not.toMatch(/^\s+at |Error:/m);
    if (argv[0] !== "cluster") expect(running.err()).toContain("tidying up");
  });
});

describe("an operator that does not come to its end", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("is ended at once by a second %s, with the code %i of a shell", async (signal, code) => {
    const running = project.begin(["run", "stuck.ts", "--kubeconfig", "kubeconfig"]);
    await running.says("the operator is ready");
    running.child.kill(signal);
    await running.says("tidying up");
    expect(await insist(running, signal)).toBe(code);
  });
});

/** Two seconds for handlers: the process has to end within seven, whatever the server does. */
const PATIENT = `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "patient", graceful: "2s", events: "all" });
operator.on.create(ConfigMap, { labels: { mine: "yes" } }, async function build({ logger }) { logger.info("built"); });
operator.on.cleanup(async function tidy({ logger }) { logger.info("tidying up"); });
export default operator;
`;

describe("an operator whose API server", () => {
  let plain: Cluster;
  let client: Client;

  beforeAll(async () => {
    project.write("patient.ts", PATIENT);
    plain = await Cluster.start({ kubelet: false, tls: false });
    client = await plain.connect();
  }, 300_000);

  afterAll(async () => {
    await client.close();
    await plain.stop();
  });

  /** The operator, with somebody between it and its cluster. */
  async function through(rule?: ChaosProxy["rule"]): Promise<{ proxy: ChaosProxy; begin: () => Running }> {
    const proxy = await ChaosProxy.open(plain.url);
    onTestFinished(() => proxy.close());
    if (rule) proxy.rule = rule;
    const [one] = plain.kubeconfig.clusters ?? [];
    const clusters = [{ name: one?.name, cluster: { ...one?.cluster, server: proxy.url } }];
    const name = `proxy-${new URL(proxy.url).port}.yaml`;
    project.write(name, JSON.stringify({ ...plain.kubeconfig, clusters }));
    return { proxy, begin: () => project.begin(["run", "patient.ts", "--kubeconfig", name]) };
  }

  /** How long the process took to end after SIGTERM, and how it did. */
  async function terminate({ child, ended }: Running): Promise<{ code: Ending; ms: number }> {
    const begun = performance.now();
    child.kill("SIGTERM");
    return { code: await ended, ms: performance.now() - begun };
  }

  /**
   * Begins the operator. `limitMs` is how long its end may take: seven seconds, and ten times what this machine needs at
   * present to start it, which is far more work.
   */
  async function started(begin: () => Running, isUp: (running: Running) => Promise<void>) {
    const begun = performance.now();
    const running = begin();
    await isUp(running);
    return { running, limitMs: 7_000 + 10 * (performance.now() - begun) };
  }

  const isReady = (running: Running) => running.says("the operator is ready");

  it("hangs ends in time, with 0, and says what it could not write down", async () => {
    const { proxy, begin } = await through();
    const { running, limitMs } = await started(begin, isReady);
    proxy.rule = ({ verb }) => (verb === "watch" ? undefined : { type: "mute" });
    const one = await client.create(ConfigMap.gen({ name: "one", labels: { mine: "yes" } }));
    onTestFinished(() => one.delete());
    await running.says("built");
    const { code, ms } = await terminate(running);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(limitMs);
    const lines = running.err().split("\n");
    const lost = lines.filter((line) => line.includes("could not be written down before the end"));
    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain("ConfigMap default/one (build)");
    expect(running.err()).toContain("tidying up");
    expect(running.err()).not.toMatch(/ERROR|Error:/);
  });

  it.each<[string, Fault]>([
    ["is out of reach", { type: "reset" }],
    ["hangs while nothing is to be written", { type: "mute" }],
  ])("%s ends at once", async (_, fault) => {
    const { proxy, begin } = await through();
    const { running, limitMs } = await started(begin, isReady);
    proxy.rule = () => fault;
    proxy.cutWatches();
    const { code, ms } = await terminate(running);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(limitMs);
    expect(running.err()).not.toMatch(/ERROR|Error:/);
  });

  it.each<[string, Fault]>([
    ["resets connections", { type: "reset" }],
    ["answers 503", { type: "answer", status: 503 }],
  ])("%s at the start is waited for, and named", async (_, fault) => {
    let away = true;
    const { begin, proxy } = await through(() => (away ? fault : undefined));
    const running = begin();
    await running.says(/waits for it|will be tried again|will be opened again/);
    expect(running.err()).toContain(proxy.url);
    away = false;
    await running.says("the operator is ready");
    expect(await terminate(running)).toMatchObject({ code: 0 });
  });

  it("never answers at the start can be stopped", async () => {
    const { proxy, begin } = await through(() => ({ type: "mute" }));
    const { running, limitMs } = await started(begin, async () => {
      for (; proxy.requests.length === 0; ) await new Promise((resolve) => setTimeout(resolve, 10));
    });
    const { code, ms } = await terminate(running);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(limitMs);
  });
});
