/**
 * Requests that are wrong in every way that came to mind, over both protocols and below them. `npm test` sends a
 * thousand, `npm run test:full` five times as many, LOTSE_FLOOD as many as it says. The seed is fixed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent } from "node:https";
import { connect as connectTcp } from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WebhookServerHealth } from "./server.ts";
import { ask, askHttp2, type Call, type Known, openHttp2, sendRaw } from "./test-server.ts";

const COUNT = Number(process.env.LOTSE_FLOOD ?? (process.env.LOTSE_FULL === "1" ? 5_000 : 1_000));
/** What the server says to wrong requests; 200 where chance has made a right one. */
const EXPECTED = new Set([200, 400, 404, 405, 408, 413, 415, 417, 429, 431]);
/** Requests under way at the same time. */
const WORKERS = 16;
/** After garbage collection. */
const MOST_GROWTH = 16 * 1_024 * 1_024;

const REVIEW = {
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "1", kind: { group: "", version: "v1", kind: "Pod" }, object: { metadata: { name: "a" } } },
};

class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  next(): number {
    this.#state = (this.#state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return this.#state / 2 ** 32;
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

function wrongBody(dice: Dice): Buffer {
  const good = Buffer.from(JSON.stringify(REVIEW));
  const kinds: (() => Buffer)[] = [
    () => Buffer.alloc(0),
    () => good.subarray(0, dice.below(good.length)),
    () => {
      const bad = Buffer.from(good);
      for (let i = 0; i < 3; i++) bad[dice.below(bad.length)] = dice.below(256);
      return bad;
    },
    () => Buffer.from("[".repeat(1 + dice.below(5_000))),
    () => Buffer.from(`${"[".repeat(2_000)}${"]".repeat(2_000)}`),
    () => Buffer.from('{"__proto__":{"a":1},"constructor":{"prototype":null}}'),
    () => Buffer.from([0xff, 0xfe, ...good]),
    () => Buffer.from(dice.of(["null", "1e999", '"\\ud800"', "NaN", "'a'", "{a:1}", "\u0000", "kind: Pod"])),
    () => Buffer.alloc(dice.below(100_000), 0x20),
  ];
  return dice.of(kinds)();
}

function wrongCall(dice: Dice): Call {
  const type = dice.of([
    "application/json",
    "application/json",
    "application/json",
    "text/plain",
    "application/yaml",
    "",
    "é".repeat(20),
  ]);
  const headers: Record<string, string> = type === "" ? {} : { "content-type": encodeURI(type) };
  if (dice.next() < 0.05) headers["content-encoding"] = dice.of(["gzip", "br", "identity"]);
  if (dice.next() < 0.03) headers["x-long"] = "y".repeat(dice.below(30_000));
  return {
    method: dice.of(["POST", "POST", "POST", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "GET"]),
    path: dice.of([
      "/validate/a",
      "/validate/a?timeout=10s",
      "/",
      "/%",
      "/%00",
      "//",
      "/../..",
      "/a?timeout=x",
      `/${"z".repeat(5_000)}`,
    ]),
    headers,
    body: wrongBody(dice),
  };
}

function wrongBytes(dice: Dice): string {
  const head = "POST /validate/a HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
  return dice.of([
    "\r\n\r\n\r\nGET\r\n\r\n",
    "POST / HTTP/9.9\r\n\r\n",
    `${head}content-length: -5\r\n\r\n{}`,
    `${head}content-length: 5\r\ncontent-length: 6\r\n\r\n{}{}{}`,
    `${head}transfer-encoding: chunked\r\n\r\nzz\r\n`,
    `${head}transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n0\r\n\r\n`,
    `${head}expect: the-unexpected\r\ncontent-length: 2\r\n\r\n{}`,
    `${head}upgrade: h2c\r\nconnection: upgrade, close\r\ncontent-length: 2\r\n\r\n{}`,
    `${head}x: ${"y".repeat(40_000)}\r\n\r\n`,
    "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    `${head}content-length: 99999999999999999999\r\n\r\n{`,
  ]);
}

/** No TLS at all, or the half of it; gone before the server has an answer. */
function knock({ port }: Known, dice: Dice): Promise<void> {
  const bytes = dice.of(["", "GET / HTTP/1.1\r\n\r\n", "\u0016\u0003\u0001\u0002\u0000\u0001", "\u0000".repeat(300)]);
  return new Promise((resolve) => {
    const socket = connectTcp({ host: "127.0.0.1", port }, () => {
      if (bytes === "") socket.destroy();
      else socket.end(bytes);
    });
    socket.on("error", () => socket.destroy()).on("close", () => resolve());
    socket.resume();
  });
}

/** A review whose client goes in the middle of it. */
async function leave(at: Known, dice: Dice): Promise<void> {
  const session = openHttp2(at);
  const stream = session.request({ ":method": "POST", ":path": "/validate/a", "content-type": "application/json" });
  stream.on("error", () => undefined);
  const gone = new Promise<void>((resolve) => session.once("close", () => resolve()));
  stream.write("{".repeat(1 + dice.below(1_000)), () => session.destroy());
  await gone;
}

class Flood {
  readonly statuses = new Map<number, number>();
  lost = 0;
  readonly #at: Known;
  readonly #dice = new Dice(20_261_117);
  #left = COUNT;

  constructor(at: Known) {
    this.#at = at;
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work()));
  }

  async #work(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let session = openHttp2(this.#at);
    while (this.#left-- > 0) {
      const way = this.#dice.next();
      if (session.closed || session.destroyed) session = openHttp2(this.#at);
      if (way < 0.46) await this.#count(askHttp2(session, this.#headless(wrongCall(this.#dice))));
      else if (way < 0.94) await this.#count(ask(this.#at, { ...wrongCall(this.#dice), agent }));
      else if (way < 0.97) await this.#raw();
      else if (way < 0.985) await knock(this.#at, this.#dice);
      else await leave(this.#at, this.#dice);
    }
    agent.destroy();
    session.destroy();
  }

  /** Node's own client breaks a connection over headers that HTTP/2 does not have; the server is meant here. */
  #headless({ headers, ...call }: Call): Call {
    const { "x-long": _, ...rest } = headers ?? {};
    return { ...call, headers: rest };
  }

  async #raw(): Promise<void> {
    const text = await sendRaw(this.#at, wrongBytes(this.#dice));
    for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) this.#note(Number(status));
    if (text === "") this.lost++;
  }

  async #count(answered: Promise<{ readonly status: number }>): Promise<void> {
    await answered.then(
      ({ status }) => this.#note(status),
      () => {
        this.lost++;
      },
    );
  }

  #note(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}

interface Told {
  readonly port?: number;
  readonly ca?: string;
  readonly health?: WebhookServerHealth;
  readonly problems?: readonly unknown[];
  readonly bytes?: number;
  readonly unhandled?: string;
}

let folder: string;
let child: ChildProcess | undefined;
let ended: Promise<never>;

/** What the server's process says next; rejects when it has ended. */
async function told(): Promise<Told> {
  if (!child?.stdout) throw new Error("there is no server");
  const [line] = (await Promise.race([once(child.stdout, "data"), ended])) as [string];
  return JSON.parse(line) as Told;
}

function asked(): Promise<Told> {
  const answer = told();
  child?.stdin?.write("how are you\n");
  return answer;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lotse-flood-"));
  const program = path.join(folder, "server.mjs");
  const { build } = await import("esbuild");
  await build({
    entryPoints: [fileURLToPath(new URL("test-flooded-server.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@lotse/source"],
    logLevel: "silent",
  });
  child = spawn(process.execPath, ["--expose-gc", program], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdout?.setEncoding("utf8");
  ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`the server ended with ${code}`)));
  // It is killed at the end, when nothing waits for it any more.
  ended.catch(() => undefined);
});

afterAll(async () => {
  child?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

describe("malformed requests", () => {
  it(`do no harm to the server's process, ${COUNT} of them`, { timeout: 1_800_000 }, async () => {
    const { port = 0, ca = "" } = await told();
    const at = { port, authority: { certPem: ca } };
    expect((await ask(at)).status).toBe(200);
    const before = await asked();
    const flood = new Flood(at);
    await flood.run();
    const answers = [...flood.statuses.values()].reduce((sum, count) => sum + count, 0);
    const unexpected = [...flood.statuses.keys()].filter((status) => !EXPECTED.has(status));
    expect(unexpected).toEqual([]);
    // A few connections are cut while their client still sends.
    expect(flood.lost).toBeLessThan(COUNT * 0.01);
    expect(answers).toBeGreaterThan(COUNT * 0.9);
    expect((await ask(at)).status).toBe(200);
    let after = await asked();
    while ((after.health?.connections ?? 0) > 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      after = await asked();
    }
    expect(after.health).toMatchObject({ serving: true, inFlight: 0, heldBytes: 0 });
    expect([after.problems, after.unhandled]).toEqual([[], undefined]);
    expect((after.bytes ?? 0) - (before.bytes ?? 0)).toBeLessThan(MOST_GROWTH);
    if (process.env.LOTSE_FLOOD !== undefined) {
      console.log({
        lost: flood.lost,
        ...Object.fromEntries(flood.statuses),
        grownBy: (after.bytes ?? 0) - (before.bytes ?? 0),
      });
    }
  });
});
