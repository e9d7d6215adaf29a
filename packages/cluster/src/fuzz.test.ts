/**
 * Requests by generator: whatever a client sends, the server gives an answer that makes sense, and lives. `npm test` sends
 * a thousand of them, `npm run test:real` a hundred thousand (LOTSE_FUZZ). The seed is fixed; a failure tells the
 * request. Among them are volleys: several requests at once on one connection, of which some ask for another protocol,
 * and whose sender may be gone before it is answered.
 */
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Cluster } from "./index.ts";
import { type Fuzzed, RequestGenerator } from "./test-fuzz.ts";
import { call, define, widgetDefinition } from "./test-requests.ts";

const COUNT = Number(process.env.LOTSE_FUZZ ?? 1_000);
const SEED = 20_261_116;
const LANES = 8;

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** One connection that sends a request at a time and reads the answer, reconnecting when the server has closed it. */
class Lane {
  readonly #port: number;
  readonly #token: string;
  #socket: Socket | undefined;

  constructor(port: number, token: string) {
    this.#port = port;
    this.#token = token;
  }

  /** Undefined when the connection ended without an answer. */
  send(request: Fuzzed): Promise<Reply | undefined> {
    const { method } = request;
    const socket = this.#socket ?? connect(this.#port, "127.0.0.1");
    this.#socket = socket;
    return new Promise((resolve) => {
      let received: Buffer = EMPTY;
      const finish = (reply: Reply | undefined, keep: boolean) => {
        socket.removeAllListeners();
        socket.on("error", () => {});
        if (!keep) {
          socket.destroy();
          this.#socket = undefined;
        }
        resolve(reply);
      };
      const timer = setTimeout(() => finish(undefined, false), 10_000);
      const done = (reply: Reply | undefined, keep: boolean) => {
        clearTimeout(timer);
        finish(reply, keep);
      };
      socket.on("data", (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const end = received.indexOf("\r\n\r\n");
        if (end < 0) return;
        const head = received.toString("latin1", 0, end);
        const status = Number(head.slice(9, 12));
        const length = /content-length: (\d+)/i.exec(head);
        const text = received.subarray(end + 4);
        // A stream has begun: that is answer enough.
        if (!length) return done({ status, body: "" }, false);
        if (method === "HEAD" || text.length >= Number(length[1])) {
          const close = /connection: close/i.test(head);
          done({ status, body: text.toString() }, !close && method !== "HEAD");
        }
      });
      socket.on("close", () => done(undefined, false));
      socket.on("error", () => done(undefined, false));
      socket.write(this.#bytes(request));
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  /**
   * Sends several requests at once on a connection of their own, and leaves: when nothing more comes, or sooner. What
   * comes back is told as a list of statuses.
   */
  volley(requests: readonly Fuzzed[], patienceMs: number): Promise<number[]> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1");
      let received = "";
      let timer: NodeJS.Timeout;
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(() => socket.destroy(), patienceMs);
      };
      socket.on("data", (chunk: Buffer) => {
        if (received.length < LONGEST_VOLLEY) received += chunk.toString("latin1");
        wait();
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(timer);
        resolve([...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)));
      });
      wait();
      socket.write(Buffer.concat(requests.map((request) => this.#bytes(request))));
    });
  }

  #bytes({ method, path, headers, body }: Fuzzed): Buffer {
    const lines = Object.entries({ authorization: `Bearer ${this.#token}`, host: "localhost", ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    const length = body === undefined ? "" : `content-length: ${body.length}\r\n`;
    const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}${length}\r\n`, "latin1");
    return Buffer.concat([head, body ?? EMPTY]);
  }
}

const LONGEST_VOLLEY = 1_000_000;
/** One in so many turns of a lane is a volley. */
const VOLLEYS = 12;

const EMPTY = Buffer.alloc(0);

describe("a server under requests by generator", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await define(
      cluster,
      widgetDefinition({}, { schema: { openAPIV3Schema: { ...open, properties: { spec: open } } } }),
    );
  });

  afterAll(() => cluster.stop());

  it(
    `answers ${COUNT} of them`,
    async () => {
      const generator = new RequestGenerator(SEED);
      const rejections: unknown[] = [];
      const onRejection = (reason: unknown) => rejections.push(reason);
      process.on("unhandledRejection", onRejection);
      onTestFinished(() => void process.off("unhandledRejection", onRejection));
      const heapBefore = heapUsed();
      const startedAt = performance.now();
      const statuses = new Map<number, number>();
      const defects: string[] = [];
      let unanswered = 0;
      let next = 0;
      const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const lane = async () => {
        const connection = new Lane(cluster.port, cluster.token);
        while (next < COUNT) {
          if (next % VOLLEYS === 0) {
            const { requests, patienceMs } = generator.volley();
            next += requests.length;
            for (const status of await connection.volley(requests, patienceMs)) count(status);
            continue;
          }
          const index = next++;
          const request = generator.next();
          const reply = await connection.send(request);
          if (!reply) {
            unanswered++;
            defects.push(`${index}: no answer to ${describeRequest(request)}`);
            continue;
          }
          count(reply.status);
          const defect = defectOf(reply);
          if (defect !== undefined) defects.push(`${index}: ${defect} to ${describeRequest(request)}`);
        }
        connection.close();
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      const heapAfter = heapUsed();
      if (process.env.LOTSE_FUZZ !== undefined) {
        const seconds = Math.round((performance.now() - startedAt) / 1_000);
        const told = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
        console.info(
          `${next} requests in ${seconds} s, heap ${inMegabytes(heapBefore)} to ${inMegabytes(heapAfter)} MB`,
        );
        console.info(told.join(", "));
      }
      expect(firstOfEach(defects)).toEqual([]);
      expect(unanswered).toBe(0);
      // The generator must not have got stuck in one kind of answer.
      for (const status of [200, 201, 400, 404, 405, 409, 415, 422]) expect([...statuses.keys()]).toContain(status);
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      expect((await call(cluster, "GET", "/readyz")).text).toBe("ok");
      expect(rejections).toEqual([]);
      // What the server keeps is bounded by objects, history and log, however many requests there were.
      expect(heapAfter - heapBefore).toBeLessThan(HEAP_LIMIT);
    },
    240_000 + COUNT * 10,
  );
});

const HEAP_LIMIT = 200 * 1024 * 1024;

const inMegabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

/** What is in use, after what is not has been collected. */
function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

/** One request for each defect is enough to find it. */
function firstOfEach(defects: readonly string[]): string[] {
  const first = new Map<string, string>();
  for (const defect of defects) {
    const what = defect.replace(/^\d+: /, "").split(" to ")[0] as string;
    if (!first.has(what)) first.set(what, defect);
  }
  return [...first.values()].slice(0, 20);
}

function describeRequest({ method, path, headers, body }: Fuzzed): string {
  const text = body === undefined ? "" : ` ${body.subarray(0, 300).toString()}`;
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(headers)}${text}`;
}

/** What is wrong with an answer, whatever the question was. */
function defectOf({ status, body }: Reply): string | undefined {
  if (!(status >= 200 && status < 600)) return `status ${status}`;
  if (status < 400) return undefined;
  if (!body.startsWith("{")) return undefined;
  let parsed: { kind?: string; status?: string; code?: number; message?: string };
  try {
    parsed = JSON.parse(body);
  } catch {
    return `${status} with broken JSON ${body.slice(0, 200)}`;
  }
  if (parsed.kind !== "Status" || parsed.status !== "Failure" || parsed.code !== status) {
    return `${status} with ${body.slice(0, 200)}`;
  }
  if (status === 500 && isDefect(parsed.message ?? "")) return `500 ${parsed.message}`;
  return undefined;
}

/** Words of JavaScript's own errors, and of those that nobody expected: a real server never says them. */
function isDefect(message: string): boolean {
  return /Internal error occurred|undefined|not a function|is not iterable|Cannot (read|set|convert)|call stack|circular|Invalid (array|string) length|BigInt|toISOString|getter|\[object/.test(
    message,
  );
}
