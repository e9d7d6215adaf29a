import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { load, loadAll } from "js-yaml";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { validateBundle } from "../../generate/test-olm-rules.ts";
import { main } from "../main.ts";
import { rememberedCode, testIo } from "../terminal/test-io.ts";

const examples = path.resolve(import.meta.dirname, "../../../../../examples");
const EXAMPLE = path.join(examples, "exchange-rates/operator.ts");

let cwd: string;
const code = rememberedCode();

// The first load of an operator compiles the framework's sources, which a busy machine takes its time for.
beforeAll(async () => {
  await main(["generate", "crd", EXAMPLE], testIo({ cwd: os.tmpdir(), code }));
}, 300_000);

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-generate-"));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function call(...argv: string[]) {
  const io = testIo({ cwd, code });
  const exitCode = await main(["generate", ...argv], io);
  return { code: exitCode, out: io.out(), err: io.err() };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly spec?: Record<string, unknown>;
}

const manifests = (text: string) => loadAll(text) as Manifest[];

describe("lotse generate", { timeout: 300_000 }, () => {
  it("makes the definitions of an operator's kinds", async () => {
    const { code, out, err } = await call("crd", EXAMPLE);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(manifests(out)).toMatchObject([
      { kind: "CustomResourceDefinition", metadata: { name: "exchangerates.rates.example.com" } },
    ]);
  });

  it("gives the framework what it needs, each rule with who needs it, and handlers what their code says and what they were seen to do", async () => {
    const recording = [
      {
        handler: "publishRate",
        method: "POST",
        path: "/api/v1/namespaces/a/configmaps",
        watch: false,
        websocket: false,
      },
      {
        handler: "publishRate",
        method: "GET",
        path: "/api/v1/namespaces/a/secrets",
        watch: false,
        websocket: false,
      },
    ];
    writeFileSync(path.join(cwd, "seen.jsonl"), recording.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const { out } = await call("rbac", EXAMPLE, "--from", "seen.jsonl", "-n", "rates");
    expect(out).toContain("  # the framework: follows ExchangeRate\n");
    expect(out).toContain("  # handler publishRate (operator.ts:75, 77, 80)\n");
    expect(out).toContain("  # handler publishRate\n");
    const [account, role, binding] = manifests(out);
    expect(account).toMatchObject({ kind: "ServiceAccount", metadata: { name: "exchange-rates", namespace: "rates" } });
    expect(binding).toMatchObject({ kind: "ClusterRoleBinding" });
    const rights = role?.rules?.flatMap(({ resources, verbs }) => resources.map((one) => `${one}: ${verbs.join(" ")}`));
    expect(rights).toEqual([
      "configmaps: create list patch",
      "events: create patch",
      "secrets: list",
      "customresourcedefinitions: get list patch watch",
      "customresourcedefinitions: create",
      "exchangerates: get list watch",
      "exchangerates/status: patch",
    ]);
  });

  it("lets handlers patch their objects only where their code does", async () => {
    const machines = async (file: string) =>
      manifests((await call("rbac", path.join(examples, file))).out)
        .flatMap(({ rules = [] }) => rules)
        .find(({ resources }) => resources.includes("machines"))?.verbs;
    expect(await machines("useless-machine/operator.ts")).toEqual(["get", "list", "patch", "watch"]);
    expect(await machines("switches/operator.ts")).toEqual(["get", "list", "watch"]);
  });

  it("keeps rights to the namespaces that are served", async () => {
    const { out } = await call("rbac", EXAMPLE, "--serve", "a", "--serve", "b");
    const roles = manifests(out).filter(({ kind }) => kind === "Role");
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(["a", "b"]);
    const cluster = manifests(out).find(({ kind }) => kind === "ClusterRole");
    expect(cluster?.rules?.flatMap(({ resources }) => resources)).toEqual([
      "customresourcedefinitions",
      "customresourcedefinitions",
    ]);
  });

  it("makes everything for a cluster in one file, the same each time", async () => {
    const argv = ["deploy", EXAMPLE, "--image", "example.com/rates:1", "-o", "out"];
    const { code, out } = await call(...argv);
    expect({ code, out }).toEqual({ code: 0, out: `${path.join("out", "deploy.yaml")}\n` });
    const file = path.join(cwd, "out", "deploy.yaml");
    const first = readFileSync(file, "utf8");
    await call(...argv);
    expect(readFileSync(file, "utf8")).toBe(first);
    expect(readdirSync(path.join(cwd, "out"))).toEqual(["deploy.yaml"]);
    expect(manifests(first).map(({ kind }) => kind)).toEqual([
      "CustomResourceDefinition",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
      "NetworkPolicy",
      "Deployment",
    ]);
  });

  it("deploys an operator with a leader, also one alone, and as many as it is told", async () => {
    const deployed = async (...flags: string[]) => {
      const all = manifests((await call("deploy", EXAMPLE, "-n", "rates", ...flags)).out);
      const own = all.find(({ metadata }) => metadata.name === "exchange-rates-own");
      const { spec } = all.find(({ kind }) => kind === "Deployment") ?? {};
      const env = JSON.stringify(spec).match(/"LOTSE_RUN_COORDINATION","value":"(\w+)"/)?.[1];
      const budgets = all.filter(({ kind }) => kind === "PodDisruptionBudget").length;
      return { leases: own?.rules?.map(({ verbs }) => verbs.join(" ")), replicas: spec?.replicas, env, budgets };
    };
    expect(await deployed()).toEqual({
      leases: ["get list update watch", "create"],
      replicas: 1,
      env: "leader",
      budgets: 0,
    });
    expect(await deployed("--replicas", "3", "--coordination", "shards")).toEqual({
      leases: ["create get list update watch"],
      replicas: 3,
      env: "shards",
      budgets: 1,
    });
    expect(await deployed("--coordination", "alone")).toEqual({
      leases: undefined,
      replicas: 1,
      env: undefined,
      budgets: 0,
    });
  });

  it("gives rights on a Lease by `rbac` only where it is told that there is one", async () => {
    const takesIt = /holds the Lease that says which process works/;
    expect((await call("rbac", EXAMPLE)).out).not.toMatch(takesIt);
    expect((await call("rbac", EXAMPLE, "--coordination", "leader")).out).toMatch(takesIt);
  });

  it("keeps metrics for those who may read them, and asks for the rights to find out, only where it is told to", async () => {
    const { out } = await call("deploy", EXAMPLE, "--metrics-auth");
    expect(out).toMatch(/name: LOTSE_RUN_METRICS_AUTH\n +value: https:\/\/0\.0\.0\.0:8443\n/);
    const all = manifests(out);
    expect(all.find(({ metadata }) => metadata.name === "exchange-rates-metrics-reader")).toMatchObject({
      kind: "ClusterRole",
      rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
    });
    const rights = all.flatMap(({ rules = [] }) => rules.flatMap(({ resources }) => resources ?? []));
    expect(rights).toEqual(expect.arrayContaining(["tokenreviews", "subjectaccessreviews"]));
    expect(all.find(({ kind }) => kind === "NetworkPolicy")).toMatchObject({
      spec: { ingress: [{ ports: [{ port: 8080 }, { port: 8443 }] }] },
    });
    const { out: open } = await call("deploy", EXAMPLE);
    expect(open).not.toMatch(/METRICS_AUTH|metrics-reader|tokenreviews|subjectaccessreviews/);
    const { out: bundle } = await call("olm", EXAMPLE, "--metrics-auth");
    expect(bundle).toContain("# Source: manifests/exchange-rates-metrics-reader.clusterrole.yaml");
    expect(bundle).toContain("- tokenreviews");
  });

  it("refuses several that would know nothing of each other", async () => {
    expect(await call("deploy", EXAMPLE, "--replicas", "2", "--coordination", "alone")).toEqual({
      code: 2,
      out: "",
      err: [
        "Error: 2 replicas do not go with an operator that works alone",
        "Why:   each of them would work on every object, and nobody would notice",
        "Do:    choose --coordination leader or shards, or leave --replicas out",
        "",
      ].join("\n"),
    });
  });

  it("leaves definitions that come along to whoever applies them: the operator has no right to write them", async () => {
    const { out } = await call("deploy", EXAMPLE);
    expect(out).not.toContain("customresourcedefinitions");
    expect(out).toContain('- name: LOTSE_RUN_INSTALL_CRDS\n              value: "false"\n');
    const { out: foreign } = await call("deploy", path.join(examples, "os-labels/operator.ts"));
    expect(foreign).not.toContain("LOTSE_RUN_INSTALL_CRDS");
  });

  it("makes a Helm chart: a folder, or all of its files in one stream", async () => {
    const { code, out } = await call("helm", EXAMPLE, "-o", "chart", "--image", "example.com/rates:1");
    expect({ code, files: out.split("\n") }).toEqual({
      code: 0,
      files: [
        "chart/Chart.yaml",
        "chart/crds/exchangerates.rates.example.com.yaml",
        "chart/templates/NOTES.txt",
        "chart/templates/_helpers.tpl",
        "chart/templates/deployment.yaml",
        "chart/templates/metrics.yaml",
        "chart/templates/networkpolicy.yaml",
        "chart/templates/poddisruptionbudget.yaml",
        "chart/templates/rbac.yaml",
        "chart/templates/serviceaccount.yaml",
        "chart/values.schema.json",
        "chart/values.yaml",
        "",
      ],
    });
    const values = load(readFileSync(path.join(cwd, "chart/values.yaml"), "utf8"));
    expect(values).toMatchObject({ image: { repository: "example.com/rates", tag: "1" }, installCrds: true });
    const { out: stream } = await call("helm", EXAMPLE);
    expect(stream.match(/^# Source: .*$/gm)).toHaveLength(12);
    expect(stream.startsWith("# Source: Chart.yaml\napiVersion: v2\nname: exchange-rates\n")).toBe(true);
  });

  it("makes a bundle for the lifecycle manager, with the manifests beside the operator as examples", async () => {
    const { code, out } = await call("olm", EXAMPLE, "-o", "bundle");
    expect({ code, files: out.split("\n") }).toEqual({
      code: 0,
      files: [
        "bundle/bundle.Dockerfile",
        "bundle/manifests/exchange-rates.clusterserviceversion.yaml",
        "bundle/manifests/exchangerates.rates.example.com.yaml",
        "bundle/metadata/annotations.yaml",
        "",
      ],
    });
    const files = out.trim().split("\n");
    const read = files.map((name) => ({
      name: name.slice("bundle/".length),
      text: readFileSync(path.join(cwd, name), "utf8"),
    }));
    expect(validateBundle(read)).toEqual({ errors: [], warnings: ["there is no icon"] });
    expect(read[1]?.text).toContain('"currency": "EUR"');
  });

  it("makes a bundle of several, with a budget", async () => {
    const { out } = await call("olm", EXAMPLE, "--replicas", "3", "--coordination", "shards", "-o", "bundle");
    const read = out
      .trim()
      .split("\n")
      .map((name) => ({ name: name.slice("bundle/".length), text: readFileSync(path.join(cwd, name), "utf8") }));
    expect(read.map(({ name }) => name)).toContain("manifests/exchange-rates.poddisruptionbudget.yaml");
    expect(validateBundle(read)).toEqual({ errors: [], warnings: ["there is no icon"] });
    const [, csv] = read;
    expect(csv?.text).toMatch(/replicas: 3\n/);
    expect(csv?.text).toContain("- leases\n");
    expect(csv?.text).toContain("name: LOTSE_RUN_COORDINATION\n");
  });

  it("makes a folder for one operator only", async () => {
    const { code, err } = await call("helm", EXAMPLE, path.join(examples, "os-labels/operator.ts"));
    expect({ code, err }).toEqual({
      code: 2,
      err: [
        "Error: there are 2 operators: exchange-rates, os-labels",
        "Why:   what helm makes is one folder for one operator",
        "Do:    name the file of one of them, and call it once for each",
        "",
      ].join("\n"),
    });
  });

  it("makes a Dockerfile", async () => {
    const { out } = await call("dockerfile", EXAMPLE);
    expect(out).toMatch(/^ARG BUILD_IMAGE=node:22-alpine$/m);
    expect(out).toContain("distroless");
    expect(out).toContain("operator.ts");
  });

  it.each([
    ["nothing", [], "missing required argument 'product'", 2],
    ["no file", ["crd"], "no file given", 2],
    ["another product", ["cake", EXAMPLE], 'nobody can generate "cake"', 2],
    ["a recording that is not there", ["rbac", EXAMPLE, "--from", "nobody"], "the recording nobody cannot be read", 1],
  ])("says what is wrong with %s", async (_what, argv, message, exitCode) => {
    const { code, out, err } = await call(...argv);
    expect({ code, out }).toEqual({ code: exitCode, out: "" });
    expect(err).toContain(message);
  });

  it("makes alerts, for Prometheus and for its operator, and a dashboard", async () => {
    const { code, out, err } = await call("alerts", EXAMPLE, "-n", "rates");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(load(out)).toMatchObject({
      kind: "PrometheusRule",
      metadata: { name: "exchange-rates", namespace: "rates" },
    });
    expect(out).toContain('{pod=~"exchange-rates-.+"}');
    expect(out).toContain("LotseNobodyLeads");
    const { out: plain } = await call(
      "alerts",
      EXAMPLE,
      "--plain",
      "--select",
      'job="rates"',
      "--coordination",
      "alone",
    );
    expect(Object.keys(load(plain) as object)).toEqual(["groups"]);
    expect(plain).toContain('{job="rates"}');
    expect(plain).not.toContain("LotseNobodyLeads");
    const { out: shown } = await call("dashboard", EXAMPLE, "-o", "out");
    expect(shown).toBe(`${path.join("out", "exchange-rates-dashboard.json")}\n`);
    const text = readFileSync(path.join(cwd, "out", "exchange-rates-dashboard.json"), "utf8");
    expect(JSON.parse(text)).toMatchObject({ title: "exchange-rates (Lotse)" });
  });

  it.each(["rates", 'job="rates', '{job="rates"}', 'job="a"} or up{job="b"'])(
    "takes no selection like %s",
    async (select) => {
      const { code, err } = await call("alerts", EXAMPLE, "--select", select);
      expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("picks no series") });
    },
  );

  it("says that an operator of built-in kinds has no definitions", async () => {
    const file = path.join(examples, "os-labels/operator.ts");
    expect(await call("crd", file)).toMatchObject({ code: 1, err: expect.stringContaining("there is no crd to make") });
  });
});
