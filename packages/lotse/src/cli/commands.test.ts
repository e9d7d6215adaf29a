/** The commands on an embedded cluster, in this process. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "./main.ts";
import { type TestIo, testIo } from "./terminal/test-io.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-commands-"));
  writeFileSync(path.join(cwd, "package.json"), '{"type":"module"}');
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** An operator that tells in the log what is done to it; by the framework's brand, so that it needs no package. */
const fixture = (version: string, stopped = "new Promise((resolve) => { end = resolve; })") => `
let end: () => void = () => {};
export default {
  [Symbol.for("lotse.Operator")]: true,
  name: "fixture",
  resources: [{ resource: "pods", handlers: [] }],
  start({ log, namespaces, signal }: any) {
    const tell = (message: string) => log({ time: 0, level: "info", message, fields: { namespaces }, object: undefined });
    tell("${version} started");
    const stopped = ${stopped};
    const stop = async () => { tell("${version} stopped"); end(); };
    signal?.addEventListener("abort", stop);
    return { ready: Promise.resolve(), stopped, stop, idle: async () => {} };
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

describe("lotse cluster", () => {
  it("starts a cluster, writes a kubeconfig for its owner alone, and ends with 0 when asked to", async () => {
    const io = testIo({ cwd });
    const { code } = begin(io, "cluster");
    await seen(io.out, "export KUBECONFIG=");
    const kubeconfig = path.join(cwd, ".lotse", "kubeconfig");
    expect(io.out()).toContain(kubeconfig);
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    const client = await Client.connect({ kubeconfig });
    expect((await client.get("namespaces", "default")).name).toBe("default");
    await client.close();
    io.send("SIGTERM");
    expect(await code).toBe(0);
    expect(io.err()).toBe("");
  });

  it("puts the programs of envtest into a folder, and tells how to use them or why it cannot", async () => {
    const io = testIo({ cwd });
    expect(await main(["cluster", "--envtest", "bin"], io)).toBe(0);
    expect(io.out()).toContain(`export KUBEBUILDER_ASSETS=${path.join(cwd, "bin")}`);
    expect(statSync(path.join(cwd, "bin", "kube-apiserver")).mode & 0o111).toBe(0o111);
    const json = testIo({ cwd });
    expect(await main(["cluster", "--envtest", "bin", "-o", "json"], json)).toBe(0);
    expect(JSON.parse(json.out()).programs).toEqual(
      ["etcd", "kube-apiserver"].map((name) => path.join(cwd, "bin", name)),
    );
    const wrong = testIo({ cwd });
    expect(await main(["cluster", "--envtest", "bin/etcd/below"], wrong)).toBe(1);
    expect(wrong.err()).toContain("the programs for envtest cannot be put into bin/etcd/below");
  });

  it("says in one line at start that manifests run with your rights, where pods are processes", async () => {
    const io = testIo({ cwd });
    const { code } = begin(io, "cluster", "--kubelet", "process", "-o", "json");
    await seen(io.out, "\n");
    expect(io.err()).toBe(
      "Warning: --kubelet process runs what manifests say on this machine, with your rights: apply none that you do not trust\n",
    );
    io.send("SIGTERM");
    expect(await code).toBe(0);
  });

  it("prints one line of JSON for programs", async () => {
    const io = testIo({ cwd });
    const { code } = begin(io, "cluster", "-o", "json", "--plain-http", "--kubeconfig", "here.yaml");
    await seen(io.out, "\n");
    const told = JSON.parse(io.out());
    expect(told).toMatchObject({ url: `http://127.0.0.1:${told.port}`, kubeconfig: path.join(cwd, "here.yaml") });
    io.send("SIGINT");
    expect(await code).toBe(0);
  });

  it("keeps the cluster in a folder, tells what it had to cut off, and what is damaged", async () => {
    const run = async (work: (client: Client) => Promise<void>) => {
      const io = testIo({ cwd });
      const { code } = begin(io, "cluster", "--data", "data");
      await seen(io.out, "export KUBECONFIG=");
      const client = await Client.connect({ kubeconfig: path.join(cwd, ".lotse", "kubeconfig") });
      await work(client);
      await client.close();
      io.send("SIGTERM");
      expect(await code).toBe(0);
      return io;
    };
    const first = await run(async (client) => {
      await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "kept" } });
    });
    expect(first.out()).toContain(`its data stays in ${path.join(cwd, "data")}`);
    const log = path.join(cwd, "data", "log-0000000000000001");
    const size = statSync(log).size;
    writeFileSync(log, "half a record", { flag: "a" });
    const second = await run(async (client) => {
      expect((await client.get("namespaces", "kept")).name).toBe("kept");
    });
    expect(second.err()).toMatch(`Warning: 13 bytes at the end of ${log} were cut off at byte ${size}`);
    const bytes = readFileSync(log);
    bytes[100] = (bytes[100] as number) ^ 1;
    writeFileSync(log, bytes);
    const third = testIo({ cwd });
    expect(await main(["cluster", "--data", "data"], third)).toBe(1);
    expect(third.err()).toMatch(
      /^Error: the data in .* is damaged at byte \d+.*\n(Why: .*\n)?Do: +nothing was changed: .*\n$/,
    );
    expect(readFileSync(log).equals(bytes)).toBe(true);
  });

  it("says that a port is taken", async () => {
    const other = await Cluster.start();
    const io = testIo({ cwd });
    expect(await main(["cluster", "--port", String(other.port)], io)).toBe(1);
    expect(io.err()).toMatch(new RegExp(`^Error: port ${other.port} is taken\nWhy: .*\nDo: .*--port.*\n$`));
    await other.stop();
  });
});

describe("lotse run", () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await Cluster.start();
    await cluster.writeKubeconfig(path.join(cwd, "kubeconfig"));
  });

  afterEach(() => cluster.stop());

  it("tells where it runs before it begins, and ends with 0 when asked to", async () => {
    write("operator.ts", fixture("it"));
    const io = testIo({ cwd, env: { KUBECONFIG: path.join(cwd, "kubeconfig") } });
    const argv = ["run", "operator.ts", "-n", "a", "-n", "b,c", "--log-format", "pretty"];
    const { code } = begin(io, ...argv);
    await seen(io.err, "it started");
    expect(io.out()).toContain("fixture (operator.ts)");
    expect(io.out()).toMatch(new RegExp(`cluster +${cluster.url}`));
    expect(io.out()).toMatch(/identity +kubernetes-admin\n/);
    expect(io.out()).toMatch(/namespaces +a, b, c\n/);
    expect(io.out()).toMatch(/kinds +pods\n/);
    io.send("SIGTERM");
    expect(await code).toBe(0);
    expect(io.err()).toContain("it stopped");
  });

  it("tells that an operator has no handlers, and runs it all the same", async () => {
    write("operator.ts", fixture("it").replace(/resources: .*/, "resources: [], activities: [],"));
    const io = testIo({ cwd });
    const { code } = begin(io, "run", "operator.ts", "--kubeconfig", "kubeconfig", "--log-format", "pretty");
    await seen(io.err, "it started");
    expect(io.err()).toMatch(/WARN {2}the operator has no handlers, so it will never do anything operator=fixture/);
    io.send("SIGTERM");
    expect(await code).toBe(0);
  });

  it("logs nothing but JSON where nobody reads", async () => {
    write("operator.ts", fixture("it"));
    const io = testIo({ cwd });
    const { code } = begin(io, "run", "operator.ts", "--kubeconfig", "kubeconfig");
    await seen(io.err, "it started");
    io.send("SIGINT");
    expect(await code).toBe(0);
    expect(io.out()).toBe("");
    const messages = io
      .err()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).message);
    expect(messages.slice(0, 3)).toEqual(["connected to the cluster", "starting the operator", "it started"]);
  });

  it("stops the others and exits with 1 when an operator cannot start", async () => {
    write("good.ts", fixture("good"));
    const failing = fixture("bad", `Promise.reject(new Error("no rates today"))`).replace('"fixture"', '"other"');
    write("bad.ts", failing);
    const io = testIo({ cwd });
    expect(await main(["run", "good.ts", "bad.ts", "--kubeconfig", "kubeconfig", "-q"], io)).toBe(1);
    expect(io.err()).toMatch(/^Error: no rates today\nWhy: {3}it was thrown at bad\.ts:\d+:\d+\nDo: .*--verbose.*\n$/);
  });
});
