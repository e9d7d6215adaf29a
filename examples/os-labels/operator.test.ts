import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { startHarness } from "@lotse/testing";
import type { RunningOperator } from "lotse";
import { type Client, loadManifests, Pod } from "lotse/client";
import { afterEach, describe, expect, it, vi } from "vitest";
import operator from "./operator.ts";
import { clean, labelsOf } from "./os-release.ts";
import { scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

const manifest = new URL("manifests/pod.yaml", import.meta.url);

describe("a pod whose container runs", () => {
  let cluster: Cluster;
  let client: Client;
  let running: RunningOperator | undefined;

  afterEach(async () => {
    await running?.stop();
    await client.close();
    await cluster.stop();
  });

  async function start(options: Parameters<typeof Cluster.start>[0], clock?: VirtualClock) {
    cluster = await Cluster.start(options);
    client = await cluster.connect();
    running = operator.start({ client, log: () => {}, ...(clock && { clock }) });
    await running.ready;
  }

  const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 15_000, interval: 20 });

  it("is labelled with what its container says of itself, in a real process", async () => {
    // The pod lives in real time; the operator's ten seconds pass at once.
    const clock = new VirtualClock();
    await start({ kubelet: "process" }, clock);
    for (const object of await loadManifests(manifest)) await client.create(object);
    const pod = await client.get(Pod, "lamp");
    await pod.waitReady({ timeout: "15s" });
    await eventually(async () => {
      await clock.advance(10_000);
      expect((await pod.refresh()).labels).toHaveProperty(["os-release/ID"]);
    });
    expect(pod.labels).toEqual({
      "os-release/PRETTY_NAME": "Lighthouse_Linux_7_beacon",
      "os-release/NAME": "Lighthouse_Linux",
      "os-release/ID": "lighthouse",
      "os-release/VERSION_ID": "7",
    });
  });

  it("whose container has no os-release is called unknown", async () => {
    const clock = new VirtualClock();
    await start({ kubelet: "simulate" }, clock);
    cluster.pods.program("bare", { exec: { exitCode: 1, stderr: "cat: no such file\n" } });
    const pod = await client.create(Pod.gen({ name: "bare", image: "scratch" }));
    await pod.waitReady({ timeout: "15s" });
    await eventually(async () => {
      await clock.advance(10_000);
      expect((await pod.refresh()).labels).toEqual({ "os-release/id": "unknown" });
    });
  });
});

describe("labels", () => {
  it("are made of the lines of an os-release file", () => {
    expect(labelsOf('# a comment\nID=debian\n\nHOME_URL="https://www.debian.org/"\nEMPTY=\n')).toEqual({
      "os-release/ID": "debian",
      "os-release/HOME_URL": "https_www.debian.org",
      "os-release/EMPTY": "",
    });
  });

  it("have no more than 63 characters, and begin and end with a letter or digit", () => {
    expect(clean(`(${"a".repeat(80)})`)).toBe("a".repeat(63));
    expect(clean("--a b--")).toBe("a_b");
  });
});
