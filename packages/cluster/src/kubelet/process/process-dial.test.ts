import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call } from "../../test-requests.ts";
import { listeningSockets, readLsof } from "./process-sockets-table.ts";

const PODS = "/api/v1/namespaces/default/pods";
const PATIENCE = { timeout: 170_000, interval: 20 };

/** Listens where it is free, and says where. */
const LISTEN = `const server = require("node:http").createServer((_, answer) => answer.end("from the pod"));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

describe("the ports of pods that are processes", { timeout: 300_000 }, () => {
  let cluster: Cluster;
  let stranger: Server;

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, kubelet: "process" });
    stranger = createServer((_, answer) => answer.end("from somebody else"));
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  }, 300_000);

  afterAll(async () => {
    await cluster?.stop();
    stranger.close();
  });

  async function start(name: string, command: string[], ports: object[] = []): Promise<number> {
    const body = { metadata: { name }, spec: { containers: [{ name: "c", image: "i", command, ports }] } };
    expect((await call(cluster, "POST", PODS, { body })).status).toBe(201);
    return vi.waitFor(async () => {
      const { text } = await call(cluster, "GET", `${PODS}/${name}/log`);
      expect(text).toMatch(/^\d+\n$/);
      return Number(text);
    }, PATIENCE);
  }

  const ask = (pod: string, port: number) => call(cluster, "GET", `${PODS}/${pod}:${port}/proxy/`);

  it("are those that it opened itself, or a process that it started", async () => {
    const own = await start("own", [process.execPath, "-e", LISTEN]);
    expect(await ask("own", own)).toMatchObject({ status: 200, text: "from the pod" });
    const childs = await start("childs", ["sh", "-c", '"$0" -e "$1"; :', process.execPath, LISTEN]);
    expect(await ask("childs", childs)).toMatchObject({ status: 200, text: "from the pod" });
    // Of another pod of this machine, which in a cluster has another address.
    const refused = `dial tcp4 127.0.0.1:${own}: connect: connection refused`;
    expect(await ask("childs", own)).toMatchObject({ status: 503, text: expect.stringContaining(refused) });
  });

  it.runIf(process.platform === "linux")(
    "are also those of a process that has left its group and its parent",
    async () => {
      const daemon = `const { spawn } = require("node:child_process");
      spawn(process.execPath, ["-e", ${JSON.stringify(LISTEN)}], { detached: true, stdio: "inherit" }).unref();
      `;
      const between = `require("node:child_process").spawnSync(process.execPath, ["-e", ${JSON.stringify(daemon)}], { stdio: "inherit" });
      setInterval(() => {}, 1000);`;
      const port = await start("daemon", [process.execPath, "-e", between]);
      expect(await ask("daemon", port)).toMatchObject({ status: 200, text: "from the pod" });
    },
  );

  it("are none that somebody else of this machine has opened, not even when the pod declares them", async () => {
    const { port } = stranger.address() as AddressInfo;
    await start("liar", ["sh", "-c", "echo 1; exec sleep 1000"], [{ containerPort: port }]);
    const refused = `dial tcp4 127.0.0.1:${port}: connect: connection refused`;
    expect(await ask("liar", port)).toMatchObject({ status: 503, text: expect.stringContaining(refused) });
  });
});

describe("the table of sockets", () => {
  const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
  const line = (address: string, state: string, inode: number) =>
    `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0 100 0 0 10 0\n`;
  const words = (...hex: string[]) =>
    hex.map((word) => (os.endianness() === "LE" ? word.replace(/(..)(..)(..)(..)/, "$4$3$2$1") : word)).join("");
  const LOOPBACK = words("7F000001");

  it("tells who answers at 127.0.0.1: whoever listens there, else whoever listens everywhere", () => {
    const everywhere = line("00000000:1F90", "0A", 1);
    expect(listeningSockets(HEAD + everywhere, "", 8080)).toEqual(new Set(["socket:[1]"]));
    expect(listeningSockets(HEAD + everywhere + line(`${LOOPBACK}:1F90`, "0A", 2), "", 8080)).toEqual(
      new Set(["socket:[2]"]),
    );
    const mapped = words("00000000", "00000000", "0000FFFF", "7F000001");
    expect(listeningSockets(HEAD, HEAD + line(`${mapped}:1F90`, "0A", 3), 8080)).toEqual(new Set(["socket:[3]"]));
    expect(listeningSockets(HEAD, HEAD + line(`${"0".repeat(32)}:1F90`, "0A", 4), 8080)).toEqual(
      new Set(["socket:[4]"]),
    );
  });

  it("knows nobody at other ports and addresses, and no connections", () => {
    const others = line(`${LOOPBACK}:1F91`, "0A", 1) + line(`${LOOPBACK}:1F90`, "01", 2);
    const elsewhere = line(`${words("0A000001")}:1F90`, "0A", 3);
    const six = line(`${words("00000000", "00000000", "00000000", "00000001")}:1F90`, "0A", 4);
    expect(listeningSockets(HEAD + others + elsewhere, HEAD + six, 8080)).toEqual(new Set());
  });
});

describe("the answer of lsof", () => {
  it("names processes with their groups", () => {
    expect(readLsof("p12\ng10\nf20\np13\ng13\n")).toEqual([
      { pid: 12, group: 10 },
      { pid: 13, group: 13 },
    ]);
    expect(readLsof("")).toEqual([]);
  });
});
