/**
 * Requests by generator: whatever a client sends, the server gives an answer that makes sense, and lives. `npm test` sends
 * some thousands of them, `npm run test:real` a hundred thousand (LOTSE_FUZZ). The seed is fixed; a failure tells the
 * request.
 */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import { type Fuzzed, RequestGenerator } from "./test-fuzz.ts";
import { call, define, widgetDefinition } from "./test-requests.ts";

const COUNT = Number(process.env.LOTSE_FUZZ ?? 4_000);
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
  send({ method, path, headers, body }: Fuzzed): Promise<Reply | undefined> {
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
      const lines = Object.entries({ authorization: `Bearer ${this.#token}`, host: "localhost", ...headers })
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("");
      const length = body === undefined ? "" : `content-length: ${body.length}\r\n`;
      socket.write(
        Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}${length}\r\n`, "latin1"), body ?? EMPTY]),
      );
    });
  }

  close(): void {
    this.#socket?.destroy();
  }
}

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
      const statuses = new Map<number, number>();
      const defects: string[] = [];
      let unanswered = 0;
      let next = 0;
      const lane = async () => {
        const connection = new Lane(cluster.port, cluster.token);
        while (next < COUNT) {
          const index = next++;
          const request = generator.next();
          const reply = await connection.send(request);
          if (!reply) {
            unanswered++;
            defects.push(`${index}: no answer to ${describeRequest(request)}`);
            continue;
          }
          statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          const defect = defectOf(reply);
          if (defect !== undefined) defects.push(`${index}: ${defect} to ${describeRequest(request)}`);
        }
        connection.close();
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      expect(firstOfEach(defects)).toEqual([]);
      expect(unanswered).toBe(0);
      // The generator must not have got stuck in one kind of answer.
      for (const status of [200, 201, 400, 404, 405, 409, 415, 422]) expect([...statuses.keys()]).toContain(status);
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      expect((await call(cluster, "GET", "/readyz")).text).toBe("ok");
    },
    60_000 + COUNT * 10,
  );
});

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

/** Words of JavaScript's own errors: a real server never says them. */
function isDefect(message: string): boolean {
  return /undefined|not a function|is not iterable|Cannot (read|set|convert)|call stack|circular|Invalid (array|string) length|BigInt|toISOString|getter|\[object/.test(
    message,
  );
}
