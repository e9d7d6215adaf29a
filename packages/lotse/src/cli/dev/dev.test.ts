/** `lotse dev` in this process, on embedded clusters of its own or on one that is there already. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, Lease, Pod } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "../main.ts";
import { type TestIo, testIo } from "../terminal/test-io.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-dev-"));
  writeFileSync(path.join(cwd, "package.json"), '{"type":"module"}');
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** An operator that tells in the log what is done to it; by the framework's brand, so that it needs no package. */
const fixture = (version: string, stop = "end()") => `
let end: () => void = () => {};
export default {
  [Symbol.for("lotse.Operator")]: true,
  name: "fixture",
  resources: [{ resource: "pods", handlers: [] }],
  start({ log, namespaces, crds, events, retryAtStart: again, webhooks }: any) {
    const tell = (message: string) =>
      log({ time: 0, level: "info", message, fields: { namespaces, crds, events, again }, object: undefined });
    tell("${version} started");
    log({ time: 0, level: "debug", message: "webhooks " + JSON.stringify(webhooks), fields: {}, object: undefined });
    return {
      ready: Promise.resolve(),
      stopped: new Promise<void>((resolve) => { end = resolve; }),
      stop: async () => { tell("${version} stopped"); await ${stop}; },
      idle: async () => {},
      health: () => ({ operator: "fixture", phase: "ready", streams: [{ kind: "Pod" }], missing: [] }),
      retry: ({ name }: any) => ({ operator: "fixture", handlers: name === "lamp" ? ["light"] : [] }),
      explain: ({ name, namespace }: any) => ({
        operator: "fixture",
        object: { apiVersion: "v1", kind: "Pod", name, namespace, deleting: false },
        state: "waits",
        open: [],
        turns: [],
      }),
    };
  },
};
`;

const write = (name: string, text: string) => writeFileSync(path.join(cwd, name), text);
const seen = (text: () => string, what: string | RegExp) =>
  vi.waitFor(() => expect(text()).toMatch(what), { timeout: 170_000, interval: 20 });

/** Starts a command; its end is `code`. */
function begin(io: TestIo, ...argv: string[]): { readonly code: Promise<number> } {
  return { code: main(argv, io) };
}

const terminal = (env: Record<string, string> = {}) => testIo({ cwd, tty: true, env: { NO_COLOR: "1", ...env } });

describe("lotse dev", () => {
  it("starts the operator anew at each save", async () => {
    write("operator.ts", fixture("version 1"));
    const io = terminal();
    const { code } = begin(io, "dev", "operator.ts", "--no-console");
    await seen(io.out, /export KUBECONFIG=.*\n.*kubectl get pods --all-namespaces/);
    expect(io.err()).toContain("version 1 started crds=install events=all again=true");
    write("operator.ts", fixture("version 2"));
    await seen(io.err, /loading the operator anew .*operator\.ts was saved.*version 1 stopped.*version 2 started/s);
    io.send("SIGTERM");
    expect(await code).toBe(0);
    expect(io.err()).toMatch(/stopping, a second Ctrl-C ends it at once.*version 2 stopped/s);
  });

  it("lets the embedded cluster ask the operator at the same port after each save, and no other machine", async () => {
    write("operator.ts", fixture("version 1"));
    const io = terminal();
    const { code } = begin(io, "dev", "operator.ts", "--no-console", "--verbose");
    await seen(io.err, /version 1 started/);
    write("operator.ts", fixture("version 2"));
    await seen(io.err, /version 2 started/);
    io.send("SIGTERM");
    expect(await code).toBe(0);
    const told = [...io.err().matchAll(/webhooks (\{.*\})/g)].map(([, text = ""]) => JSON.parse(text));
    expect(told).toHaveLength(2);
    expect(told[0]).toEqual({ host: "127.0.0.1", port: expect.any(Number) });
    expect(told[0].port).toBeGreaterThan(0);
    expect(told[1]).toEqual(told[0]);
  });

  it("refuses flags about webhooks that no cluster could go by, before anything starts", async () => {
    write("operator.ts", fixture("version 1"));
    const io = terminal();
    expect(await main(["dev", "operator.ts", "--webhook-url", "http://me:9443"], io)).toBe(2);
    expect(io.err()).toBe(
      [
        "Error: --webhook-url http://me:9443 is no address that an API server calls",
        "Why:   webhooks are asked by https alone",
        "Do:    write it like https://192.168.1.10:9443, with a name or address that the cluster can reach",
        "",
      ].join("\n"),
    );
  });

  it("prints the console's address with the token, without which nobody sees anything there", async () => {
    write("operator.ts", fixture("version 1"));
    const io = terminal();
    const { code } = begin(io, "dev", "operator.ts");
    await seen(io.out, /console +http.*kubectl get pods/s);
    const [, address = "", token = ""] = /console +(http:\/\/127\.0\.0\.1:\d+\/)#token=([\w-]+)\n/.exec(io.out()) ?? [];
    expect((await fetch(address)).status).toBe(200);
    expect((await fetch(`${address}api/kinds`)).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${address}api/kinds`, { headers })).status).toBe(200);
    io.send("SIGTERM");
    expect(await code).toBe(0);
  });

  it("tells where a saved file is wrong, and lets the operator run on until it is mended", async () => {
    write("operator.ts", fixture("version 1"));
    const io = terminal();
    const { code } = begin(io, "dev", "operator.ts", "--no-console");
    await seen(io.out, "export KUBECONFIG=");
    write("operator.ts", "\nconst a: number = = 1;");
    await seen(io.err, "the operator runs on as it was before, until the file is mended file=operator.ts\n");
    expect(io.err()).toMatch(/^Error: operator\.ts does not compile\nWhy: {3}operator\.ts:2:\d+: .*\nDo: /m);
    expect(io.err()).not.toContain("version 1 stopped");
    write("operator.ts", fixture("version 2"));
    await seen(io.err, /version 1 stopped.*version 2 started/s);
    io.press("q");
    expect(await code).toBe(0);
  });

  it("tells that an operator has no handlers, until it has some", async () => {
    const told = "the operator has no handlers, so it will never do anything operator=fixture file=operator.ts";
    write("operator.ts", fixture("version 1").replace(/resources: .*/, "resources: [], activities: [],"));
    const io = terminal();
    const { code } = begin(io, "dev", "operator.ts", "--no-console");
    await seen(io.err, /version 1 started/);
    expect(io.err()).toContain(`WARN  ${told}`);
    write("operator.ts", fixture("version 2"));
    await seen(io.err, "version 2 started");
    expect(io.err().split(told)).toHaveLength(2);
    io.press("q");
    expect(await code).toBe(0);
  });

  it("keeps its cluster when the first version is broken", async () => {
    write("operator.ts", "export const nothing = 1;");
    const io = testIo({ cwd });
    const { code } = begin(io, "dev", "operator.ts", "--no-console", "-o", "json");
    await seen(io.out, "\n");
    expect(io.err()).toContain("Error: operator.ts exports no operator");
    expect(io.err()).toContain("no operator is running, waiting for the next save");
    expect(JSON.parse(io.out())).toMatchObject({ operators: [], file: "operator.ts" });
    write("operator.ts", fixture("version 2"));
    await seen(io.err, "version 2 started");
    io.send("SIGTERM");
    expect(await code).toBe(0);
  });

  it("listens to its keys", async () => {
    write("operator.ts", fixture("it"));
    const io = terminal({ LOTSE_DEV_KUBELET: "off" });
    const { code } = begin(io, "dev", "operator.ts", "--no-console", "--kubeconfig", "here.yaml");
    await seen(io.out, "keys      h help, r restart, t try again, o objects, e Events on and off, q quit\n");
    expect(io.out()).toContain(`export KUBECONFIG=${path.join(cwd, "here.yaml")}\n`);
    io.press("r");
    await seen(io.err, /you asked for it.*it stopped.*it started/s);
    io.press("h");
    expect(io.out()).toMatch(/\n {2}e {2}Kubernetes Events of the objects: hide them \(they are shown\)\n/);
    io.press("e");
    io.press("h");
    expect(io.out()).toMatch(/Kubernetes Events are hidden\n(.*\n)*.*show them \(they are hidden\)\n/);
    io.press("o");
    await seen(io.out, "no objects yet\n");
    io.press("t");
    await seen(io.out, "nothing waits for a retry\n");
    io.press("x");
    io.press("q");
    expect(await code).toBe(0);
    expect(io.exits).toEqual([]);
  });

  it("shows the Events of the operator's objects, and the objects", async () => {
    write("operator.ts", fixture("it"));
    const io = terminal();
    const { code } = begin(io, "dev", "operator.ts", "--no-console");
    await seen(io.out, "export KUBECONFIG=");
    const client = await Client.connect({ kubeconfig: path.join(cwd, ".lotse", "kubeconfig") });
    await client.create(Pod.gen({ name: "lamp", image: "busybox" }));
    await seen(io.err, /^\S+ EVENT \[default\/lamp\] Started: Container started from=kubelet$/m);
    io.press("o");
    await seen(io.out, /^Pod \(v1\), 1\n {2}default\/lamp {2}waits until something changes\n/m);
    io.press("t");
    await seen(io.out, /^default\/lamp: tried again now: light\n/m);
    await client.close();
    io.press("q");
    expect(await code).toBe(0);
  });

  it("asks the operator to end at the first Ctrl-C, and ends at once at the second", async () => {
    write("operator.ts", fixture("stubborn", "new Promise((resolve) => { (globalThis as any).letGo = resolve; })"));
    const io = terminal();
    const { code } = begin(io, "dev", "operator.ts", "--no-console");
    await seen(io.out, "export KUBECONFIG=");
    io.press("\x03");
    await seen(io.err, "stubborn stopped");
    expect(io.exits).toEqual([]);
    io.press("\x03");
    expect(io.exits).toEqual([130]);
    (globalThis as { letGo?: () => void }).letGo?.();
    expect(await code).toBe(0);
  });

  it.each([
    [
      ["--real", "--port", "6443"],
      "--real and --port exclude each other",
      "--port is about the embedded cluster",
      "leave one of them out",
    ],
    [
      ["--real", "--kubelet", "off"],
      "--real and --kubelet exclude each other",
      "--kubelet is about the embedded cluster",
      "leave one of them out",
    ],
    [
      ["--context", "staging"],
      "--context needs --real",
      "without --real the operator gets an embedded cluster of its own",
      "add --real to work on staging",
    ],
  ])("refuses %j", async (flags, what, why, todo) => {
    write("operator.ts", fixture("it"));
    const io = testIo({ cwd });
    expect(await main(["dev", "operator.ts", ...flags], io)).toBe(2);
    expect(io.err()).toBe(`Error: ${what}\nWhy:   ${why}\nDo:    ${todo}\n`);
  });
});

describe("lotse dev --real", () => {
  let cluster: Cluster;

  /** The kubeconfig of a cluster that is there, its context under another name. */
  async function kubeconfig(context: string): Promise<string> {
    const file = path.join(cwd, `${context}.json`);
    const text = JSON.stringify(cluster.kubeconfig);
    const { "current-context": old } = JSON.parse(text) as { "current-context": string };
    writeFileSync(file, text.replaceAll(JSON.stringify(old), JSON.stringify(context)));
    return file;
  }

  beforeEach(async () => {
    cluster = await Cluster.start();
    write("operator.ts", fixture("version 1"));
  });

  afterEach(() => cluster.stop());

  it("names the cluster, works there, and starts the operator anew at each save", async () => {
    const io = terminal({ KUBECONFIG: await kubeconfig("staging") });
    const { code } = begin(io, "dev", "operator.ts", "--real", "-n", "team-a", "--no-console");
    await seen(io.err, "version 1 started");
    const version = /v\d+\.\d+\.\d+\S*/.exec(io.out())?.[0];
    expect(io.out()).toBe(
      [
        "Developing operator.ts on a real cluster",
        `  cluster     ${cluster.url}, context staging, ${version}`,
        "  identity    kubernetes-admin",
        "  beware      what the operator does here is real; the one of its name that is deployed pauses meanwhile",
        "  namespaces  team-a",
        "  reload      save operator.ts",
        "  keys        h help, r restart, t try again, o objects, e Events on and off, q quit",
        "",
      ].join("\n"),
    );
    // The definitions of a real cluster are not only ours.
    expect(io.err()).toContain("version 1 started namespaces=[ 'team-a' ] events=all again=false\n");
    write("operator.ts", fixture("version 2"));
    // Whatever waited for its retry on the real cluster waited on at the start; after a save it is tried at once.
    await seen(io.err, /version 1 stopped.*version 2 started .*again=true/s);
    io.press("q");
    expect(await code).toBe(0);
    // It was there before, and it is there afterwards.
    const client = await cluster.connect();
    expect((await client.get("namespaces", "default")).name).toBe("default");
    await client.close();
  });

  it("has the deployed operator pause over all reloads with a developer's priority, until it ends", async () => {
    const client = await cluster.connect();
    await client.create(new Lease({ metadata: { name: "fixture", namespace: "default" } }));
    const pause = async () => {
      const { annotations } = (await client.get(Lease, "fixture", { namespace: "default" })).metadata;
      return JSON.parse(annotations?.["lotse.dev/pause"] ?? "null");
    };
    const io = terminal({ KUBECONFIG: await kubeconfig("staging"), USER: "ada" });
    const { code } = begin(io, "dev", "operator.ts", "--real", "--no-console");
    await seen(io.err, "version 1 started");
    expect(io.err()).toMatch(/the deployed operator pauses while this process runs.*lease=default\/fixture/);
    expect(await pause()).toMatchObject({
      by: expect.stringMatching(/^ada@/),
      ...{ priority: 666, message: "lotse dev", lifetime: 30 },
    });
    write("operator.ts", fixture("version 2"));
    await seen(io.err, "version 2 started");
    expect(await pause()).toMatchObject({ priority: 666 });
    io.press("q");
    expect(await code).toBe(0);
    expect(await pause()).toBeNull();
    await client.close();
  });

  it("takes part in a peering with a developer's priority", async () => {
    const peer = fixture("version 1")
      .replace('name: "fixture",', 'name: "fixture", options: { coordination: { type: "peering", name: "ours" } },')
      .replace("start({ log,", "start({ coordination, log,")
      .replace("fields: { namespaces,", "fields: { coordination: JSON.stringify(coordination), namespaces,");
    write("operator.ts", peer);
    const io = terminal({ KUBECONFIG: await kubeconfig("staging") });
    const { code } = begin(io, "dev", "operator.ts", "--real", "--no-console");
    await seen(io.err, "version 1 started");
    expect(io.err().replaceAll("\\", "")).toContain('{"type":"peering","name":"ours","priority":666}');
    io.press("q");
    expect(await code).toBe(0);
  });

  it("asks before it works on what looks like production, and takes no for an answer", async () => {
    const io = terminal({ KUBECONFIG: await kubeconfig("prod-eu") });
    const { code } = begin(io, "dev", "operator.ts", "--real", "--no-console");
    await seen(io.err, "The context prod-eu looks like production. Press y to go on, any other key to stop.\n");
    expect(io.out()).toContain("context prod-eu");
    io.press("n");
    expect(await code).toBe(1);
    expect(io.err()).not.toContain("version 1 started");
  });

  it("does not ask whoever says --yes, and installs definitions for whoever says so", async () => {
    const io = terminal();
    const file = await kubeconfig("prod-eu");
    const flags = ["--real", "--kubeconfig", file, "--context", "prod-eu", "--yes", "--install-crds", "--no-console"];
    const { code } = begin(io, "dev", "operator.ts", ...flags);
    await seen(io.err, "version 1 started crds=install events=all again=false\n");
    io.press("q");
    expect(await code).toBe(0);
  });
});
