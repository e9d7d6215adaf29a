import { describe, expect, it } from "vitest";
import { durably } from "./durable.ts";
import { type ApiRequest, type ApiResponse, type StreamSink, textResponse } from "./exchange.ts";

/** A disk whose sync is made by the test. */
function manualDisk() {
  let waiters: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const disk = {
    settled: true,
    frozen: false,
    durable: () =>
      disk.settled
        ? Promise.resolve()
        : new Promise<void>((resolve, reject) => {
            waiters.push({ resolve, reject });
          }),
    write() {
      disk.settled = false;
    },
    sync() {
      disk.settled = true;
      for (const { resolve } of waiters) resolve();
      waiters = [];
    },
    fail() {
      for (const { reject } of waiters) reject(new Error("no space left"));
      waiters = [];
    },
  };
  return disk;
}

const REQUEST: ApiRequest = {
  method: "GET",
  path: "/",
  query: new URLSearchParams(),
  headers: {},
  body: async () => new Uint8Array(),
  host: "",
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("durably", () => {
  it("holds an answer back until what it tells is safe", async () => {
    const disk = manualDisk();
    const handle = durably(async () => textResponse(200, "ok"), disk);
    expect(await handle(REQUEST)).toMatchObject({ status: 200 });
    disk.write();
    let answer: ApiResponse | undefined;
    const waiting = handle(REQUEST).then((response) => {
      answer = response;
    });
    await turn();
    expect(answer).toBeUndefined();
    disk.sync();
    await waiting;
    expect(answer).toMatchObject({ status: 200, body: "ok" });
  });

  it("answers 500 when it never will be", async () => {
    const disk = manualDisk();
    disk.write();
    const waiting = durably(async () => textResponse(201, "made"), disk)(REQUEST);
    await turn();
    disk.fail();
    const answer = await waiting;
    expect(answer).toMatchObject({ status: 500 });
    expect(JSON.parse((answer as { body: string }).body)).toMatchObject({
      reason: "InternalError",
      message: "Internal error occurred: no space left",
    });
  });

  it("lets reads go on when nothing can be written any more", async () => {
    const disk = manualDisk();
    disk.write();
    disk.frozen = true;
    expect(await durably(async () => textResponse(200, "ok"), disk)(REQUEST)).toMatchObject({ status: 200 });
  });

  it("holds events back, in order, and breaks the stream when they never become safe", async () => {
    const disk = manualDisk();
    const out: string[] = [];
    const client: StreamSink = {
      write: (chunk) => out.push(String(chunk)),
      end: () => out.push("end"),
      reset: () => out.push("reset"),
    };
    let server: StreamSink | undefined;
    const stream: ApiResponse = {
      type: "stream",
      status: 200,
      headers: {},
      start: (sink) => {
        server = sink;
        return () => {};
      },
    };
    const answer = await durably(async () => stream, disk)(REQUEST);
    if (answer.type === "stream") answer.start(client);
    server?.write("1");
    disk.write();
    server?.write("2");
    server?.write("3");
    expect(out).toEqual(["1"]);
    disk.sync();
    // Something new, while the old is on its way: it must not overtake.
    server?.write("4");
    await turn();
    expect(out).toEqual(["1", "2", "3", "4"]);
    disk.write();
    server?.write("5");
    server?.end();
    await turn();
    disk.fail();
    await turn();
    expect(out).toEqual(["1", "2", "3", "4", "reset"]);
  });
});
