/** What `kopf run` does, done by `lotse run`: files and packages, the environment, exit codes, and health for the kubelet. */
import path from "node:path";
import { ConfigMap } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../packages/cluster/src/test-port.ts";
import { Project } from "./project.ts";

/** An operator that greets each ConfigMap with its label, and answers probes. */
const operator = (name: string, more = "") => `
import { Operator, PermanentError } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "${name}" });
operator.on.create(ConfigMap, { labels: { greet: "yes" } }, function greet({ name, namespace, logger }) {
  logger.info(\`${name} greets \${namespace}/\${name}\`);
});
${more}
export default operator;
`;

let project: Project;
let cluster: Cluster;

beforeAll(async () => {
  project = new Project();
  // A package that a user has installed: this one is found by its own name.
  project.write("package.json", '{ "name": "third-operator", "type": "module", "exports": "./third.js" }');
  project.write("first.ts", operator("first"));
  project.write("second.ts", operator("second"));
  project.write("third.js", operator("third"));
  project.write(
    "failing.ts",
    operator("failing", `operator.on.startup(() => { throw new PermanentError("no key"); });`),
  );
  const probes = `
operator.on.probe(function queue() { return { length: 3 }; });
operator.on.probe({ id: "disk", errors: "permanent" }, async ({ client }) => {
  const { data } = (await client.get(ConfigMap, "disk")).body;
  if (data?.full === "yes") throw new Error("the disk is full");
  return "ok";
});`;
  project.write("probed.ts", operator("probed", probes));
  cluster = await Cluster.start({ kubelet: false });
  await cluster.writeKubeconfig(path.join(project.folder, "kubeconfig"));
}, 300_000);

afterAll(async () => {
  await project.remove();
  await cluster.stop();
});

const greeted = { labels: { greet: "yes" } } as const;

describe("lotse run", () => {
  it("runs every file that is named, and every package that is named by -m", async () => {
    await using client = await cluster.connect();
    const argv = ["run", "first.ts", "second.ts", "-m", "third-operator", "--kubeconfig", "kubeconfig"];
    const running = project.begin(argv);
    await Promise.all(["first", "second", "third"].map((name) => running.says(`"operator":"${name}"`)));
    await client.create(ConfigMap.gen({ name: "all", ...greeted }));
    for (const name of ["first", "second", "third"]) await running.says(`${name} greets default/all`);
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  });

  it("is told by the environment what the command line does not say", async () => {
    await using client = await cluster.connect();
    await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
    const env = {
      KUBECONFIG: "kubeconfig",
      LOTSE_RUN_NAMESPACE: "team-a",
      LOTSE_RUN_MODULE: "third-operator",
      LOTSE_RUN_LOG_FORMAT: "pretty",
    };
    const running = project.begin(["run", "first.ts"], env);
    await running.says("the operator is ready");
    await client.create(ConfigMap.gen({ name: "elsewhere", ...greeted }));
    await client.create(ConfigMap.gen({ name: "here", namespace: "team-a", ...greeted }));
    for (const name of ["first", "third"]) await running.says(`${name} greets team-a/here`);
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
    expect(running.err()).not.toContain("greets default/elsewhere");
    expect(running.err()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO/m);
  });

  it("ends with 0 when it was asked to, with 1 when an operator fails, and with 2 when it was called wrongly", async () => {
    const kubeconfig = ["--kubeconfig", "kubeconfig"];
    const asked = project.begin(["run", "first.ts", ...kubeconfig]);
    await asked.says("the operator is ready");
    asked.child.kill("SIGTERM");
    expect(await asked.ended).toBe(0);
    const failed = await project.lotse(["run", "failing.ts", ...kubeconfig, "-q"]);
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining("no key") });
    expect(await project.lotse(["run", "first.ts", "--no-such-option"])).toMatchObject({ code: 2 });
    expect(await project.lotse(["run", "nobody.ts"])).toMatchObject({ code: 2 });
  });

  it("serves what probes say as JSON where -L says, and 500 when one fails for good", async () => {
    await using client = await cluster.connect();
    const disk = await client.create(ConfigMap.gen({ name: "disk", data: { full: "no" } }));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/alive`;
    const running = project.begin(["run", "probed.ts", "--kubeconfig", "kubeconfig", "-L", url]);
    await running.says("the operator is ready");
    const healthy = await fetch(url);
    expect(healthy.status).toBe(200);
    expect(healthy.headers.get("content-type")).toContain("application/json");
    expect(await healthy.json()).toEqual({ queue: { length: 3 }, disk: "ok" });
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);

    await disk.patch({ data: { full: "yes" } });
    const broken = project.begin(["run", "probed.ts", "--kubeconfig", "kubeconfig", "-L", url]);
    await broken.says("the operator is ready");
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining("the disk is full")]);
    broken.child.kill("SIGTERM");
    expect(await broken.ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });
});
