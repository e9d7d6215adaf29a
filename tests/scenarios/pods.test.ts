import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type Client, Pod } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure } from "../../packages/client/src/test-failure.ts";
import { freePort } from "../../packages/cluster/src/test-port.ts";

/** Says when it is up, repeats what it hears, and ends with 7 when it is asked to. */
const PROGRAM = `
console.log("up " + process.pid);
process.stdin.on("data", (data) => String(data) === "die\\n" ? process.exit(7) : console.log("heard " + String(data).trim()));
setInterval(() => {}, 1000);
`;
const SERVER = `
require("node:http").createServer((request, response) => request.pipe(response)).listen(Number(process.env.PORT), "127.0.0.1");
`;

describe("the client and pods that are processes of the embedded cluster", () => {
  let cluster: Cluster;
  let client: Client;
  let folder: string;
  let port: number;
  let main: Pod;
  let web: Pod;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "lotse-pods-"));
    port = await freePort();
    cluster = await Cluster.start({ kubelet: "process" });
    client = await cluster.connect();
    const pod = (name: string, container: object) =>
      client.create(
        new Pod({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name },
          spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "c", image: "program", ...container }] },
        }),
      );
    main = await pod("main", { command: [process.execPath, "-e", PROGRAM], stdin: true });
    web = await pod("web", {
      command: [process.execPath, "-e", SERVER],
      env: [{ name: "PORT", value: String(port) }],
      ports: [{ name: "http", containerPort: port }],
      readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
    });
  });

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("run commands: output, exit code, input that ends", async () => {
    expect(await main.exec(["sh", "-c", "echo out; echo err >&2"])).toMatchObject({
      stdout: "out\n",
      stderr: "err\n",
      exitCode: 0,
      container: "c",
    });
    expect(await failure(main.exec(["sh", "-c", "echo no >&2; exit 7"]))).toMatchObject({
      exitCode: 7,
      stderr: "no\n",
    });
    const input = "x".repeat(1_000_000);
    expect((await main.exec(["cat"], { stdin: input })).stdout).toBe(input);
    const running = await main.spawn(["cat"]);
    running.stdin.end("streamed");
    expect(await text(running.stdout)).toBe("streamed");
    expect(await running.exitCode).toBe(0);
  });

  it("answer for what is not there with the server's words", async () => {
    expect(await failure(Pod.ref("absent").withClient(client).exec(["ls"]))).toMatchObject({ status: 404 });
    expect(await failure(main.exec(["ls"], { container: "x" }))).toMatchObject({ code: "LOTSE_CONFIG" });
    const unseen = main.exec(["ls"], { container: "x", waitReady: false });
    expect(await failure(unseen)).toMatchObject({ status: 400, message: "container x is not valid for pod main" });
  });

  it("take input by attach, and their logs go on over a restart", async () => {
    const log = main.logs({ follow: true })[Symbol.asyncIterator]();
    const line = async () => (await log.next()).value?.replace(/\d+/, "N");
    expect(await line()).toBe("up N");
    const attached = await main.attach();
    attached.stdin.write("moin\n");
    expect(String((await attached.stdout[Symbol.asyncIterator]().next()).value)).toContain("heard moin");
    attached.stdin.write("die\n");
    expect([await line(), await line()]).toEqual(["heard moin", "up N"]);
    await log.return?.();
    expect(await main.logs({ previous: true, tailLines: 1 }).text()).toBe("heard moin\n");
    const [entry] = await main.logs({ timestamps: "parse" }).toArray();
    expect(entry?.time.getFullYear()).toBeGreaterThan(2000);
  });

  it("are reached through a forwarded port, a connection and an agent", async () => {
    await web.wait("condition=Ready");
    await using forward = await web.portForward("http");
    const body = Buffer.alloc(5_000_000, "lotse");
    const response = await fetch(forward.url("/"), { method: "POST", body });
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
    const socket = await web.connect(port);
    socket.write("POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi");
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 OK[\s\S]*hi/);
    const agent = await web.agent(port);
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      http.request({ method: "POST", agent, host: "web" }, resolve).once("error", reject).end("by agent");
    });
    expect(await text(answer)).toBe("by agent");
    const errors: unknown[] = [];
    await using closed = await web.portForward(await freePort(), { onError: (error) => errors.push(error) });
    expect(await failure(fetch(closed.url()))).toBeInstanceOf(TypeError);
    expect(errors).toMatchObject([{ code: "LOTSE_CONNECTION_CLOSED" }]);
  });

  it("exchange files", async () => {
    const file = path.join(folder, "hello.txt");
    await writeFile(file, "hello", { mode: 0o640 });
    await web.copyTo(file, "sent.txt");
    expect((await web.exec(["cat", "sent.txt"])).stdout).toBe("hello");
    await web.copyFrom("sent.txt", path.join(folder, "back.txt"));
    expect(await readFile(path.join(folder, "back.txt"), "utf8")).toBe("hello");
  });
});
