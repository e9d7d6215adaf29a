/**
 * One forgotten `await`, or a throw in a callback, in a real process: `lotse dev` tells where it comes from, keeps its
 * cluster and starts the operator again; `lotse run` stops in order and tells it in three lines.
 */
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { Client, ConfigMap } from "lotse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Project } from "./project.ts";

/** Each ConfigMap names the mistake that its handler makes. */
const OPERATOR = `
import { EventEmitter } from "node:events";
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";

const operator = new Operator({ name: "careless" });

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function send(name: string) {
  await later(5);
  throw new Error("nobody takes " + name);
}

const mistakes: Record<string, (client: any) => void> = {
  await: () => { send("parcel"); },
  request: (client) => { client.create(ConfigMap.gen({ name: "await" })); },
  timer: () => { setTimeout(() => { throw new TypeError("the clock is gone"); }, 5); },
  event: () => { setTimeout(() => new EventEmitter().emit("error", new Error("the line is cut")), 5); },
};

operator.on.create(ConfigMap, { labels: { mistake: "yes" } }, async function publish({ name, client, logger }) {
  logger.info("publishing");
  mistakes[name]?.(client);
});
operator.on.cleanup(async function tidy({ logger }) { logger.info("tidying up"); });
export default operator;
`;

let project: Project;

beforeAll(() => {
  project = new Project();
  project.write("operator.ts", OPERATOR);
}, 300_000);

afterAll(() => project.remove());

const mistake = (name: string) => ConfigMap.gen({ name, labels: { mistake: "yes" } });

describe("lotse dev", () => {
  const argv = ["dev", "operator.ts", "--no-console", "--kubelet", "off", "--kubeconfig", "dev.yaml"];

  it("tells an error that nobody caught with its place and its handler, keeps the cluster, and starts the operator again", async () => {
    const running = project.begin(argv);
    await running.says("the operator is ready");
    const client = await Client.connect({ kubeconfig: path.join(project.folder, "dev.yaml") });
    const told = async (name: string, text: RegExp) => {
      const before = running.err().length;
      await client.create(mistake(name));
      // What was said before does not count.
      const said = () => running.err().slice(before);
      await running.says(() => text.test(said()) && said().includes("the operator is ready"));
      return project.masked(said());
    };
    const forgotten = await told("await", /Error: a promise was rejected/);
    expect(forgotten).toMatch(
      /^Error: a promise was rejected, and nobody awaits it: nobody takes parcel\nWhy: {3}at operator\.ts:12:\d+, begun in handler publish \(\S*operator\.ts:22\)\nDo: {4}await the call that made it, or catch its error; the operator is started again, the cluster stays\n/m,
    );
    expect(forgotten).not.toMatch(/^\s+at /m);
    // Such an error has no place in the user's file; the handler is known all the same.
    expect(await told("request", /Error: a handler ended/)).toMatch(
      /^Error: a handler ended before a request that it had begun, and nobody awaits that: the attempt is over\nWhy: {3}in what was begun by handler publish \(\S*operator\.ts:22\)\nDo: {4}await the request: .*\n/m,
    );
    expect(await told("timer", /Error: a callback threw/)).toMatch(
      /^Error: a callback threw an error, and nobody caught it: the clock is gone\nWhy: {3}at operator\.ts:18:\d+, begun in handler publish/m,
    );
    // All in one cluster: everything is still there.
    expect((await client.list(ConfigMap, { labelSelector: { mistake: "yes" } }).toArray()).length).toBe(3);
    await client.close();
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  }, 300_000);
});

describe("lotse run", { timeout: 300_000 }, () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ kubelet: false });
    await cluster.writeKubeconfig(path.join(project.folder, "kubeconfig"));
  });

  afterAll(() => cluster.stop());

  it.each([
    ["a forgotten await", "await", /nobody awaits it: nobody takes parcel\nWhy: {3}at operator\.ts:12:\d+\n/],
    ["a throw in a timer", "timer", /nobody caught it: the clock is gone\nWhy: {3}at operator\.ts:18:\d+\n/],
    ["an event that nobody listens to", "event", /nobody caught it: the line is cut\nWhy: {3}at operator\.ts:19:\d+\n/],
  ])("stops in order after %s, tells it in three lines at its end, and exits with 1", async (_what, name, lines) => {
    const client = await cluster.connect();
    const running = project.begin(["run", "operator.ts", "--kubeconfig", "kubeconfig", "--log-format", "pretty"]);
    await running.says("the operator is ready");
    await client.create(mistake(name));
    expect(await running.ended).toBe(1);
    const err = running.err();
    expect(err).toMatch(/ERROR stopping because of an error that nobody caught error=.*\n.*tidying up.*\n/);
    const last = err.trimEnd().split("\n").slice(-3).join("\n");
    expect(last).toMatch(lines);
    expect(last).toMatch(/^Error: .*\nWhy: .*\nDo: .*; the operator has stopped, start it again$/);
    expect(err).not.toMatch(/^\s+at /m);
    // What it had done is written down: it does not come again at the next start.
    const next = project.begin(["run", "operator.ts", "--kubeconfig", "kubeconfig", "--log-format", "pretty"]);
    await next.says("the operator is ready");
    next.child.kill("SIGTERM");
    expect(await next.ended).toBe(0);
    expect(next.err()).not.toContain("publishing");
    await client.close();
  });
});

it("a command that only loads a file tells it too, without a stack", async () => {
  project.write(
    "loading.ts",
    `import { Operator } from "lotse";
     const operator = new Operator({ name: "loading" });
     Promise.reject(new Error("no table"));
     await new Promise((resolve) => setTimeout(resolve, 50));
     export default operator;`,
  );
  const { code, out, err } = await project.lotse(["generate", "rbac", "loading.ts"]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(
    /^Error: a promise was rejected, and nobody awaits it: no table\nWhy: {3}at loading\.ts:3:\d+\nDo: .*\n$/,
  );
}, 300_000);
