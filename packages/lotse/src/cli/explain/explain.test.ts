import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Explanation, JournalTurn, ObjectQuestion, Observed, Wake } from "../../report/index.ts";
import { main } from "../main.ts";
import { serveExplain, serveLiveness } from "../run/index.ts";
import { testIo } from "../terminal/test-io.ts";
import { listenLocally, localSockets, pidOf, socketFolders } from "./local-socket.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "lx-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const quietTurn = (at: string, tookMs: number, by: Wake["by"], after: JournalTurn["after"]): JournalTurn => {
  return { at: Date.parse(at), tookMs, woke: [{ by }], version: "42", ran: [], wrote: [], after };
};

const EXPLANATION: Explanation = {
  operator: "machines",
  object: {
    apiVersion: "example.com/v1",
    kind: "Machine",
    namespace: "team-a",
    name: "m1",
    uid: "1",
    resourceVersion: "42",
    generation: 3,
    deleting: false,
  },
  state: "waits",
  open: [{ handler: "flip", reason: "update", attempts: 2, message: "not ready", steps: ["unlock"] }],
  turns: [
    {
      at: Date.parse("2026-01-01T12:00:00Z"),
      tookMs: 15,
      woke: [{ by: "modified", what: "41" }],
      version: "41",
      ran: [
        { handler: "flip", runId: "k3x9f-1", reason: "update", outcome: "failed", message: "not ready", tookMs: 12 },
      ],
      children: ["ConfigMap m1 was repaired: data.on, changed by kubectl-edit"],
      wrote: [{ what: "status, record", version: "42" }],
      after: "goes on",
    },
    quietTurn("2026-01-01T12:00:00.015Z", 1, "again", "waits"),
    {
      ...quietTurn("2026-01-01T12:00:05.016Z", 1, "outside", "waits"),
      woke: [{ by: "outside", what: "source mail: a letter" }],
    },
  ],
};

const OPERATOR: Observed = {
  health: () => ({ operator: "machines", phase: "ready", streams: [], missing: [] }),
  metrics: () => "",
  probe: async () => ({}),
  explain: ({ kind, namespace, name }) =>
    kind === "machine" && namespace === "team-a" && name === "m1" ? EXPLANATION : undefined,
};

async function call(...argv: string[]) {
  const io = testIo({ env: { XDG_RUNTIME_DIR: folder } });
  const code = await main(["explain", ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

describe("lotse explain", () => {
  it("asks the operators of this machine", async () => {
    await using _socket = await listenLocally({ env: { XDG_RUNTIME_DIR: folder } }, () => [OPERATOR]);
    const { code, out, err } = await call("machine", "team-a/m1");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(
      [
        "Machine team-a/m1 (example.com/v1)",
        "  operator    machines",
        "  state       waits until something changes",
        "  version     42, generation 3",
        '  unfinished  flip (update), 2 attempts, "not ready", steps done: unlock',
        "  turns       the last 3, oldest first",
        "",
        "2026-01-01T12:00:00.000Z  woken by modified (version 41)",
        "  looked at version 41, took 15ms",
        "  flip (update) failed after 12ms, run k3x9f-1: not ready",
        "  child ConfigMap m1 was repaired: data.on, changed by kubectl-edit",
        "  wrote status, record, version 42 now",
        "  goes on at once",
        "",
        "2026-01-01T12:00:00.015Z  woken by again",
        "  looked at version 42, took 1ms",
        "  no handler ran",
        "  waited for 5s",
        "",
        "2026-01-01T12:00:05.016Z  woken by outside (source mail: a letter)",
        "  looked at version 42, took 1ms",
        "  no handler ran",
        "  waits until something changes",
        "",
      ].join("\n"),
    );
  });

  it("tells when an object is due that waits for a time, and that one is gone", async () => {
    const nextAt = Date.now() + 3_600_000;
    const due = { ...quietTurn("2026-01-01T12:00:00Z", 1, "modified", "waits"), nextAt };
    const gone = quietTurn("2026-01-01T12:00:00Z", 1, "deleted", "ends");
    const explanations: Record<string, Explanation> = {
      due: { ...EXPLANATION, nextAt, turns: [due] },
      gone: { ...EXPLANATION, state: "gone", turns: [gone] },
    };
    const operator = { ...OPERATOR, explain: ({ name }: ObjectQuestion) => explanations[name] };
    await using _socket = await listenLocally({ env: { XDG_RUNTIME_DIR: folder } }, () => [operator]);
    const { out: waiting } = await call("machine", "due");
    const moment = `${new Date(nextAt).toISOString()} (in `;
    expect(waiting).toContain(`  state       waits, due ${moment}`);
    expect(waiting).toContain("  turns       one\n");
    expect(waiting).toContain(`\n  due again ${moment}`);
    expect(waiting).not.toContain("until something changes");
    const { out: ended } = await call("machine", "gone");
    expect(ended).toContain("  state       is gone\n");
    expect(ended).toContain("\n  was the last: the object is gone\n");
  });

  it.each([
    [{ state: "pending", forMs: 10_000 }, "due in 20s"],
    [{ state: "late", forMs: 130_000 }, "late, not ready for 2m10s"],
    [{ state: "ready", tookMs: 4_000 }, "it took 4s"],
    [{ state: "ready", tookMs: 40_000 }, "late, it took 40s"],
    [{ state: "ready" }, "it is"],
    [{ state: "unknown" }, "not measured, the change is older than the process"],
  ] as const)("tells whether an object is ready in the time that its kind promises: %j", async (stands, words) => {
    const objective = { readyMs: 30_000, of: 0.99, generation: 3, ...stands };
    const operator = { ...OPERATOR, explain: () => ({ ...EXPLANATION, objective }) };
    await using _socket = await listenLocally({ env: { XDG_RUNTIME_DIR: folder } }, () => [operator]);
    const { out } = await call("machine", "team-a/m1");
    expect(out).toContain(`\n  objective   ready within 30s of a change: ${words} (generation 3)\n`);
  });

  it("gives programs all of it", async () => {
    await using _socket = await listenLocally({ env: { XDG_RUNTIME_DIR: folder } }, () => [OPERATOR]);
    const { out } = await call("machine", "m1", "-n", "team-a", "-o", "json");
    expect(JSON.parse(out)).toEqual({ explanations: [EXPLANATION] });
  });

  it("asks the operator at a URL", async () => {
    await using served = await serveExplain("http://127.0.0.1:0", () => [OPERATOR]);
    const { code, out } = await call("machine", "team-a/m1", "--url", `http://127.0.0.1:${served.port}`);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("operator    machines") });
  });

  it("says that it was sent to where health is served, and where to go", async () => {
    await using served = await serveLiveness("http://127.0.0.1:0", () => [OPERATOR]);
    expect(await call("machine", "team-a/m1", "--url", `http://127.0.0.1:${served.port}`)).toEqual({
      code: 1,
      out: "",
      err: [
        "Error: no questions are answered there",
        "Why:   it is where the operator serves health",
        "Do:    name the address of its --explain: kubectl port-forward deployment/NAME 8081, then --url http://localhost:8081",
        "",
      ].join("\n"),
    });
  });

  it("says that nobody knows the object", async () => {
    await using _socket = await listenLocally({ env: { XDG_RUNTIME_DIR: folder } }, () => [OPERATOR]);
    expect(await call("machine", "m2")).toEqual({
      code: 1,
      out: "",
      err: [
        "Error: no operator knows machine default/m2",
        "Why:   it is of a kind that nobody handles, its namespace is not served, settings.watching leaves it out, or it does not exist",
        "Do:    check with: kubectl get machine --all-namespaces",
        "",
      ].join("\n"),
    });
  });

  it("says that no operator runs, also when one has left its socket behind", async () => {
    const { code, err } = await call("machine", "m1");
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("no operator runs on this machine") });
    await (await listenLocally({ env: { XDG_RUNTIME_DIR: folder } }, () => []))?.close();
    writeFileSync(path.join(socketFolders({ env: { XDG_RUNTIME_DIR: folder } })[0] ?? "", "1.sock"), "");
    expect((await call("machine", "m1")).err).toContain("no operator runs on this machine");
  });

  it("says that nobody answers at a URL, or that it is none", async () => {
    expect((await call("machine", "m1", "--url", "http://127.0.0.1:1")).err).toBe(
      [
        "Error: nobody answers at http://127.0.0.1:1",
        "Why:   connection refused",
        "Do:    check that the operator runs with --explain, and that this port is forwarded",
        "",
      ].join("\n"),
    );
    expect(await call("machine", "m1", "--url", "localhost")).toMatchObject({ code: 2 });
  });

  it("needs a kind and a name", async () => {
    expect(await call("machine")).toMatchObject({
      code: 2,
      err: expect.stringContaining("missing required argument 'name'"),
    });
  });
});

describe("the socket", () => {
  it("is in a folder of its user alone, and goes with the process's endpoints", async () => {
    const io = { env: { XDG_RUNTIME_DIR: folder } };
    const endpoints = await listenLocally(io, () => [OPERATOR]);
    expect(statSync(socketFolders(io)[0] ?? "").mode & 0o777).toBe(0o700);
    expect(localSockets(io)).toHaveLength(1);
    await endpoints?.close();
    expect(localSockets(io)).toEqual([]);
  });

  it.runIf(existsSync("/dev/shm"))("is in the shared memory where no temporary folder can be written to", async () => {
    writeFileSync(path.join(folder, "file"), "");
    const io = { env: { TMPDIR: path.join(folder, "file") } };
    const before = localSockets(io);
    await using _endpoints = await listenLocally(io, () => [OPERATOR]);
    const [socket = "", ...more] = localSockets(io).filter((one) => !before.includes(one));
    expect(more).toEqual([]);
    expect(socket.startsWith("/dev/shm/lotse-")).toBe(true);
    expect(pidOf(socket)).toBe(process.pid);
    expect(statSync(path.dirname(socket)).mode & 0o777).toBe(0o700);
  });

  it("is done without where it cannot be", async () => {
    writeFileSync(path.join(folder, "file"), "");
    expect(await listenLocally({ env: { XDG_RUNTIME_DIR: path.join(folder, "file") } }, () => [])).toBeUndefined();
  });
});
