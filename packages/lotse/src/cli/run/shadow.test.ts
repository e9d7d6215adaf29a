import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Client, ConfigMap } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Operator, type RunningOperator } from "../../operator/index.ts";
import type { ShadowDifference, ShadowReport } from "../../shadow/index.ts";
import { ask, localSockets } from "../explain/index.ts";
import { testIo } from "../terminal/test-io.ts";
import { type RunOptions, runOperators } from "./run.ts";
import { readOnly, shadowOf } from "./shadow.ts";
import { differenceLines, reportLines } from "./shadow-text.ts";

const difference = (name: string, more: Partial<ShadowDifference> = {}): ShadowDifference => ({
  verdict: "would-change",
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "default",
  name,
  fields: [{ path: "data.rate", is: "1", would: "2" }],
  handlers: ["publish"],
  objects: [{ kind: "Rate", namespace: "default", name: "euro" }],
  since: "2026-01-01T00:00:00Z",
  diff: [" data:", '-  rate: "1"', '+  rate: "2"'],
  ...more,
});

const report = (more: Partial<ShadowReport> = {}): ShadowReport => ({
  operator: "rates",
  beside: ["rates"],
  fromScratch: false,
  differences: [],
  undecided: [],
  untried: [],
  kinds: [],
  compared: 7,
  over: 0,
  unsettled: 0,
  quietMs: 0,
  ...more,
});

describe("the flags of a shadow", () => {
  it.each<[flags: RunOptions, what: string]>([
    [{ untilQuiet: "5m" }, "--until-quiet is for shadows"],
    [{ fromScratch: true }, "--from-scratch is for shadows"],
    [{ output: "json" }, "--output is for shadows"],
    [{ shadow: true, installCrds: true }, "--shadow and --install-crds exclude each other"],
    [{ shadow: true, coordination: "leader" }, "--shadow and --coordination leader exclude each other"],
    [{ shadow: true, dev: true }, "--shadow and --dev exclude each other"],
    [{ shadow: true, peering: "default" }, "--shadow and --peering exclude each other"],
    [{ shadow: true, priority: 5 }, "--shadow and --priority exclude each other"],
    [{ shadow: true, settle: "soon" }, "--settle soon is no duration"],
    [{ shadow: true, untilQuiet: "5" }, "--until-quiet 5 is no duration"],
    [{ shadow: true, untilQuiet: "-5m" }, "--until-quiet -5m is no duration"],
    [{ shadow: true, untilQuiet: "0s" }, "--until-quiet 0s is no time at all"],
  ])("%j is wrong: %s", (flags, what) => {
    expect(() => shadowOf(flags, testIo())).toThrow(expect.objectContaining({ what, exitCode: 2 }));
  });

  it("say how it runs, and without --shadow there is none", () => {
    expect(shadowOf({}, testIo())).toBeUndefined();
    expect(shadowOf({ shadow: true, coordination: "alone", standalone: true }, testIo())?.quietMs).toBeUndefined();
    const flags = {
      shadow: true,
      settle: "2s",
      untilQuiet: "5m",
      beside: ["kopf"],
      compare: ["pods"],
      allowExec: true,
    };
    expect(shadowOf({ ...flags, fromScratch: true }, testIo())).toEqual({
      options: { settle: 2_000, beside: ["kopf"], compare: ["pods"], allowExec: true, fromScratch: true },
      quietMs: 300_000,
    });
  });
});

describe("what was found", () => {
  it("is told object by object, with who wants it and what differs", () => {
    expect(differenceLines([difference("euro-1")], false)).toEqual([
      "ConfigMap default/euro-1: the new version would have it otherwise",
      "  wanted by publish for Rate default/euro",
      "   data:",
      '  -  rate: "1"',
      '  +  rate: "2"',
    ]);
    expect(differenceLines([difference("euro-1")], true)[3]).toBe('  \x1b[31m-  rate: "1"\x1b[0m');
    const kept = difference("old", { verdict: "would-keep", handlers: [], objects: [], diff: [] });
    expect(differenceLines([kept], false)).toEqual([
      "ConfigMap default/old: the new version would have kept it; the old one, or another client, has deleted it",
    ]);
  });

  it("stands together where it looks the same, and is summed up", () => {
    const many = Array.from({ length: 8 }, (_, i) => difference(`euro-${i}`));
    const lines = reportLines([report({ differences: many, over: 1 })], false);
    expect(lines[1]).toBe(
      "  the same: default/euro-1, default/euro-2, default/euro-3, default/euro-4, default/euro-5, and 2 more",
    );
    expect(lines.at(-1)).toBe("8 objects differ, 7 comparisons, 1 difference over");
    expect(reportLines([report()], false)).toEqual(["no difference, 7 comparisons"]);
    expect(reportLines([report({ compared: 0 })], false)).toEqual([
      "no difference, 0 comparisons",
      "nothing has changed meanwhile; --from-scratch compares what is there already",
    ]);
  });

  it("names what could not be tried, and what is not judged for that", () => {
    const object = { apiVersion: "v1", kind: "Pod", namespace: "default", name: "web", uid: "u" };
    const untried = [
      { what: "exec in pods default/web", refused: true, handlers: ["label"], object, times: 3 },
      { what: "POST tokens default/web", refused: false, handlers: [], object: undefined, times: 1 },
    ];
    const undecided = [difference("web", { kind: "Pod" })];
    expect(reportLines([report({ untried, undecided })], false)).toEqual([
      "could not be tried: exec in pods default/web (label for Pod default/web), 3 times",
      "tried, and not compared: POST tokens default/web",
      "not judged, because of what could not be tried or is not known: Pod default/web",
      "no difference, 7 comparisons, 1 not judged",
    ]);
  });
});

describe("lotse run --shadow", () => {
  let cluster: Cluster;
  let client: Client;
  let old: RunningOperator;
  let folder: string;
  let kubeconfig: string;

  const mirror = (value: string) => {
    const operator = new Operator({ name: "mirror" });
    operator.on.create(ConfigMap, { annotations: { mirrored: "yes" } }, async function copy({ name, client, adopt }) {
      await client.create(adopt(ConfigMap.gen({ name: `${name}-copy`, data: { value } })));
    });
    return operator;
  };

  beforeAll(async () => {
    cluster = await Cluster.start();
    client = await cluster.connect();
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-shadow-"));
    kubeconfig = path.join(folder, "kubeconfig");
    writeFileSync(kubeconfig, JSON.stringify(cluster.kubeconfig));
    old = mirror("1").start({ client, log: () => {} });
    await old.ready;
  });

  afterAll(async () => {
    await old.stop();
    await client.close();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a version as a shadow; `play` happens when it is ready. */
  async function run(operator: Operator, flags: RunOptions, play?: () => Promise<unknown>) {
    const io = testIo({ env: { TMPDIR: folder } });
    const options = { shadow: true, settle: "100ms", kubeconfig, yes: true, logFormat: "json", ...flags } as const;
    const ended = runOperators([{ file: "mirror.ts", operator }], options, io);
    if (play) {
      await vi.waitFor(() => expect(io.err()).toContain("the operator is ready"), { timeout: 170_000 });
      await play();
    }
    return { io, ended };
  }

  const original = (name: string) => ConfigMap.gen({ name, annotations: { mirrored: "yes" } });

  it("exits with 0 when nothing has differed for as long as was asked for", async () => {
    // The old version has done its part before: nothing here depends on how fast either of them is.
    await client.create(original("one"));
    await client.wait(ConfigMap, "one-copy", "create", { timeout: "170s" });
    const { io, ended } = await run(mirror("1"), { untilQuiet: "1s", fromScratch: true });
    expect(await ended).toBe(0);
    expect(io.out()).toMatch(/^no difference, \d+ comparisons$/m);
  });

  it("exits with 1 and the list when something differs at the end, for programs as JSON", async () => {
    const { io, ended } = await run(mirror("2"), {
      untilQuiet: "1s",
      output: "json",
      logFormat: "pretty",
      fromScratch: true,
    });
    expect(await ended).toBe(1);
    const { shadows } = JSON.parse(io.out());
    expect(shadows).toMatchObject([
      {
        operator: "mirror",
        differences: [{ name: "one-copy", fields: [{ path: "data.value", is: "1", would: "2" }], handlers: ["copy"] }],
      },
    ]);
  });

  it("answers at /shadow while it runs, and exits with 1 after a signal if something differs", async () => {
    const { io, ended } = await run(mirror("2"), {}, () => client.create(original("two")));
    const asked = async () => {
      const [socket = ""] = localSockets({ env: { TMPDIR: folder } });
      const { status, body } = await ask({ socket }, "/shadow");
      expect(status).toBe(200);
      return (JSON.parse(body) as { shadows: ShadowReport[] }).shadows[0]?.differences ?? [];
    };
    await vi.waitFor(async () => expect(await asked()).toHaveLength(1), { timeout: 170_000, interval: 50 });
    expect(await asked()).toMatchObject([{ verdict: "would-change", name: "two-copy" }]);
    io.send("SIGTERM");
    expect(await ended).toBe(1);
    expect(io.out()).toContain("ConfigMap default/two-copy: the new version would have it otherwise\n  wanted by copy");
    expect(io.out()).toMatch(/^1 object differs, \d+ comparison/m);
  });

  it("does not run an operator of a copy of the package that would write", async () => {
    const operator = Object.assign(mirror("1"), { canShadow: undefined });
    const options = { shadow: true, kubeconfig };
    const ended = runOperators([{ file: "mirror.ts", operator: operator as never }], options, testIo());
    await expect(ended).rejects.toMatchObject({ what: "the operator mirror cannot be a shadow", exitCode: 1 });
  });

  it("refuses what is written without a handler's client", async () => {
    const guarded = readOnly(client);
    await expect(guarded.create(original("three"))).rejects.toMatchObject({
      message: "a shadow writes through its handlers' client alone, and not POST /api/v1/namespaces/default/configmaps",
    });
    expect((await guarded.get(ConfigMap, "one")).name).toBe("one");
  });
});
