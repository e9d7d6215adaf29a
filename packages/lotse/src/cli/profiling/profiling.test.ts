import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import os from "node:os";
import path from "node:path";
import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { COMMAND_HEADER, Logger, type LogRecord, openEndpoints } from "../../report/index.ts";
import { testIo } from "../terminal/test-io.ts";
import { Profiling } from "./profiling.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "lotse-profiling-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function profiled() {
  const clock = new VirtualClock();
  const logs: LogRecord[] = [];
  const logger = new Logger(
    (line) => logs.push(line),
    () => 0,
  );
  const said = (message: string) =>
    vi.waitFor(() => expect(logs.map((line) => line.message)).toContain(message), 60_000);
  /** Lets the time pass for which is recorded, once it has begun. */
  const pass = async (ms: number) => {
    await vi.waitFor(() => expect(clock.pending).toBe(1), 60_000);
    await clock.advance(ms);
  };
  return { clock, logs, said, pass, profiling: new Profiling({ logger, clock }) };
}

describe("a signal", () => {
  it("has one profile at a time written, for its user alone", async () => {
    const { logs, said, pass, profiling } = profiled();
    const io = testIo();
    const end = profiling.onSignal(io, folder);
    io.askForProfile();
    io.askForProfile();
    expect(logs.map(({ level, message }) => [level, message])).toEqual([
      ["info", "a CPU profile is made"],
      ["warn", "a profile is being made already"],
    ]);
    await pass(10_000);
    await said("the profile is written");
    const [name = "", ...more] = readdirSync(folder);
    expect(more).toEqual([]);
    const file = path.join(folder, name);
    expect(logs.at(-1)?.fields).toMatchObject({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      nodes: expect.any(Array),
      samples: expect.any(Array),
    });
    end();
    const before = logs.length;
    io.askForProfile();
    expect(logs).toHaveLength(before);
  });

  it("is answered by a line with a hint where nothing can be written, and the next one is heard", async () => {
    const { logs, said, pass, profiling } = profiled();
    const io = testIo();
    profiling.onSignal(io, path.join(folder, "nowhere"));
    io.askForProfile();
    await pass(10_000);
    await said("the profile could not be written");
    expect(logs.at(-1)).toMatchObject({
      level: "error",
      fields: { error: expect.stringContaining("ENOENT"), hint: expect.stringContaining("--profile-folder") },
    });
    io.askForProfile();
    expect(logs.at(-1)?.message).toBe("a CPU profile is made");
    await pass(10_000);
  });
});

describe("a question at the socket", () => {
  const ask = (socketPath: string, pathname: string, method = "POST", headers = { [COMMAND_HEADER]: "lotse" }) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const sent = request({ socketPath, path: pathname, method, headers }, async (response) => {
        let text = "";
        for await (const part of response.setEncoding("utf8")) text += part as string;
        resolve({ status: response.statusCode, text });
      });
      sent.on("error", reject).end();
    });

  it("is answered with the profile, and others beside it as before", async () => {
    const { pass, profiling } = profiled();
    const socket = path.join(folder, "s.sock");
    await using _endpoints = await openEndpoints({ socket }, () => [], profiling.besides);
    const answer = ask(socket, "/profile?cpu=5s");
    await pass(5_000);
    const { status, text } = await answer;
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ nodes: expect.any(Array) });
    expect(await ask(socket, "/readyz", "GET")).toEqual({ status: 200, text: "ready\n" });
    expect(await ask(socket, "/profiles", "GET")).toMatchObject({ status: 404 });
  });

  it("has to be one of the command, and to make sense", async () => {
    const { profiling, logs } = profiled();
    const socket = path.join(folder, "s.sock");
    await using _endpoints = await openEndpoints({ socket }, () => [], profiling.besides);
    expect(await ask(socket, "/profile?cpu=1s", "GET")).toMatchObject({ status: 405 });
    expect(await ask(socket, "/profile?cpu=1s", "POST", {} as never)).toMatchObject({ status: 405 });
    expect(await ask(socket, "/profile?cpu=soon")).toMatchObject({ status: 400 });
    expect(logs).toEqual([]);
  });

  it("is not answered at a port, which others can reach", async () => {
    const { profiling } = profiled();
    await using endpoints = await openEndpoints(
      { host: "127.0.0.1", port: 0, questions: true },
      () => [],
      profiling.besides,
    );
    const url = `http://127.0.0.1:${endpoints.port}/profile?cpu=1s`;
    const answer = await fetch(url, { method: "POST", headers: { [COMMAND_HEADER]: "lotse" } });
    expect([answer.status, await answer.text()]).toEqual([405, "only GET is answered here\n"]);
  });
});
