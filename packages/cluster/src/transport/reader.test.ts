import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call } from "../test-requests.ts";
import { openSocket, type TestSocket } from "../test-websocket.ts";

const PODS = "/api/v1/namespaces/default/pods";
const LONG = "x".repeat(5_000);

describe("logs over a WebSocket", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, kubelet: { mode: "simulate", startDelay: 0 } });
    cluster.pods.program("web", { logs: ["container is alive"] });
    cluster.pods.program("long", { logs: [LONG] });
    cluster.pods.program("ends", { logs: ["one"], exit: { after: 300 } });
    for (const name of ["web", "long", "ends"]) {
      const spec = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };
      await call(cluster, "POST", PODS, { body: { metadata: { name }, spec } });
    }
    await cluster.settle();
  });

  afterAll(() => cluster.stop());

  /** Messages until the server says goodbye. */
  async function read(socket: TestSocket) {
    const messages: { readonly opcode: number; readonly text: string }[] = [];
    for (;;) {
      const { opcode, data } = await socket.next();
      if (opcode === 8) return messages;
      messages.push({ opcode, text: data.toString() });
    }
  }

  it.each([
    [["binary.k8s.io"], "binary.k8s.io"],
    [[], undefined],
  ] as const)("come as bytes, after an empty message, to who offers %j", async (offered, chosen) => {
    const socket = await openSocket(cluster, `${PODS}/web/log?container=c`, offered);
    expect([socket.status, socket.protocol]).toEqual([101, chosen]);
    expect(await read(socket)).toEqual([
      { opcode: 2, text: "" },
      { opcode: 2, text: "container is alive\n" },
    ]);
  });

  it("come as base64 to who can read texts only", async () => {
    const socket = await openSocket(cluster, `${PODS}/web/log`, ["base64.binary.k8s.io"]);
    expect(socket.protocol).toBe("base64.binary.k8s.io");
    const text = Buffer.from("container is alive\n").toString("base64");
    expect(await read(socket)).toEqual([
      { opcode: 1, text: "" },
      { opcode: 1, text },
    ]);
  });

  it("come in messages of 2 KiB", async () => {
    const messages = await read(await openSocket(cluster, `${PODS}/long/log`, ["binary.k8s.io"]));
    expect(messages.map(({ text }) => text.length)).toEqual([0, 2_048, 2_048, 905]);
    expect(messages.map(({ text }) => text).join("")).toBe(`${LONG}\n`);
  });

  it("are followed to the end of the container", async () => {
    const messages = await read(await openSocket(cluster, `${PODS}/ends/log?follow=true`, ["binary.k8s.io"]));
    expect(messages.map(({ text }) => text).join("")).toBe("one\n");
  });

  it("are refused as they are elsewhere, and to who offers protocols that nobody knows", async () => {
    const missing = await openSocket(cluster, `${PODS}/nobody/log`, ["binary.k8s.io"]);
    expect([missing.status, JSON.parse(missing.text).reason]).toEqual([404, "NotFound"]);
    const unknown = await openSocket(cluster, `${PODS}/web/log`, ["v4.channel.k8s.io"]);
    expect(unknown.status).toBe(403);
  });

  it("end when the client goes", async () => {
    const socket = await openSocket(cluster, `${PODS}/web/log?follow=true`, ["binary.k8s.io"]);
    await socket.next();
    socket.destroy();
    await cluster.settle();
    expect((await call(cluster, "GET", `${PODS}/web/log`)).text).toBe("container is alive\n");
  });
});
