/** `lotse chaos` in front of a cluster, with commands that bear it and one that does not. */
import { readdirSync } from "node:fs";
import { Cluster } from "@lotse/cluster";
import { ConfigMap } from "lotse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Project } from "./project.ts";

/** A good operator, in Lotse. */
const GOOD = `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "copies" });
operator.on.create(ConfigMap, { labels: { copy: "yes" } }, async function copy({ name, client }) {
  await client.apply(ConfigMap.gen({ name: name + "-copy" }));
});
export default operator;
`;

/** A bad one: it dies at the first refusal, and says where its kubeconfig is. */
const BAD = `
import { readFileSync, statSync } from "node:fs";
import { request } from "node:https";
const file = process.env.KUBECONFIG;
const { clusters, users } = JSON.parse(readFileSync(file, "utf8"));
console.log("mode", (statSync(file).mode & 0o777).toString(8), clusters[0].cluster.server);
const ca = Buffer.from(clusters[0].cluster["certificate-authority-data"], "base64");
const headers = { authorization: "Bearer " + users[0].user.token, "content-type": "application/json" };
const url = clusters[0].cluster.server + "/api/v1/namespaces/default/configmaps";
const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "bad-" } });
const post = () => new Promise((resolve, reject) => {
  request(url, { method: "POST", headers, ca }, (answer) => resolve(answer.resume().statusCode)).on("error", reject).end(body);
});
for (let i = 0; ; i++) {
  if (await post() !== 201) process.exit(7);
  if (i === 0) console.log("works");
  await new Promise((resolve) => setTimeout(resolve, 50));
}
`;

interface Report {
  readonly findings: readonly { readonly type: string; readonly what: string }[];
  readonly injected: readonly { readonly fault: string; readonly count: number }[];
  readonly lives: readonly { readonly end: string; readonly code: number | null }[];
  readonly recoveredMs: number | null;
}

let project: Project;
let cluster: Cluster;

beforeAll(async () => {
  project = new Project();
  project.writeSettings();
  project.write("good.ts", GOOD);
  project.write("bad.mjs", BAD);
  // As on a real cluster: TLS, and a client certificate.
  cluster = await Cluster.start({ rbac: true });
  project.write("kubeconfig.json", JSON.stringify(cluster.kubeconfig));
}, 300_000);

afterAll(async () => {
  await cluster?.stop();
  await project?.remove();
});

const chaos = (...argv: string[]) => ["chaos", "--kubeconfig", "kubeconfig.json", ...argv];

describe("lotse chaos", { timeout: 300_000 }, () => {
  it("kills an operator at a write, starts it again, and finds nothing wrong with one that goes on", async () => {
    const rules = ["--kill-at-write", "1", "--fail", "20%:500", "--cut-watches", "1s", "--only", "configmaps"];
    const times = ["--for", "6s", "--calm", "8s"];
    const lotse = ["node", "node_modules/lotse/bin/lotse.js", "run", "good.ts"];
    const running = project.begin(chaos(...rules, ...times, "-o", "json", "--", ...lotse));
    await running.says("the operator is ready");
    await using client = await cluster.connect();
    for (const name of ["a", "b", "c", "d"]) {
      await client.create(ConfigMap.gen({ name, labels: { copy: "yes" } }));
    }
    const code = await running.ended;
    const report = JSON.parse(running.out()) as Report;
    expect(report.findings, running.err()).toEqual([]);
    expect(code).toBe(0);
    expect(report.lives.map(({ end }) => end)).toEqual(["killed", "stopped"]);
    expect(report.injected.map(({ fault }) => fault)).toEqual(expect.arrayContaining(["kill", "cut"]));
    expect(report.recoveredMs).not.toBeNull();
    for (const name of ["a", "b", "c", "d"]) await client.get(ConfigMap, `${name}-copy`);
  });

  it("says what broke in one that does not, and takes its kubeconfig away", async () => {
    const argv = chaos("--fail", "30%:500", "--for", "2s", "--calm", "1s", "--", "node", "bad.mjs");
    const { code, out, err } = await project.lotse(argv);
    expect(code).toBe(1);
    expect(out).toMatch(
      /✗ died: it ended by itself with exit code 7 after .*; the last harm was "refused: create configmaps"\n/,
    );
    expect(err).toMatch(/mode 600 https:\/\/127\.0\.0\.1:\d+/);
    expect(readdirSync(project.folder).filter((name) => name.startsWith("lotse-chaos-"))).toEqual([]);
  });

  it("ends at Ctrl-C with its report", async () => {
    const running = project.begin(chaos("--delay", "10ms", "--for", "1h", "--", "node", "bad.mjs"));
    await running.says("works");
    running.child.kill("SIGINT");
    expect(await running.ended).toBe(0);
    expect(running.out()).toContain("worked");
    expect(running.out()).toContain("delayed: create configmaps");
  });

  it.each([
    [["--fail", "10%:500"], "there is no command to run"],
    [["--", "true"], "there is nothing to inject"],
    [["--fail", "maybe", "--", "true"], "--fail maybe cannot be read"],
    [["--fail", "500", "--", "./is-not-there"], "./is-not-there cannot be started"],
  ])("%j is a wrong usage", async (argv, message) => {
    const { code, err } = await project.lotse(chaos(...argv));
    expect(err).toContain(message);
    expect(code).toBe(2);
  });
});
