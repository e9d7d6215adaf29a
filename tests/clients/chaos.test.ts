/**
 * `lotse chaos` in front of a real kube-apiserver, with operators of others: what its report says of a manager of
 * controller-runtime and of an operator in Kopf, while objects come all the time.
 */
import { fileURLToPath } from "node:url";
import type { Client } from "@lotse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Project } from "../cli/project.ts";
import { startCluster, type TestCluster } from "../fixture.ts";
import { installPackages } from "../python.ts";
import { definition } from "./definition.ts";
import { buildGoClient } from "./go/build.ts";

/** Cold caches and a slow machine. */
const prepareLimitMs = 900_000;
const KOPF = fileURLToPath(new URL("python/with_kopf.py", import.meta.url));
const NAMESPACE = "default";

interface Report {
  readonly findings: readonly { readonly type: string; readonly what: string }[];
  readonly injected: readonly { readonly fault: string; readonly request: string; readonly count: number }[];
  readonly lives: readonly { readonly end: string; readonly code: number | null }[];
  readonly writes: number;
  readonly recoveredMs: number | null;
}

let cluster: TestCluster;
let client: Client;
let project: Project;
let commands: Readonly<Record<"controller-runtime" | "kopf", readonly string[]>>;
let rates = 0;

beforeAll(async () => {
  const log = (line: string) => void process.stdout.write(`${line}\n`);
  const program = await buildGoClient(log);
  const packages = ["kopf==1.45.2", "kr8s==0.20.15"];
  const python = await installPackages({ title: "Kopf and kr8s", folder: "clients", packages }, log);
  commands = {
    "controller-runtime": [program, "operator"],
    kopf: [python, "-m", "kopf", "run", "--standalone", "--namespace", NAMESPACE, KOPF],
  };
  project = new Project();
  const where = "verbs: [write]\n    kinds: [exchangerates, deployments]";
  project.write("one-401.yaml", `rules:\n  - fail: 401\n    ${where}\n    at: 2\n`);
  cluster = await startCluster("real");
  client = await cluster.connect();
  await client.create(definition);
  await client.wait("crd", definition.metadata.name, "condition=Established", { timeout: "170s" });
  const metadata = { name: "table", namespace: NAMESPACE, labels: { rates: "yes" } };
  await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { rate: "1.25" } });
}, prepareLimitMs);

afterAll(async () => {
  await project?.remove();
  await cluster?.stop();
});

/** A rate each second, for as long as the command runs; what is left of them goes afterwards. */
async function chaos(operator: keyof typeof commands, flags: readonly string[]): Promise<Report & { code: unknown }> {
  const argv = ["chaos", "--kubeconfig", cluster.kubeconfigPath, ...flags, "-o", "json", "--", ...commands[operator]];
  const running = project.begin(argv, { PYTHONDONTWRITEBYTECODE: "1" });
  let isOver = false;
  const ended = running.ended.finally(() => {
    isOver = true;
  });
  for (; !isOver; await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1_000))])) {
    const metadata = { name: `rate-${++rates}`, namespace: NAMESPACE };
    await client.create({
      apiVersion: "rates.example.com/v1",
      kind: "ExchangeRate",
      metadata,
      spec: { currency: "USD" },
    });
  }
  for (const { name } of await client.list("exchangerates", { namespace: NAMESPACE }).toArray()) {
    await client.patch("exchangerates", name, { metadata: { finalizers: null } }, { namespace: NAMESPACE });
    await client.delete("exchangerates", name, { namespace: NAMESPACE });
  }
  const out = running.out();
  process.stdout.write(`${operator} ${flags.join(" ")}\n${out}`);
  if (out === "") throw new Error(running.err());
  return { ...(JSON.parse(out) as Report), code: await running.ended };
}

const types = ({ findings }: Report) => findings.map(({ type }) => type);

describe("lotse chaos before a real server", { timeout: 600_000 }, () => {
  const weather = ["--fail", "10%:500", "--cut-watches", "4s", "--lose-answers", "5%", "--kill-at-write", "3"];
  const times = ["--for", "20s", "--calm", "20s"];

  it.each(["controller-runtime", "kopf"] as const)(
    "kills %s at its third write, refuses, loses and cuts: it is started again and goes on",
    async (operator) => {
      const report = await chaos(operator, [...weather, ...times]);
      expect(report.lives.map(({ end }) => end)).toContain("killed");
      expect(report.lives.at(-1)?.end).toBe("stopped");
      expect(report.injected.map(({ fault }) => fault)).toEqual(expect.arrayContaining(["kill", "cut"]));
      expect(report.writes).toBeGreaterThan(10);
      // A manager of controller-runtime ends when it cannot find out at its start which kinds there are.
      const bearable = operator === "kopf" ? [] : ["died"];
      expect(types(report).filter((type) => !bearable.includes(type))).toEqual([]);
    },
  );

  it("refuses the renewal of a Lease: the manager of controller-runtime ends, by its own decision", async () => {
    // It has to be the leader first: another one may have left the Lease behind.
    const flags = ["--fail", "500", "--only", "update/leases", "--after", "25s", "--for", "20s", "--calm", "20s"];
    const report = await chaos("controller-runtime", flags);
    expect(report.code).toBe(1);
    expect(report.findings).toContainEqual({ type: "died", what: expect.stringContaining("with exit code 1") });
    expect(report.injected).toContainEqual(expect.objectContaining({ fault: "answer", request: "update leases" }));
  });

  it("says once that it does not know them: Kopf ends, and controller-runtime goes on", async () => {
    const flags = ["--plan", "one-401.yaml", "--for", "30s", "--calm", "10s"];
    const once = [{ fault: "answer", count: 1 }];
    const kopf = await chaos("kopf", flags);
    expect(kopf.injected).toMatchObject(once);
    expect(types(kopf)).toEqual(["died"]);
    expect(kopf.code).toBe(1);
    const manager = await chaos("controller-runtime", flags);
    expect(manager.injected).toMatchObject(once);
    expect(types(manager)).toEqual([]);
    expect(manager.code).toBe(0);
  });
});
