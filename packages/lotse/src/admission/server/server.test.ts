import { Agent } from "node:https";
import { CertificateAuthority } from "@lotse/client/certificates";
import { systemClock, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import type { WebhookRequest } from "./request.ts";
import { isDisbelief, WebhookServer } from "./server.ts";
import {
  type Answered,
  ask,
  askHttp2,
  credentialsOf,
  messageOf,
  openHttp2,
  sendRaw,
  startServer,
} from "./test-server.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** Both protocols, each on one connection. */
const protocols = {
  "HTTP/1.1": (at: Parameters<typeof ask>[0]) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    return {
      ask: (call: Parameters<typeof ask>[1]) => ask(at, { ...call, agent }),
      close: () => agent.destroy(),
      leave: () => agent.destroy(),
    };
  },
  "HTTP/2": (at: Parameters<typeof ask>[0]) => {
    const session = openHttp2(at);
    return {
      ask: (call: Parameters<typeof askHttp2>[1]) => askHttp2(session, call),
      close: () => session.close(),
      leave: () => session.destroy(),
    };
  },
};

describe.each(Object.entries(protocols))("the webhook server over %s", (_name, connect) => {
  it("gives the handler what was sent, and answers with what it says", async () => {
    let seen: WebhookRequest | undefined;
    await using at = await startServer({
      handle: async (request) => {
        seen = request;
        return { status: 200, body: { said: request.body } };
      },
    });
    const client = connect(at);
    const answer = await client.ask({
      path: "/validate/some%20id?timeout=7s",
      headers: { ...JSON_TYPE, "user-agent": "me" },
      body: '{"a":[1]}',
    });
    expect(answer).toMatchObject({ status: 200, text: '{"said":{"a":[1]}}' });
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(seen).toMatchObject({ path: "/validate/some%20id", body: { a: [1] }, source: "127.0.0.1", peer: undefined });
    expect(seen?.query.get("timeout")).toBe("7s");
    expect(seen?.headers).toMatchObject({ "user-agent": "me", host: `127.0.0.1:${at.port}` });
    client.close();
  });

  it.each<[string, object, number, string]>([
    ["no JSON", { body: '{"password":"hunter2",}' }, 400, "the body is no JSON: "],
    ["half a JSON", { body: '{"a":' }, 400, "the body is no JSON: "],
    ["an empty body", { body: "" }, 400, "the body is empty, a review was expected"],
    ["no UTF-8", { body: Buffer.from([0x22, 0xff, 0x22]) }, 400, "the body is no UTF-8"],
    ["another type", { headers: { "content-type": "text/yaml" } }, 415, 'this request has "text/yaml"'],
    ["no type", { headers: {} }, 415, "this request has no type"],
    ["a packed body", { headers: { ...JSON_TYPE, "content-encoding": "gzip" } }, 415, 'this request has "gzip"'],
    ["another method", { method: "PUT" }, 405, 'reviews are sent with POST, not with "PUT"'],
    ["GET", { method: "GET" }, 405, 'reviews are sent with POST, not with "GET"'],
    ["an unknown path", { path: "/nowhere" }, 404, 'there is nothing at "/nowhere"'],
    ["no path", { path: "/%zz" }, 400, '"/%zz" is no path'],
    ["a timeout that is none", { path: "/?timeout=soon" }, 400, "timeout is a duration such as 10s"],
    ["a negative timeout", { path: "/?timeout=-1s" }, 400, "timeout is a duration such as 10s"],
  ])("answers %s with a sentence, and goes on", async (_what, call, status, sentence) => {
    await using at = await startServer({ route: (path) => (path === "/nowhere" ? undefined : {}) });
    const client = connect(at);
    const answer = await client.ask(call);
    expect(answer.status).toBe(status);
    expect(messageOf(answer)).toContain(sentence);
    expect(answer.text).not.toContain("hunter2");
    expect(await client.ask({ body: '"next"' })).toMatchObject({ status: 200, text: '"next"' });
    expect(at.problems).toEqual([]);
    client.close();
  });

  it("refuses a body of 10 MB, whether it says so before or not, and its client hears why", async () => {
    await using at = await startServer();
    const body = Buffer.alloc(10_000_000, 0x20);
    const unannounced = _name === "HTTP/2" ? JSON_TYPE : { ...JSON_TYPE, "transfer-encoding": "chunked" };
    for (const headers of [{ ...JSON_TYPE, "content-length": String(body.length) }, unannounced]) {
      const client = connect(at);
      const answer = await client.ask({ headers, body });
      expect(answer.status).toBe(413);
      expect(messageOf(answer)).toBe("a body may have 7340032 bytes, and this one has more");
      client.close();
    }
    expect(at.server.health()).toMatchObject({ serving: true, inFlight: 0, heldBytes: 0 });
  });

  it("takes larger bodies where a route says so", async () => {
    await using at = await startServer({ route: () => ({ bodyBytes: 20_000_000 }), handle: async () => OK });
    const client = connect(at);
    expect(await client.ask({ body: Buffer.alloc(10_000_000, 0x31) })).toMatchObject({ status: 200 });
    client.close();
  });

  it("answers 429 beyond the requests that it takes at a time, and answers those that it took", async () => {
    const { handle, release } = held();
    await using at = await startServer({ handle, limits: { requests: 2 } });
    const clients = [1, 2, 3].map(() => connect(at));
    const [a, b, c] = clients as [(typeof clients)[0], (typeof clients)[0], (typeof clients)[0]];
    const taken = [a.ask({}), b.ask({})];
    while (at.server.health().inFlight < 2) await turn();
    const refused = await c.ask({});
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
    expect(messageOf(refused)).toContain("as many requests as it takes at a time");
    release();
    expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await c.ask({})).status).toBe(200);
    expect(at.problems.map(({ message }) => message)).toEqual([
      "the webhook server has as many requests as it takes at a time",
    ]);
    for (const one of clients) one.close();
  });

  it("answers 429 while other bodies fill its memory", async () => {
    const { handle, release } = held();
    await using at = await startServer({ handle, limits: { heldBytes: 1_500 } });
    const body = JSON.stringify("x".repeat(1_000));
    const [a, b] = [connect(at), connect(at)];
    const first = a.ask({ body });
    while (at.server.health().inFlight < 1 || at.server.health().heldBytes === 0) await turn();
    expect((await b.ask({ body })).status).toBe(429);
    release();
    expect((await first).status).toBe(200);
    expect((await b.ask({ body })).status).toBe(200);
    expect(at.server.health().heldBytes).toBe(0);
    for (const one of [a, b]) one.close();
  });

  it("answers 500 without details when a handler fails, and tells the problem", async () => {
    const failures = [
      async () => Promise.reject(new Error("secret")),
      () => {
        throw new Error("secret");
      },
      async () => ({ status: 200, body: undefined }),
      async () => ({ status: 200, body: circle() }),
    ];
    for (const handle of failures) {
      await using at = await startServer({ handle });
      const client = connect(at);
      const answer = await client.ask({});
      expect(answer.status).toBe(500);
      expect(messageOf(answer)).toBe("the webhook failed; its operator's log says why");
      expect(at.problems).toHaveLength(1);
      client.close();
    }
  });

  it("tells the handler when the client has gone", async () => {
    let gone: (() => void) | undefined;
    const heard = new Promise<void>((resolve) => {
      gone = resolve;
    });
    await using at = await startServer({
      handle: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            gone?.();
            resolve(OK);
          });
        }),
    });
    const client = connect(at);
    const lost = client.ask({}).catch(() => "lost");
    while (at.server.health().inFlight < 1) await turn();
    client.leave();
    await heard;
    await lost;
    while (at.server.health().inFlight > 0) await turn();
  });

  it("says no to `/readyz` with the reason, and yes without one", async () => {
    const reasons: string[] = ["no certificate is registered yet"];
    await using at = await startServer({ readiness: () => ({ ok: reasons.length === 0, reasons }) });
    const client = connect(at);
    const no = await client.ask({ method: "GET", path: "/readyz" });
    expect([no.status, messageOf(no)]).toEqual([503, "no certificate is registered yet"]);
    reasons.pop();
    const yes = await client.ask({ method: "GET", path: "/readyz?verbose" });
    expect([yes.status, messageOf(yes)]).toEqual([200, "ready"]);
    expect((await client.ask({ path: "/readyz" })).status).toBe(405);
    client.close();
  });
});

describe("the deadline of a request", () => {
  it("is the time that the client says it will wait, and a handler that does not heed it is waited for no longer", async () => {
    const clock = new VirtualClock();
    const aborted: number[] = [];
    await using at = await startServer({
      clock,
      handle: ({ signal }) => {
        signal.addEventListener("abort", () => aborted.push(clock.monotonic()));
        return new Promise(() => undefined);
      },
    });
    const asked = ask(at, { path: "/slow?timeout=3s" });
    while (at.server.health().inFlight < 1 || clock.pending === 0 || at.server.health().heldBytes === 0) await turn();
    await turn();
    await clock.advance(2_999);
    expect(aborted).toEqual([]);
    await clock.advance(1);
    expect(aborted).toEqual([3_000]);
    await clock.advance(1_000);
    const answer = await asked;
    expect([answer.status, messageOf(answer)]).toEqual([504, "there was no answer in time"]);
    expect(at.problems.map(({ message }) => message)).toEqual(["a webhook gave no answer in time"]);
    expect([at.server.health().inFlight, clock.pending]).toEqual([0, 0]);
  });

  it("is no later than any API server waits", async () => {
    const clock = new VirtualClock();
    await using at = await startServer({
      clock,
      handle: ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => resolve({ status: 200, body: clock.monotonic() })),
        ),
    });
    const asked = Promise.all([ask(at, { path: "/?timeout=1h" }), ask(at)]);
    while (at.server.health().heldBytes < 4) await turn();
    await turn();
    await clock.advance(30_000);
    expect((await asked).map(({ text }) => text)).toEqual(["30000", "30000"]);
  });
});

describe("a body that does not come", () => {
  it("is waited for so long and no longer", async () => {
    const clock = new VirtualClock();
    await using at = await startServer({ clock });
    const answer = sendRaw(
      at,
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    while (at.server.health().inFlight < 1) await turn();
    await clock.advance(10_000);
    // The connection ends when its client has had the time to read the answer.
    await turn();
    await clock.advance(2_000);
    const text = await answer;
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(text).toContain("the body did not come within 10000 ms");
    expect(at.server.health()).toMatchObject({ inFlight: 0, heldBytes: 0 });
  });

  it("costs no more than its connection when its client goes", async () => {
    await using at = await startServer();
    const session = openHttp2(at);
    const stream = session.request({ ":method": "POST", ":path": "/", ...JSON_TYPE });
    stream.on("error", () => undefined);
    stream.write('{"a"');
    while (at.server.health().inFlight < 1) await turn();
    session.destroy();
    while (at.server.health().inFlight > 0) await turn();
    expect(at.server.health().heldBytes).toBe(0);
  });
});

describe("a request without a body", () => {
  it("that is refused costs no connection", async () => {
    await using at = await startServer();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const answer = await ask(at, { method: "GET", agent });
    expect([answer.status, answer.headers.connection]).toEqual([405, "keep-alive"]);
    agent.destroy();
  });

  it("that it has after all is no request behind the last answer", async () => {
    await using at = await startServer();
    const big = "x".repeat(100_000);
    const head = "POST /%zz HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    const text = await sendRaw(at, `${head}transfer-encoding: chunked\r\n\r\n${big}`);
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
  });
});

describe("what is no request", () => {
  it.each([
    ["nonsense", "blah blah\r\n\r\n", 400, "this is no request of HTTP/1.1"],
    [
      "a head that is too large",
      `GET / HTTP/1.1\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
      431,
      "headers of this request are too large",
    ],
    [
      "both lengths at once",
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n",
      400,
      "no request",
    ],
    ["CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n", 405, "this server is no proxy"],
    [
      "an expectation",
      "POST / HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\ncontent-length: 0\r\n\r\n",
      417,
      "no expectation",
    ],
  ])("gets an answer and loses its connection: %s", async (_what, bytes, status, sentence) => {
    await using at = await startServer();
    const text = await sendRaw(at, bytes);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toContain("content-type: application/json");
    expect(messageOf({ text: text.slice(text.indexOf("\r\n\r\n") + 4) })).toContain(sentence);
    expect((await ask(at)).status).toBe(200);
  });

  it("is cut off when its headers do not come", async () => {
    await using at = await startServer({ limits: { headersMs: 50 } });
    expect(await sendRaw(at, "POST / HTTP/1.1\r\nhost: x\r\n")).toMatch(/^HTTP\/1.1 408 /);
  });
});

describe("certificates", () => {
  it("are exchanged under open connections, which go on, and new ones get the new one", async () => {
    await using at = await startServer();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const session = openHttp2(at);
    expect((await ask(at, { agent })).status).toBe(200);
    expect((await askHttp2(session)).status).toBe(200);
    const other = new CertificateAuthority("other-ca", Date.now());
    at.server.use(credentialsOf(other));
    expect((await ask(at, { agent })).status).toBe(200);
    expect((await askHttp2(session)).status).toBe(200);
    expect((await ask({ ...at, authority: other })).status).toBe(200);
    await expect(ask(at)).rejects.toThrow(/certificate/);
    agent.destroy();
    session.close();
  });

  it("that do not belong together are refused, and the old ones stay", async () => {
    await using at = await startServer();
    const [a, b] = [credentialsOf(at.authority), credentialsOf(at.authority)];
    expect(() => at.server.use({ cert: a.cert, key: b.key })).toThrow(
      "The certificate of the webhook server cannot be used",
    );
    expect((await ask(at)).status).toBe(200);
  });

  it("that a client does not believe are known by its alert, not those of probes and scanners", () => {
    const alert = (words: string) => `0:error:0A000412:SSL routines:ssl3_read_bytes:${words}:../rec_layer_s3.c:1586:`;
    for (const words of ["sslv3 alert bad certificate", "tlsv1 alert unknown ca", "sslv3 alert certificate expired"]) {
      expect(isDisbelief(alert(words))).toBe(true);
    }
    expect(isDisbelief(alert("tlsv1 alert protocol version"))).toBe(false);
    expect(isDisbelief("read ECONNRESET")).toBe(false);
  });

  it("of clients are told to handlers, and whether they are to be believed", async () => {
    const clients = new CertificateAuthority("clients-ca", Date.now());
    const { certPem: cert, keyPem: key } = clients.issue({
      commonName: "apiserver",
      organizations: ["masters"],
      usage: "client",
    });
    for (const clientAuthorities of [clients.certPem, undefined]) {
      await using at = await startServer({
        clientAuthorities,
        handle: async ({ peer }) => ({ status: 200, body: { ...peer } }),
      });
      const shown = JSON.parse((await ask(at, { client: { cert, key } })).text);
      expect(shown).toMatchObject({
        commonName: "apiserver",
        organizations: ["masters"],
        issuer: "clients-ca",
        verified: clientAuthorities !== undefined,
      });
      expect((await ask(at)).text).toBe("{}");
    }
  });
});

describe("drain", () => {
  it("answers what was asked, takes nothing new, and tells clients to go", async () => {
    const { handle, release } = held();
    await using at = await startServer({ handle });
    const agent = new Agent({ keepAlive: true });
    const session = openHttp2(at);
    const goaway = new Promise((resolve) => session.once("goaway", resolve));
    const asked = [ask(at, { agent }), askHttp2(session)];
    while (at.server.health().inFlight < 2) await turn();
    const drained = at.server.drain(60_000);
    expect(at.server.health().serving).toBe(false);
    await goaway;
    await expect(ask(at)).rejects.toThrow();
    release();
    const [one, two] = (await Promise.all(asked)) as [Answered, Answered];
    expect([one.status, one.headers.connection, two.status]).toEqual([200, "close", 200]);
    await drained;
    while (at.server.health().connections > 0) await turn();
    expect(at.server.health()).toMatchObject({ inFlight: 0, connections: 0 });
    agent.destroy();
  });

  it("waits no longer than its grace, and then tells handlers", async () => {
    const clock = new VirtualClock();
    let reason: unknown;
    await using at = await startServer({
      clock,
      handle: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
          });
        }),
    });
    const lost = ask(at).catch(() => "lost");
    while (at.server.health().heldBytes === 0) await turn();
    const drained = at.server.drain(5_000);
    await clock.advance(4_999);
    expect(reason).toBeUndefined();
    await clock.advance(1);
    expect(String(reason)).toContain("the webhook server stops");
    await clock.advance(1_000);
    await drained;
    expect(await lost).toBe("lost");
  });

  it("ends at once when there is nothing to answer, also with idle connections, and twice is once", async () => {
    const clock = new VirtualClock();
    const at = await startServer({ clock });
    const agent = new Agent({ keepAlive: true });
    await ask(at, { agent });
    const session = openHttp2(at);
    await askHttp2(session);
    await Promise.all([at.server.drain(60_000), at.server.drain(60_000), at.server.close()]);
    while (at.server.health().connections > 0) await turn();
    expect(at.server.health()).toMatchObject({ serving: false, connections: 0 });
    agent.destroy();
  });
});

describe("start", () => {
  it("says which port is taken", async () => {
    await using at = await startServer();
    await expect(startServer({ port: at.port })).rejects.toThrow(
      `The webhook server cannot listen on 127.0.0.1, port ${at.port}: it is taken by another program.`,
    );
  });

  it("says that credentials cannot be used", async () => {
    const options = { port: 0, handle: async () => OK, onProblem: () => undefined, clock: systemClock };
    const credentials = { cert: "x", key: "y" };
    await expect(WebhookServer.start({ ...options, credentials })).rejects.toThrow("cannot be used");
  });
});

describe("connections", () => {
  it("beyond the limit are not taken, which is told", async () => {
    await using at = await startServer({ limits: { connections: 1 } });
    const session = openHttp2(at);
    expect((await askHttp2(session)).status).toBe(200);
    await expect(ask(at)).rejects.toThrow();
    expect(at.problems.map(({ message }) => message)).toEqual([
      "the webhook server has as many connections as it takes",
    ]);
    session.close();
  });
});

const OK = { status: 200, body: {} };

function circle(): unknown {
  const one: { self?: unknown } = {};
  one.self = one;
  return one;
}

/** A handler that waits until it is let go. */
function held() {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const handle = async () => {
    await gate;
    return OK;
  };
  return { handle, release: () => release() };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
