import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as secure } from "node:tls";
import { CertificateAuthority } from "@lotse/client/certificates";
import { describe, expect, it } from "vitest";
import { Stage } from "./controllers/workloads/test-stage.ts";
import { WorkCount } from "./controllers/workloads/test-work-count.ts";
import { call } from "./test-requests.ts";
import { Listener } from "./transport/index.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

const CLIENTS = 200;

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

describe("requests that come in the same moment", () => {
  it("are answered a few in each turn of the event loop, so that others are heard between them", async () => {
    await using stage = await Stage.start({ kubelet: false });
    await call(stage.cluster, "POST", MAPS, { body: { metadata: { name: "a" } } });
    await stage.cluster.settle();
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => connected(stage.cluster.port)));
    const head = `GET ${MAPS}/a HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${stage.cluster.token}\r\n\r\n`;
    const ask = () =>
      Promise.all(
        sockets.map((socket) => {
          const answer = once(socket, "data");
          socket.write(head);
          return answer;
        }),
      );
    // Connections are taken one in each turn by themselves.
    await ask();
    using count = new WorkCount();
    const answers = await ask();
    for (const [bytes] of answers) expect(String(bytes)).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of sockets) socket.destroy();
    const each = count.total / CLIENTS;
    expect(count.most).toBeLessThanOrEqual(33 * each);
  });
});

describe("the answer to a deletion of many objects", () => {
  it("is written in slices, as that of a list is", async () => {
    await using stage = await Stage.start({ kubelet: false });
    const data = { text: "x".repeat(100) };
    for (let at = 0; at < 450; at++) {
      await call(stage.cluster, "POST", MAPS, { body: { metadata: { name: `one-${at}` }, data } });
    }
    await stage.cluster.settle();
    const { stringify } = JSON;
    let longest = 0;
    JSON.stringify = ((...args: Parameters<typeof stringify>) => {
      const text: string | undefined = stringify(...args);
      longest = Math.max(longest, text?.length ?? 0);
      return text;
    }) as typeof stringify;
    try {
      const { body, text } = await call(stage.cluster, "DELETE", MAPS);
      expect(body.items.length).toBeGreaterThanOrEqual(450);
      expect(longest).toBeLessThan(text.length / 100);
    } finally {
      JSON.stringify = stringify;
    }
  });
});

describe("connections that are being greeted", () => {
  it("are counted until they can ask, or have gone: the cluster's own work makes room for them", async () => {
    const authority = new CertificateAuthority("test", Date.now());
    const listener = await Listener.open({
      host: "127.0.0.1",
      now: Date.now,
      port: 0,
      tls: authority.issue({ commonName: "test", hosts: ["localhost"], usage: "server" }),
      handle: () => Promise.reject(new Error("not asked")),
    });
    const counted = async (count: number) => {
      while (listener.greeting !== count) await new Promise((resolve) => setImmediate(resolve));
    };
    const silent = await connected(listener.port);
    await counted(1);
    const greeted = secure({ port: listener.port, host: "127.0.0.1", ca: authority.certPem, servername: "localhost" });
    await once(greeted, "secureConnect");
    await counted(1);
    silent.destroy();
    await counted(0);
    greeted.destroy();
    await listener.close();
  });
});
