import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Observed, OperatorMemory } from "../../report/index.ts";
import { main } from "../main.ts";
import { serveExplain } from "../run/index.ts";
import { testIo } from "../terminal/test-io.ts";
import { listenLocally } from "./local-socket.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "lm-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const MEMORY: OperatorMemory = {
  operator: "machines",
  kinds: [
    {
      apiVersion: "example.com/v1",
      kind: "Machine",
      objects: 2,
      bytes: 900,
      bytesPerObject: 450,
      largest: [{ path: "status.lotse", share: 0.5 }],
      readers: [{ as: "handler", id: "boot" }],
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      objects: 1_200,
      bytes: 9_830_400,
      bytesPerObject: 8_192,
      sampled: 200,
      largest: [
        { path: "spec.containers", share: 0.413 },
        { path: "status.conditions", share: 0.2 },
      ],
      readers: [
        { as: "index", id: "byNode" },
        { as: "watches", id: "count", keep: ["status.phase"] },
      ],
      hint: "only read, and kept whole for want of keep: byNode (index)",
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      objects: 0,
      bytes: 0,
      bytesPerObject: 0,
      keep: [],
      largest: [],
      readers: [{ as: "reads", id: "boot", keep: [] }],
    },
  ],
};

const OPERATOR: Observed = {
  health: () => ({ operator: "machines", phase: "ready", streams: [], missing: [] }),
  metrics: () => "",
  probe: async () => ({}),
  explain: () => undefined,
  memory: () => MEMORY,
};

async function call(...argv: string[]) {
  const io = testIo({ env: { XDG_RUNTIME_DIR: folder } });
  const code = await main(["explain", ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

const listen = (operators: readonly Observed[] = [OPERATOR]) =>
  listenLocally({ env: { XDG_RUNTIME_DIR: folder } }, () => operators);

describe("lotse explain --memory", () => {
  it("prints a table by kind, the largest first, and what is known to help", async () => {
    await using _socket = await listen();
    const { code, out, err } = await call("--memory");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(
      [
        "operator machines: 1,202 objects, about 9.4 MiB of JSON",
        "",
        "KIND     OBJECTS  JSON      EACH      KEPT      LARGEST FIELDS                                READ BY",
        "Pod      1,200    ~9.4 MiB  ~8.0 KiB  all       spec.containers 41 %, status.conditions 20 %  byNode (index), count (watches)",
        "Machine  2        900 B     450 B     all       status.lotse 50 %                             boot",
        "Secret   0        0 B       -         metadata  -                                             boot (reads)",
        "",
        "Pod: measured 200 of 1,200 objects",
        "Pod: only read, and kept whole for want of keep: byNode (index)",
        "",
      ].join("\n"),
    );
  });

  it("gives programs all of it, also from a URL", async () => {
    await using served = await serveExplain("http://127.0.0.1:0", () => [OPERATOR]);
    const { code, out } = await call("--memory", "--url", `http://127.0.0.1:${served.port}`, "-o", "json");
    expect({ code, told: JSON.parse(out) }).toEqual({ code: 0, told: { memory: [MEMORY] } });
  });

  it("says that no operator runs, or that none of them tells it", async () => {
    expect(await call("--memory")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^Error: no operator runs on this machine\nWhy: .*\nDo: .*\n$/),
    });
    const { memory: _, ...older } = OPERATOR;
    await using _socket = await listen([older]);
    expect(await call("--memory")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Error: no operator tells what it keeps\nWhy: .*\nDo: .*\n$/),
    });
  });

  it("takes no object, and without it an object is needed", async () => {
    expect(await call("--memory", "pod")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--memory is about all kinds"),
    });
    expect(await call()).toMatchObject({
      code: 2,
      err: expect.stringContaining("missing required argument 'kind'"),
    });
  });

  it("has an example in its help", async () => {
    const { out } = await call("--help");
    expect(out).toContain("lotse explain --memory");
  });
});
