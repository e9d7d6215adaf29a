/** What a follower of a view's requests hears. */
import { describe, expect, it, onTestFinished } from "vitest";
import { answer, type Handler, TestServer } from "../fixtures/index.ts";
import { type Clock, systemClock } from "../meta/index.ts";
import type { RequestListener } from "../objects/index.ts";
import type { RequestAttempt } from "../transport/index.ts";
import { Client } from "./client.ts";

/** The waits between attempts take no time. */
const hasty: Clock = { ...systemClock, after: (ms, fn) => systemClock.after(ms >= 20_000 ? ms : 0, fn) };

async function connect(handler: Handler): Promise<Client> {
  const server = await TestServer.start(handler);
  const client = await Client.connect({ url: server.url, clock: hasty });
  onTestFinished(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  return client;
}

/** Writes down what it hears, in order. */
function notebook(): { heard: unknown[]; onRequest: RequestListener } {
  const heard: unknown[] = [];
  const onRequest: RequestListener = ({ method, path, watch, websocket }) => {
    heard.push(`${method} ${path}${watch ? " watch" : ""}${websocket ? " websocket" : ""}`);
    return {
      attempted: (attempt) => heard.push(attempt),
      ended: (end) => heard.push("error" in end ? `failed: ${(end.error as Error).message}` : `ended: ${end.status}`),
    };
  };
  return { heard, onRequest };
}

describe("a follower of requests", () => {
  it("hears of a request before it is sent, of each attempt, and of the end", async () => {
    let count = 0;
    const client = await connect((_, response) =>
      ++count === 1 ? answer(response, 503, { message: "busy" }) : answer(response, 200, { a: 1 }),
    );
    const { heard, onRequest } = notebook();
    await client.with({ onRequest }).raw({ method: "PUT", path: "/api/v1/nodes/a", body: { größe: 1 } });
    expect(heard).toEqual([
      "PUT /api/v1/nodes/a",
      { status: 503, sentBytes: 13, receivedBytes: '{"message":"busy"}'.length },
      { status: 200, sentBytes: 13, receivedBytes: '{"a":1}'.length },
      "ended: 200",
    ]);
  });

  it("hears of the answer to a stream when it begins, without its size", async () => {
    const client = await connect((_, response) => answer(response, 200, { type: "BOOKMARK" }));
    const { heard, onRequest } = notebook();
    const request = { method: "GET", path: "/api/v1/pods", query: { watch: true }, stream: true };
    await (await client.with({ onRequest }).raw(request)).text();
    expect(heard).toEqual([
      "GET /api/v1/pods watch",
      { status: 200, sentBytes: 0, receivedBytes: undefined },
      "ended: 200",
    ]);
  });

  it("hears of the error that the caller gets", async () => {
    const client = await connect((_, response) => answer(response, 404, { message: 'pods "x" not found' }));
    const { heard, onRequest } = notebook();
    await client
      .with({ onRequest })
      .raw({ method: "GET", path: "/api/v1/pods/x" })
      .catch(() => undefined);
    expect(heard.slice(1)).toEqual([
      { status: 404, sentBytes: 0, receivedBytes: expect.any(Number) },
      expect.stringMatching(/^failed: .*pods "x" not found/),
    ]);
  });

  it("hears of an attempt without an answer", async () => {
    const client = await connect((_, response) => response.destroy());
    const { heard, onRequest } = notebook();
    await client
      .with({ onRequest })
      .raw({ method: "POST", path: "/api/v1/pods", body: {}, retry: false })
      .catch(() => undefined);
    expect(heard[1]).toEqual({ status: undefined, sentBytes: 2, receivedBytes: undefined });
    expect(heard).toHaveLength(3);
  });

  it("is one of several: those of the views above, and whoever comes with the request", async () => {
    const client = await connect((_, response) => answer(response, 200, {}));
    const above = notebook();
    const below = notebook();
    const attempts: RequestAttempt[] = [];
    const silent: RequestListener = () => {};
    const view = client.with({ onRequest: above.onRequest }).with({ onRequest: silent }).with(below);
    await view.raw({ method: "GET", path: "/", onAttempt: (attempt) => attempts.push(attempt) });
    expect(above.heard).toEqual(below.heard);
    expect(above.heard).toEqual(["GET /", attempts[0], "ended: 200"]);
    expect(attempts).toHaveLength(1);
  });
});
