/** `lotse run --record` writes what an operator sees, and a test plays it to the same code and to other code. */
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { ReplayError, replay } from "@lotse/testing";
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Project } from "./project.ts";

const SOURCE = `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "copies" });
operator.on.create(ConfigMap, { labels: { copy: "yes" } }, async function copy({ name, client, body, patch }) {
  await client.create(ConfigMap.gen({ name: name + "-copy", data: body.data }));
  patch.metadata.annotations.copied = "yes";
});
export default operator;
`;

/** The same operator, and one that copies something else. */
function copies(data?: Record<string, string>): Operator {
  const operator = new Operator({ name: "copies" });
  operator.on.create(ConfigMap, { labels: { copy: "yes" } }, async function copy({ name, client, body, patch }) {
    await client.create(ConfigMap.gen({ name: `${name}-copy`, data: data ?? (body.data as Record<string, string>) }));
    patch.metadata.annotations.copied = "yes";
  });
  return operator;
}

let project: Project;
let cluster: Cluster;

beforeAll(async () => {
  project = new Project();
  project.writeSettings();
  project.write("operator.ts", SOURCE);
  cluster = await Cluster.start({ tls: false });
  project.write("kubeconfig.json", JSON.stringify(cluster.kubeconfig));
}, 300_000);

afterAll(async () => {
  await cluster?.stop();
  await project?.remove();
});

describe("lotse run --record", { timeout: 300_000 }, () => {
  it("makes a recording that plays", async () => {
    const argv = ["run", "operator.ts", "--kubeconfig", "kubeconfig.json", "--record", "seen.jsonl"];
    const running = project.begin(argv);
    await running.says("what the operator sees is recorded, without secrets");
    await running.says("ready");
    await using client = await cluster.connect();
    for (const name of ["a", "b", "c"]) {
      await client.create(ConfigMap.gen({ name, labels: { copy: "yes" }, data: { is: name } }));
    }
    for (const name of ["a", "b", "c"]) await running.says(new RegExp(`"handler succeeded".*"name":"${name}"`));
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);

    const file = path.join(project.folder, "seen.jsonl");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, "utf8");
    expect(text).toContain('"k":"stop"');
    expect(text).not.toContain(cluster.token);
    expect(await replay(file, copies())).toMatchObject({ operator: "copies", differences: [] });
    const error = await replay(file, copies({ is: "other" })).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ReplayError);
    expect((error as ReplayError).message).toContain(
      '(handler copy): says something else\n  - data.is: "a"\n  + data.is: "other"',
    );
  });

  it("does not overwrite what is no recording", async () => {
    const { err, code } = await project.lotse([
      "run",
      "operator.ts",
      "--kubeconfig",
      "kubeconfig.json",
      "--record",
      "operator.ts",
    ]);
    expect(code).toBe(2);
    expect(err).toContain("is no recording of an operator");
  });
});
