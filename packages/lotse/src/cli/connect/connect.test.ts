import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { ConnectionError, TimeoutError, UnauthorizedError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Logger, type LogRecord } from "../../report/index.ts";
import { testIo } from "../terminal/test-io.ts";
import { comesBySelf, connectPatiently } from "./connect.ts";

const request = { method: "GET", path: "/version" };
const lost = (code: string, lasting = false) =>
  new ConnectionError("lost", { request, sent: false, lasting, cause: Object.assign(new Error(code), { code }) });

describe("a cluster that does not answer", () => {
  it.each([
    ["resets the connection", lost("ECONNRESET"), "kubeconfig", true],
    ["closes it", lost("EPIPE"), "kubeconfig", true],
    ["says nothing", new TimeoutError("late", { request, phase: "headers" }), "kubeconfig", true],
    ["is not running, where somebody has named it", lost("ECONNREFUSED"), "kubeconfig", false],
    ["is not running, seen from a pod of its own", lost("ECONNREFUSED"), "in-cluster", true],
    ["has a name that nobody knows", lost("ENOTFOUND"), "kubeconfig", false],
    ["is not trusted", lost("CERT_HAS_EXPIRED", true), "in-cluster", false],
    ["does not want us", new UnauthorizedError("no", { request, status: 401 } as never), "in-cluster", false],
  ] as const)("because it %s is waited for or not", (_, error, source, waits) => {
    expect(comesBySelf(error, source)).toBe(waits);
  });
});

describe("waiting for a cluster", () => {
  /** A server that breaks every connection until it is told to answer. */
  async function moody() {
    const state = { answers: false };
    const server = createServer((incoming, outgoing) => {
      if (!state.answers) return void incoming.socket.destroy();
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ gitVersion: "v1.36.0", major: "1", minor: "36", status: {} }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  async function waiting(url: string) {
    const clock = new VirtualClock();
    const lines: LogRecord[] = [];
    const stop = new AbortController();
    const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-connect-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const kubeconfig = path.join(folder, "kubeconfig");
    const config = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      clusters: [{ name: "c", cluster: { server: url } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    });
    writeFileSync(kubeconfig, config);
    const logger = new Logger((line) => void lines.push(line), clock.now.bind(clock));
    const connecting = connectPatiently({ kubeconfig }, testIo(), () => {}, { clock, logger, signal: stop.signal });
    return { clock, lines, stop, connecting };
  }

  it("says once what it waits for, and goes on when it answers", async () => {
    const { state, url } = await moody();
    const { clock, lines, connecting } = await waiting(url);
    const warned = () => lines.filter(({ level }) => level === "warn");
    await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 170_000 });
    await clock.advance(2_000);
    await vi.waitFor(() => expect(lines).toHaveLength(2), { timeout: 170_000 });
    expect(warned()).toHaveLength(1);
    expect(warned()[0]).toMatchObject({
      message: "the cluster does not answer, the operator waits for it",
      fields: { server: url, error: expect.stringContaining("connection") },
    });
    state.answers = true;
    await clock.advance(2_000);
    const connection = await connecting;
    expect(connection?.version).toBe("v1.36.0");
    expect(lines.at(-1)?.message).toBe("the cluster answers");
    await connection?.client.close();
  }, 300_000);

  it("ends when it is told to", async () => {
    const { url } = await moody();
    const { stop, connecting } = await waiting(url);
    stop.abort();
    expect(await connecting).toBeUndefined();
  });
});
