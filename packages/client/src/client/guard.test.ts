import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Client } from "./index.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function start(listener: RequestListener) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = await Client.connect({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  open.push(() => {
    server.close();
    server.closeAllConnections();
    void client.close();
  });
  return { client, seen };
}

const answerNothing: RequestListener = (_request, response) => response.end("{}");

class Closed extends Error {}

describe("a guard of a client's view", () => {
  it("lets nothing leave that it refuses, and its error is the caller's", async () => {
    const { client, seen } = await start(answerNothing);
    const guarded = client.with({
      guard: () => {
        throw new Closed();
      },
    });
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      await expect(guarded.raw({ method, path: "/api/v1/namespaces/a/pods/b" })).rejects.toBeInstanceOf(Closed);
    }
    expect(seen).toEqual([]);
  });

  it("is not asked for reads, nor for questions that are asked by creating something", async () => {
    const { client, seen } = await start(answerNothing);
    const guarded = client.with({
      guard: () => {
        throw new Closed();
      },
    });
    await guarded.raw({ method: "GET", path: "/api/v1/pods" });
    await guarded.raw({ method: "POST", path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body: {} });
    expect(seen).toHaveLength(2);
  });

  it("is asked also where the signal has aborted: that a write is refused says more", async () => {
    const { client, seen } = await start(answerNothing);
    const signal = AbortSignal.abort(new Error("the work shall end"));
    let closed = true;
    const guarded = client.with({
      signal,
      guard: () => {
        if (closed) throw new Closed();
      },
    });
    const write = () => guarded.raw({ method: "PUT", path: "/api/v1/namespaces/a/pods/b", body: {} });
    await expect(write()).rejects.toBeInstanceOf(Closed);
    closed = false;
    await expect(write()).rejects.toThrow("the work shall end");
    expect(seen).toEqual([]);
  });

  it("is asked again before each repetition", async () => {
    let asked = 0;
    const { client, seen } = await start((_request, response) => {
      response.statusCode = 503;
      response.setHeader("retry-after", "0");
      response.end("{}");
    });
    const guarded = client.with({
      guard: () => {
        if (++asked > 1) throw new Closed();
      },
    });
    const headers = { "content-type": "application/merge-patch+json" };
    const patch = guarded.raw({ method: "PATCH", path: "/api/v1/namespaces/a/pods/b", headers, body: {} });
    await expect(patch).rejects.toBeInstanceOf(Closed);
    expect([asked, seen.length]).toEqual([2, 1]);
  });

  it("is asked beside those of the view that it was made from, and told what would be sent", async () => {
    const { client } = await start(answerNothing);
    const told: string[] = [];
    const one = client.with({ guard: ({ method, path }) => told.push(`one ${method} ${path}`) });
    const two = one.with({ guard: ({ method }) => told.push(`two ${method}`) });
    await two.raw({ method: "DELETE", path: "/api/v1/namespaces/a/pods/b" });
    expect(told).toEqual(["one DELETE /api/v1/namespaces/a/pods/b", "two DELETE"]);
  });

  it("leaves the connection and the client usable after it has refused", async () => {
    const { client, seen } = await start(answerNothing);
    let closed = true;
    const guarded = client.with({
      guard: () => {
        if (closed) throw new Closed();
      },
    });
    const write = () => guarded.raw({ method: "PUT", path: "/api/v1/namespaces/a/pods/b", body: {} });
    await expect(write()).rejects.toBeInstanceOf(Closed);
    closed = false;
    expect((await write()).status).toBe(200);
    expect(seen).toHaveLength(1);
  });
});
