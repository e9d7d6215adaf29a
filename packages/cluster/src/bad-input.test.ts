/** What no client should send, and what the server makes of it: a right error or a closed connection, and it lives on. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import {
  APPLY,
  CONFIG_MAPS,
  call,
  DEFINITIONS,
  define,
  JSON_PATCH,
  MERGE,
  openWatch,
  WIDGETS,
  widget,
  widgetDefinition,
} from "./test-requests.ts";

const OPEN = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ tls: false, kubelet: "simulate" });
  await define(cluster, widgetDefinition({}, { schema: { openAPIV3Schema: { ...OPEN, properties: { spec: OPEN } } } }));
});

afterAll(() => cluster.stop());

/** The headers by which the server lets every client in. */
const own = () => `host: localhost\r\nauthorization: Bearer ${cluster.token}\r\n`;

const alive = async () => expect((await call(cluster, "GET", "/readyz")).text).toBe("ok");

describe("bodies", () => {
  it("over three megabytes are too large, with and without a length", async () => {
    const text = `{"metadata":{"name":"big"},"data":{"k":"${"x".repeat(3 * 1024 * 1024)}"}}`;
    const answer = await call(cluster, "POST", CONFIG_MAPS, { body: text });
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ reason: "RequestEntityTooLarge", code: 413 });
    const chunked = await raw(
      `POST ${CONFIG_MAPS} HTTP/1.1\r\n${own()}connection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    );
    expect(chunked).toMatch(/^HTTP\/1.1 413 /);
    await alive();
  });

  it("that go on for ever are cut off", async () => {
    const socket = open();
    socket.write(
      `POST ${CONFIG_MAPS} HTTP/1.1\r\n${own()}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = `100000\r\n${"x".repeat(0x100000)}\r\n`;
    let closed = false;
    socket.on("close", () => {
      closed = true;
    });
    for (let i = 0; i < 64 && !closed; i++) {
      if (!socket.write(chunk)) await new Promise((go) => setTimeout(go, 5));
    }
    await expect.poll(() => closed, { timeout: 170_000 }).toBe(true);
    await alive();
  }, 300_000);

  it("that end too early are no requests", async () => {
    const socket = open();
    socket.write(
      `POST ${CONFIG_MAPS} HTTP/1.1\r\n${own()}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"meta`,
    );
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await alive();
  });

  it.each([
    ["truncated", '{"metadata":{"name":"a"', "unexpected end of JSON input"],
    ["garbage", "\u0000\u0001", "invalid character"],
    ["empty lists without end", "[".repeat(500_000), "exceeded max depth"],
    ["deep objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, "exceeded max depth"],
  ])("that are %s are told so", async (_, body, message) => {
    for (const [method, path, type] of [
      ["POST", CONFIG_MAPS, "application/json"],
      ["POST", WIDGETS, "application/json"],
      ["PATCH", `${CONFIG_MAPS}/kube-root-ca.crt`, MERGE],
    ] as const) {
      const answer = await call(cluster, method, path, { body, type });
      expect(answer.status).toBe(400);
      expect(answer.body.message).toContain(message);
    }
  });

  it.each([100, 950, 5_000])("that nest %d deep are stored whole or refused", async (depth) => {
    const answer = await call(cluster, "POST", WIDGETS, { body: nested(`deep-${depth}`, depth) });
    expect(answer.status).toBe(depth < 1_000 ? 201 : 400);
    if (answer.status !== 201) return;
    expect((await call(cluster, "GET", `${WIDGETS}/deep-${depth}`)).status).toBe(200);
    const patched = await call(cluster, "PATCH", `${WIDGETS}/deep-${depth}`, {
      type: MERGE,
      body: { metadata: { labels: { a: "b" } } },
    });
    expect(patched.status).toBe(200);
    const watch = await openWatch(
      cluster,
      `${WIDGETS}?watch=1&resourceVersion=0&fieldSelector=metadata.name=deep-${depth}`,
    );
    expect((await watch.next()).type).toBe("ADDED");
    watch.close();
    expect((await call(cluster, "DELETE", `${WIDGETS}/deep-${depth}`)).status).toBe(200);
    await alive();
  });

  it("cannot be made deeper than that by patches that copy", async () => {
    await call(cluster, "POST", WIDGETS, { body: nested("copied", 900) });
    for (let i = 0; i < 8; i++) {
      const path = `/spec${"/a".repeat(800)}/b${i}`;
      const answer = await call(cluster, "PATCH", `${WIDGETS}/copied`, {
        type: JSON_PATCH,
        body: [{ op: "copy", from: "/spec", path }],
      });
      expect(answer.status).toBe(400);
    }
    const copies = Array.from({ length: 40 }, (_, i) => ({ op: "copy", from: "/spec", path: `/spec/b${i}` }));
    const grown = await call(cluster, "PATCH", `${WIDGETS}/copied`, { type: JSON_PATCH, body: copies });
    expect([400, 422]).toContain(grown.status);
    expect((await call(cluster, "DELETE", `${WIDGETS}/copied`)).status).toBe(200);
    await alive();
  });

  it("keep the keys that mean something to JavaScript as data", async () => {
    const spec =
      '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"toString":1,"hasOwnProperty":2}';
    const body = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"proto","labels":{"__proto__":"x"}},"spec":${spec}}`;
    const made = await call(cluster, "POST", WIDGETS, { body });
    expect(made.status).toBe(422);
    const plain = body.replace(',"labels":{"__proto__":"x"}', "");
    const stored = await call(cluster, "POST", WIDGETS, { body: plain });
    expect(stored.status).toBe(201);
    for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"])
      expect(stored.text).toContain(`"${key}":`);
    const patch = '{"spec":{"__proto__":{"more":1}}}';
    const merged = await call(cluster, "PATCH", `${WIDGETS}/proto`, { type: MERGE, body: patch });
    expect(merged.text).toContain('"__proto__":{"more":1,"polluted":"yes"}');
    const applied = await call(cluster, "PATCH", `${WIDGETS}/applied?fieldManager=me`, {
      type: APPLY,
      body: plain.replace('"name":"proto"', '"name":"applied"'),
    });
    expect(applied.status).toBe(201);
    expect(applied.text).toContain('"__proto__":{"polluted":"yes"}');
    expect(applied.text).toContain('"f:__proto__"');
    const again = await call(cluster, "GET", `${WIDGETS}/proto`);
    expect(Object.hasOwn(again.body.spec, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const data = await call(cluster, "POST", CONFIG_MAPS, {
      body: '{"metadata":{"name":"p"},"data":{"__proto__":"v"}}',
    });
    expect(data.text).toContain('"data":{"__proto__":"v"}');
  });

  it("whose version is turned into something that is no text are refused", async () => {
    await call(cluster, "POST", CONFIG_MAPS, { body: '{"metadata":{"name":"versioned"}}' });
    const answer = await call(cluster, "PATCH", `${CONFIG_MAPS}/versioned`, {
      type: MERGE,
      body: '{"apiVersion":{"toString":{"a":1}},"kind":{"toString":1}}',
    });
    expect(answer.status).toBe(422);
    expect(answer.body.reason).toBe("Invalid");
  });

  it("in protobuf that make no sense are refused", async () => {
    for (const body of ["k8s\0", "k8s\0\u0012\u00ff", `k8s\0${"\u000a\u0080".repeat(50)}`, "nonsense"]) {
      const answer = await call(cluster, "POST", CONFIG_MAPS, { body, type: "application/vnd.kubernetes.protobuf" });
      expect(answer.status).toBe(400);
    }
  });
});

/** What is quadratic takes minutes of the processor here, on any machine; what else it has to do does not count. */
const WORK_MS = 20_000;

/** A custom object with a member that nests so deep, as text: JavaScript's own writer would not. */
function nested(name: string, depth: number): string {
  const body = JSON.stringify(widget(name, "HERE"));
  return body.replace('"HERE"', `${'{"a":'.repeat(depth)}{}${"}".repeat(depth)}`);
}

describe("selectors", () => {
  it("with thousands of terms are read in good time", async () => {
    const terms = Array.from({ length: 4_000 }, (_, i) => `key-${i} notin (a,b,c)`).join(",");
    const since = process.cpuUsage();
    const answer = await call(cluster, "GET", `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(terms)}`);
    expect(answer.status).toBe(200);
    const odd = await call(cluster, "GET", `${CONFIG_MAPS}?labelSelector=${"(".repeat(50_000)}`);
    expect(odd.status).toBe(400);
    const fields = await call(cluster, "GET", `${CONFIG_MAPS}?fieldSelector=${"metadata.name!=a,".repeat(10_000)}`);
    expect(fields.status).toBe(200);
    expect(process.cpuUsage(since).user / 1_000).toBeLessThan(WORK_MS);
  });

  it("that do not fit into a request are refused, and the server lives", async () => {
    const answer = await raw(`GET ${CONFIG_MAPS}?labelSelector=${"a".repeat(2_000_000)} HTTP/1.1\r\n${own()}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 (431|400) |^$/);
    await alive();
  });
});

describe("connections", () => {
  it("that say nothing are served beside a thousand others", async () => {
    const idle = await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const socket = open();
        await once(socket, "connect");
        return socket;
      }),
    );
    await alive();
    expect((await call(cluster, "GET", CONFIG_MAPS)).status).toBe(200);
    for (const socket of idle) socket.destroy();
  }, 300_000);

  it("that bring garbage are closed", async () => {
    for (const bytes of [
      "\u0016\u0003\u0001\u0002\u0000",
      "GET\r\n\r\n",
      "\r\n\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
    ]) {
      // Of some it waits for the rest.
      const answer = await raw(bytes, { patienceMs: 1_000 });
      expect(answer).toMatch(/^(HTTP\/1\.1 \d\d\d |$)/);
    }
    await alive();
  });
});

describe("rules that try to run for ever", () => {
  const withSpec = (properties: object, rules?: object[]) =>
    widgetDefinition(
      { group: "slow.example.com" },
      {
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties, ...(rules ? { "x-kubernetes-validations": rules } : {}) },
            },
          },
        },
      },
    );

  it("as patterns take no longer than their text is long", async () => {
    const definition = withSpec({ text: { type: "string", pattern: "^(([a-z])+.)+[A-Z]([a-z])+$" } }) as {
      metadata: { name: string };
    };
    definition.metadata.name = "widgets.slow.example.com";
    expect((await define(cluster, definition)).status).toBe(201);
    const since = process.cpuUsage();
    const answer = await call(cluster, "POST", WIDGETS.replace("example.com", "slow.example.com"), {
      body: {
        apiVersion: "slow.example.com/v1",
        kind: "Widget",
        metadata: { name: "a" },
        spec: { text: "a".repeat(50_000) },
      },
    });
    expect(answer.status).toBe(422);
    expect(process.cpuUsage(since).user / 1_000).toBeLessThan(WORK_MS);
    await call(cluster, "DELETE", `${DEFINITIONS}/widgets.slow.example.com`);
  });

  it("as expressions are refused with their definition", async () => {
    const list = { type: "array", items: { type: "integer" } };
    const rule = "self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, a + b + c + d > 0))))";
    const definition = withSpec({ l: list }, [{ rule }]) as { metadata: { name: string } };
    definition.metadata.name = "widgets.slow.example.com";
    const answer = await define(cluster, definition);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain("estimated rule cost");
  });
});

describe("sessions into pods", () => {
  const EXEC = "/api/v1/namespaces/default/pods/p/exec?command=echo&command=hi&stdin=1&stdout=1&stderr=1";
  const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
  const upgrade = (protocol: string, extra: string) =>
    `POST ${EXEC} HTTP/1.1\r\n${own()}connection: Upgrade\r\nupgrade: ${protocol}\r\n${extra}\r\n`;
  const byWebSocket = () =>
    upgrade(
      "websocket",
      `sec-websocket-version: 13\r\nsec-websocket-key: ${KEY}\r\nsec-websocket-protocol: v5.channel.k8s.io\r\n`,
    ).replace("POST", "GET");
  const bySpdy = () => upgrade("SPDY/3.1", "x-stream-protocol-version: v4.channel.k8s.io\r\n");

  beforeAll(async () => {
    const spec = { containers: [{ name: "c", image: "busybox" }] };
    await call(cluster, "POST", "/api/v1/namespaces/default/pods", { body: { metadata: { name: "p" }, spec } });
    await cluster.settle();
  });

  /** Client frames of a WebSocket: masked, with some bytes on a channel. */
  const webSocketFrames = Buffer.concat(
    [Buffer.from([0, 104, 105]), Buffer.from([4, 123, 125]), Buffer.alloc(70_000, 1)].map((payload) => {
      const length = payload.length < 126 ? [0x80 | payload.length] : [0x80 | 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70];
      return Buffer.concat([Buffer.from([0x82, ...length, 0, 0, 0, 0]), payload]);
    }),
  );
  /** The beginning of SPDY: an opened stream whose header block is no compressed data, then data and a ping. */
  const spdyFrames = Buffer.from([
    ...[0x80, 3, 0, 1, 0, 0, 0, 18, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x78, 0xf9, 1, 2, 3, 4, 5, 6],
    ...[0, 0, 0, 1, 0, 0, 0, 3, 104, 105, 10],
    ...[0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1],
  ]);

  it.each([
    ["WebSocket", byWebSocket, webSocketFrames],
    ["SPDY", bySpdy, spdyFrames],
  ])(
    "by %s may be cut, or damaged, anywhere",
    async (_, headOf, frames) => {
      const head = headOf();
      await expect.poll(() => raw(head), { timeout: 170_000 }).toMatch(/^HTTP\/1.1 101 /);
      let seed = 7;
      const below = (count: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        return seed % count;
      };
      const tries = Array.from({ length: 60 }, async (_unused, i) => {
        const bytes = Buffer.from(frames);
        if (i % 2) bytes[below(bytes.length)] = below(256);
        const cut = i % 3 ? below(Math.min(bytes.length, 200)) : below(bytes.length);
        const socket = open();
        socket.on("error", () => {});
        socket.resume();
        socket.write(head);
        socket.write(i % 2 ? bytes : bytes.subarray(0, cut));
        await new Promise((resolve) => setTimeout(resolve, 20));
        socket.destroy();
      });
      await Promise.all(tries);
      await alive();
      const headCut = Array.from({ length: 20 }, () => raw(head.slice(0, below(head.length)), { patienceMs: 50 }));
      await Promise.all(headCut);
      await alive();
    },
    300_000,
  );
});

describe("requests on one connection that does not wait for answers", () => {
  const upgrade = (path: string) =>
    `GET ${path} HTTP/1.1\r\n${own()}connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const get = (path: string) => `GET ${path} HTTP/1.1\r\n${own()}\r\n`;
  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);

  it("are answered in their order, also when the last one asks for another protocol", async () => {
    const path = "/api/v1/namespaces/default/pods/none/exec?command=id&stdout=1";
    for (const first of ["/openapi/v2", "/version", "/none"]) {
      const enough = (text: string) => statuses(text).length === 3;
      const text = await raw(get(first) + get("/readyz") + upgrade(path), { enough });
      expect(statuses(text)).toEqual([first === "/none" ? "404" : "200", "200", "404"]);
    }
    await alive();
  });

  it("end with it when the client is gone before they are answered", async () => {
    for (let i = 0; i < 20; i++) {
      const socket = open();
      socket.write(get("/openapi/v2") + get("/api/v1/pods?watch=1") + upgrade("/api/v1/pods?watch=1"));
      await new Promise((resolve) => setTimeout(resolve, i % 5));
      socket.destroy();
    }
    await alive();
  });
});

function open(): Socket {
  const socket = connect(cluster.port, "127.0.0.1");
  socket.on("error", () => {});
  return socket;
}

/** The head of an answer is whole. */
const answered = (text: string): boolean => text.includes("\r\n\r\n");

/** Sends bytes and returns what comes back until it is enough, the connection ends, or patience does. */
function raw(
  bytes: string,
  { enough = answered, patienceMs = 170_000 }: { enough?: (text: string) => boolean; patienceMs?: number } = {},
): Promise<string> {
  return new Promise((resolve) => {
    const socket = open();
    let received = "";
    const timer = setTimeout(() => socket.destroy(), patienceMs);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (enough(received)) socket.destroy();
    });
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(received);
    });
    socket.write(Buffer.from(bytes, "latin1"));
  });
}
