import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ObjectQuestion, Observed } from "../../report/index.ts";
import { main } from "../main.ts";
import { serveExplain } from "../run/index.ts";
import { testIo } from "../terminal/test-io.ts";
import { listenLocally } from "./local-socket.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "lr-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const known: Record<string, readonly string[]> = { "team-a/m1": ["flip", "paint"], "default/quiet": [] };

/** Two handlers wait on `team-a/m1`, and none on `default/quiet`. */
const OPERATOR: Observed = {
  health: () => ({ operator: "machines", phase: "ready", streams: [], missing: [] }),
  metrics: () => "",
  probe: async () => ({}),
  explain: () => undefined,
  retry: ({ namespace = "default", name }: ObjectQuestion) => {
    const handlers = known[`${namespace}/${name}`];
    return handlers && { operator: "machines", handlers };
  },
};

async function call(...argv: string[]) {
  const io = testIo({ env: { XDG_RUNTIME_DIR: folder } });
  const code = await main(["retry", ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

const listen = (operators: readonly Observed[] = [OPERATOR]) =>
  listenLocally({ env: { XDG_RUNTIME_DIR: folder } }, () => operators);

describe("lotse retry", () => {
  it("tells which handlers are tried again now", async () => {
    await using _socket = await listen();
    expect(await call("machine", "team-a/m1")).toEqual({
      code: 0,
      out: "machine team-a/m1: tried again now: flip, paint (machines)\n",
      err: "",
    });
    expect(await call("machine", "m1", "-n", "team-a", "-o", "json")).toMatchObject({
      code: 0,
      out: `${JSON.stringify({ retries: [{ operator: "machines", handlers: ["flip", "paint"] }] }, undefined, 2)}\n`,
    });
  });

  it("tells that nothing waits, which is no failure", async () => {
    await using _socket = await listen();
    expect(await call("machine", "quiet")).toEqual({
      code: 0,
      out: "machine default/quiet: nothing waits for a retry (machines)\n",
      err: "",
    });
  });

  it("asks the operator at a URL", async () => {
    await using served = await serveExplain("http://127.0.0.1:0", () => [OPERATOR]);
    const { code, out } = await call("machine", "team-a/m1", "--url", `http://127.0.0.1:${served.port}`);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("flip, paint (machines)") });
  });

  it("fails with 1 when nobody knows the object, or nobody runs, and with 2 when it is called wrongly", async () => {
    expect(await call("machine", "m1")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Error: no operator runs on this machine\nWhy: .*\nDo: .*\n$/),
    });
    const { retry: _, ...older } = OPERATOR;
    await using _socket = await listen([OPERATOR, older]);
    expect(await call("machine", "m2")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^Error: no operator knows machine default\/m2\nWhy: .*\nDo: .*\n$/),
    });
    expect(await call("machine")).toMatchObject({ code: 2 });
    expect(await call("machine", "m1", "--url", "localhost")).toMatchObject({ code: 2 });
  });
});
