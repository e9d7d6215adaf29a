import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { startHarness } from "@lotse/testing";
import { build } from "esbuild";
import type { LogRecord, RunningOperator } from "lotse";
import { type Client, type ConfigMap, loadManifests, Pod } from "lotse/client";
import { afterEach, describe, expect, it, vi } from "vitest";
import operator from "./operator.ts";
import { clean, labelsOf } from "./os-release.ts";
import { scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

const here = (file: string) => new URL(file, import.meta.url);
const manifests = await loadManifests(here("manifests/debian.yaml"));
const DEBIAN = (manifests[0] as ConfigMap).data["os-release"] ?? "";

const LABELS = {
  "os-release/bug-report-url": "httpsbugs.debian.org",
  "os-release/home-url": "httpswww.debian.org",
  "os-release/id": "debian",
  "os-release/name": "DebianGNULinux",
  "os-release/pretty-name": "DebianGNULinux12bookworm",
  "os-release/support-url": "httpswww.debian.orgsupport",
  "os-release/version": "12bookworm",
  "os-release/version-codename": "bookworm",
  "os-release/version-id": "12",
};

describe("a pod whose container runs", { timeout: 300_000 }, () => {
  let cluster: Cluster;
  let client: Client;
  let running: RunningOperator | undefined;
  let log: LogRecord[];
  /** The pod lives in real time; the operator's ten seconds pass at once. */
  let clock: VirtualClock;

  afterEach(async () => {
    await running?.stop();
    await client.close();
    await cluster.stop();
  });

  async function start(kubelet: "simulate" | "process") {
    clock = new VirtualClock();
    cluster = await Cluster.start({ kubelet });
    client = await cluster.connect();
    log = [];
    running = operator.start({ client, clock, log: (record) => log.push(record) });
    await running.ready;
  }

  async function labelled(pod: Pod): Promise<Readonly<Record<string, string>>> {
    await vi.waitFor(
      async () => {
        await clock.advance(10_000);
        expect((await pod.refresh()).labels).toHaveProperty(["os-release/id"]);
      },
      { timeout: 170_000, interval: 20 },
    );
    return pod.labels;
  }

  const errors = () => log.filter(({ level }) => level === "error").map(({ message }) => message);

  it("is labelled with what its container says of itself, in a real process", async () => {
    await start("process");
    for (const object of manifests) await client.create(object);
    expect(await labelled(await client.get(Pod, "debian"))).toEqual(LABELS);
    expect(errors()).toEqual([]);
  });

  it("is called unknown when its image has no such file", async () => {
    await start("simulate");
    cluster.pods.program("bare", { exec: { exitCode: 1, stderr: "cat: no such file\n" } });
    const pod = await client.create(Pod.gen({ name: "bare", image: "scratch" }));
    expect(await labelled(pod)).toEqual({ "os-release/id": "unknown" });
    expect(errors()).toEqual(["the image has no /etc/os-release, or no cat"]);
  });

  it("is called unknown when its image has no cat", async () => {
    await start("process");
    const command = [process.execPath, "--eval", "setInterval(() => {}, 1000)"];
    const pod = await client.create(Pod.gen({ name: "bare", image: "scratch", command, env: { PATH: "/nowhere" } }));
    expect(await labelled(pod)).toEqual({ "os-release/id": "unknown" });
    expect(errors()).toEqual(["the image has no /etc/os-release, or no cat"]);
  });

  it("is made, waited for and looked at in a session, which prints what the README shows", async () => {
    const readme = readFileSync(here("README.md"), "utf8");
    expect(readme).toContain(`\`\`\`ts\n${readFileSync(here("session.ts"), "utf8")}\`\`\``);
    await start("simulate");
    cluster.pods.program({ image: "nginx:latest" }, { exec: { "cat /etc/os-release": DEBIAN } });
    const folder = await mkdtemp(path.join(os.tmpdir(), "lotse-session-"));
    try {
      const [file, kubeconfig] = [path.join(folder, "session.mjs"), path.join(folder, "kubeconfig")];
      await build({
        entryPoints: [fileURLToPath(here("session.ts"))],
        outfile: file,
        bundle: true,
        platform: "node",
        format: "esm",
        target: "node20",
        conditions: ["@lotse/source"],
        banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
        logLevel: "silent",
      });
      await cluster.writeKubeconfig(kubeconfig);
      const session = promisify(execFile)(process.execPath, [file], {
        env: { ...process.env, KUBECONFIG: kubeconfig },
      });
      const pod = await vi.waitFor(() => client.get(Pod, "test-pod"), { timeout: 170_000, interval: 20 });
      const [{ stdout }] = await Promise.all([session, labelled(pod)]);
      expect(readme).toContain(`\`\`\`text\n${stdout}\`\`\``);
      expect(stdout.split("\n").slice(1, -2)).toEqual(
        Object.entries(LABELS).map(([key, value], i) => `  '${key}': '${value}'${i < 8 ? "," : ""}`),
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("labels", () => {
  it("are made of the lines of an os-release file", () => {
    expect(labelsOf(DEBIAN)).toEqual(LABELS);
    expect(labelsOf('# a comment\n\nVARIANT_ID=\n  CPE_NAME="a=b"\nno line\n')).toEqual({
      "os-release/variant-id": "",
      "os-release/cpe-name": "ab",
    });
  });

  it("have no more than 63 characters, and begin and end with a letter or digit", () => {
    expect(clean(`(${"a".repeat(80)})`)).toBe("a".repeat(63));
    expect(clean("--a b--")).toBe("ab");
    expect(clean(`${"a".repeat(62)}-b`)).toBe("a".repeat(62));
  });
});
