/** `lotse dev` records what handlers ask for, over sessions, so that `lotse generate` knows what no code tells. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { Client, ConfigMap } from "lotse/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Project } from "./project.ts";

/** The kind that it asks for is in the object: no code tells it. */
const OPERATOR = `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "curious" });
operator.on.startup(async function open({ client }) { await client.list(process.env.KIND ?? "namespaces").first(); });
operator.on.create(ConfigMap, { labels: { look: "yes" } }, async function look({ client, name, annotations }) {
  await client.list(annotations.kind ?? "").first();
  await client.apply({ apiVersion: "v1", kind: annotations.make ?? "", metadata: { name } });
});
operator.on.create(ConfigMap, { labels: { alone: "yes" } }, async function alone({ name }) {
  await ConfigMap.gen({ name: name + "-copy" }).create();
});
export default operator;
`;

let project: Project;
let recording: string;

beforeAll(() => {
  project = new Project();
  project.writeSettings();
  project.write("operator.ts", OPERATOR);
  recording = path.join(project.folder, "operator.requests.jsonl");
}, 300_000);

afterEach(() => rmSync(recording, { force: true }));

afterAll(() => project.remove());

const lines = (file = recording) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { handler: string; method: string; path: string })
    .map(({ handler, method, path: asked }) => `${handler}: ${method} ${asked.split("?")[0]}`);

/** One session in which one object is handled. */
async function session(name: string, kind: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const argv = ["dev", "operator.ts", "--no-console", "--kubelet", "off", "--kubeconfig", "dev.yaml"];
  const running = project.begin(argv, env);
  await running.says("the operator is ready");
  const client = await Client.connect({ kubeconfig: path.join(project.folder, "dev.yaml") });
  const marks = { labels: { look: "yes" }, annotations: { kind, make: "Secret" } };
  await client.create(ConfigMap.gen({ name, ...marks }));
  await running.says(new RegExp(`\\[default/${name}\\] handler succeeded`));
  await client.close();
  running.child.kill("SIGTERM");
  expect(await running.ended).toBe(0);
  return running.err();
}

describe("lotse dev", { timeout: 300_000 }, () => {
  it("records beside the operator, says where, and loses nothing that earlier sessions have seen", async () => {
    const before = await project.lotse(["generate", "rbac", "operator.ts"]);
    expect(before.err).toMatch(/^Warning: nobody knows what handlers? look \(\S+:6\)/m);
    const first = await session("one", "pods");
    expect(first).toContain("what handlers ask for is recorded for lotse generate file=operator.requests.jsonl\n");
    expect(first.split("is recorded for").length).toBe(2);
    const seen = [
      "open: GET /api/v1/namespaces",
      "look: GET /api/v1/namespaces/default/pods",
      "look: PATCH /api/v1/namespaces/default/secrets/one",
      "look: POST /api/v1/namespaces/default/secrets",
    ];
    expect(lines()).toEqual(seen);
    // The same again is nothing new; another kind is.
    expect(await session("two", "pods")).not.toContain("is recorded for");
    await session("three", "services");
    expect(lines()).toEqual([...seen, "look: GET /api/v1/namespaces/default/services"]);
    const after = await project.lotse(["generate", "rbac", "operator.ts"]);
    expect(after.err).toBe("");
    expect(after.out).toMatch(/ {6}- secrets\n {4}verbs:\n {6}- create\n {6}- patch\n/);
  });

  it("is where objects go that have no client of their own, whatever kubectl's context is, and records them too", async () => {
    const nowhere = { KUBECONFIG: path.join(project.folder, "nowhere.yaml") };
    const argv = ["dev", "operator.ts", "--no-console", "--kubelet", "off", "--kubeconfig", "dev.yaml"];
    const running = project.begin(argv, nowhere);
    await running.says("the operator is ready");
    const kubeconfig = path.join(project.folder, "dev.yaml");
    const client = await Client.connect({ kubeconfig });
    await client.create(ConfigMap.gen({ name: "alone", labels: { alone: "yes" } }));
    await running.says(/\[default\/alone\] handler succeeded/);
    expect((await client.get(ConfigMap, "alone-copy")).name).toBe("alone-copy");
    expect(lines()).toContain("alone: POST /api/v1/namespaces/default/configmaps");
    await client.close();
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  });

  it("records where LOTSE_RECORD says, or nothing at all", async () => {
    await session("one", "pods", { LOTSE_RECORD: "seen.jsonl" });
    expect(lines(path.join(project.folder, "seen.jsonl"))).toHaveLength(4);
    await session("one", "pods", { LOTSE_RECORD: "off" });
    expect(existsSync(recording)).toBe(false);
  });

  it("goes on where it cannot record, and says so", async () => {
    project.write("operator.requests.jsonl", "no JSON at all\n");
    expect(await session("one", "pods")).toMatch(
      /WARN {2}what handlers ask for is not recorded error="line 1 is not JSON: .* hint="mend or remove it, /,
    );
  });
});
