import { createServer as createHttpServer, request, type Server } from "node:http";
import { connect, createServer, type Server as NetServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call } from "../../test-requests.ts";

/** Each pod is a process that has to start, on a machine that may be busy. */
const PATIENCE = { timeout: 170_000, interval: 20 };

const inNamespace = (namespace: string) => `/api/v1/namespaces/${namespace}`;

const listening = (server: Server | NetServer) =>
  new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
  );

/** Asks a proxy for an address, as curl does. */
const throughProxy = (proxy: string, url: string) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(proxy);
    const sent = request(
      { hostname, port, path: url, headers: { host: new URL(url).host }, agent: false },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => resolve({ status: answer.statusCode, text }));
      },
    );
    sent.on("error", reject).end();
  });

/** A tunnel through a proxy, as curl makes one for https: what was answered to `text`. */
const throughTunnel = (proxy: string, place: string, text: string) =>
  new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(proxy);
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", reject).on("close", () => resolve(answer));
    socket.end(`CONNECT ${place} HTTP/1.1\r\nhost: ${place}\r\n\r\n${text}`);
  });

describe("pods that are processes reach Services", { timeout: 300_000 }, () => {
  let cluster: Cluster;
  let web: Server;
  let echo: NetServer;
  let ports: { web: number; echo: number };

  beforeAll(async () => {
    web = createHttpServer((message, response) => {
      response.end(`${message.method} ${message.headers.host} ${message.url}`);
    });
    echo = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));
    ports = { web: await listening(web), echo: await listening(echo) };
    cluster = await Cluster.start({ tls: false, kubelet: "process" });
    await call(cluster, "POST", "/api/v1/namespaces", { body: { metadata: { name: "other" } } });
    await service("default", "web", [{ name: "http", port: 80, targetPort: ports.web }]);
    await service("default", "my-echo", [{ port: 7, targetPort: ports.echo }]);
    await service("default", "empty", [{ port: 80, targetPort: 1 }], { app: "nobody" });
    await service("other", "far", [{ port: 8080, targetPort: ports.web }]);
    // A pod that does nothing by itself: what listens is in this test.
    for (const namespace of ["default", "other"]) await pod(namespace, "backend", undefined);
    await vi.waitFor(async () => {
      for (const namespace of ["default", "other"])
        expect(await read(namespace, "backend")).toMatchObject({ status: { phase: "Running" } });
    }, PATIENCE);
  }, 300_000);

  afterAll(async () => {
    await cluster?.stop();
    web.closeAllConnections();
    web.close();
    echo.close();
  });

  async function service(namespace: string, name: string, wanted: object[], selector: object = { app: "web" }) {
    const body = { metadata: { name }, spec: { selector, ports: wanted } };
    const answer = await call(cluster, "POST", `${inNamespace(namespace)}/services`, { body });
    expect(answer.status, answer.text).toBe(201);
  }

  async function pod(namespace: string, name: string, command: string[] | undefined, spec: object = {}) {
    const labels = command ? {} : { app: "web" };
    const containers = [{ name: "c", image: "i", ...(command && { command }) }];
    const body = { metadata: { name, labels }, spec: { containers, restartPolicy: "Never", ...spec } };
    const answer = await call(cluster, "POST", `${inNamespace(namespace)}/pods`, { body });
    expect(answer.status, answer.text).toBe(201);
  }

  const read = async (namespace: string, name: string) =>
    (await call(cluster, "GET", `${inNamespace(namespace)}/pods/${name}`)).body;

  /** What a program prints that runs in a pod of its own. */
  async function printed(name: string, command: string[], namespace = "default", spec: object = {}): Promise<string> {
    await pod(namespace, name, command, spec);
    await vi.waitFor(
      async () => expect((await read(namespace, name)).status.phase).toMatch(/^(Succeeded|Failed)$/),
      PATIENCE,
    );
    return (await call(cluster, "GET", `${inNamespace(namespace)}/pods/${name}/log`)).text;
  }

  const node = (program: string) => [process.execPath, "--input-type=module", "--eval", program];

  const environment = async (name: string, namespace = "default", spec: object = {}) => {
    const text = await printed(name, node("console.log(JSON.stringify(process.env))"), namespace, spec);
    return JSON.parse(text) as Record<string, string>;
  };

  it("by name, with Node.js, over every form of it and over any protocol", async () => {
    const asked = ["web", "web.default", "web.default.svc", "web.default.svc.cluster.local", "WEB", "far.other:8080"];
    const fetches = `for (const host of ${JSON.stringify(asked)}) console.log(await (await fetch("http://" + host + "/x")).text());`;
    expect(await printed("fetches", node(fetches))).toBe(
      asked.map((host) => `GET ${host.toLowerCase()} /x\n`).join(""),
    );
    const sockets = `
      import { connect } from "node:net";
      for (const socket of [connect(7, "my-echo"), connect({ port: 7, host: "my-echo.default" })]) {
        socket.end("moin\\n");
        for await (const chunk of socket) process.stdout.write(chunk);
      }`;
    expect(await printed("sockets", node(sockets))).toBe("moin\nmoin\n");
  });

  it("by a short name only those of their own namespace", async () => {
    const program = `for (const host of ["far", "web"]) console.log(await fetch("http://" + host + ":8080").then(
      (answer) => answer.text(), (error) => error.cause.code));`;
    expect(await printed("near", node(program), "other")).toMatch(/^GET far:8080 \/\n(ENOTFOUND|EAI_AGAIN)\n$/);
  });

  it("that came after them, and no longer those that have gone", async () => {
    const program = `
      for (let last = ""; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
        const next = await fetch("http://late/").then((answer) => answer.text(), () => "nobody");
        if (next !== last) console.log((last = next));
      }`;
    await pod("default", "early", node(program));
    const log = async () => (await call(cluster, "GET", `${inNamespace("default")}/pods/early/log`)).text;
    const is = (text: string) => vi.waitFor(async () => expect(await log()).toBe(text), PATIENCE);
    await is("nobody\n");
    await service("default", "late", [{ port: 80, targetPort: ports.web }]);
    await is("nobody\nGET late /\n");
    await call(cluster, "DELETE", `${inNamespace("default")}/services/late`);
    await is("nobody\nGET late /\nnobody\n");
  });

  it("by a proxy that other programs are told of, which knows the names and leaves the rest as it is", async () => {
    const { http_proxy: proxy = "", ...variables } = await environment("told");
    expect(variables).toMatchObject({
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      https_proxy: proxy,
      no_proxy: expect.stringContaining("127.0.0.1"),
    });
    expect(await throughProxy(proxy, "http://web/a?b=c")).toEqual({ status: 200, text: "GET web /a?b=c" });
    expect(await throughProxy(proxy, `http://localhost:${ports.web}/`)).toMatchObject({ status: 200 });
    expect(await throughProxy(proxy, "http://empty/")).toEqual({
      status: 502,
      text: 'no endpoints available for service "empty"\n',
    });
    expect(await throughTunnel(proxy, "my-echo:7", "moin")).toBe("HTTP/1.1 200 Connection Established\r\n\r\nmoin");
    expect(await throughTunnel(proxy, "empty:80", "")).toMatch(/^HTTP\/1\.1 502 .*"empty"\n$/s);
    expect(await (await fetch(proxy)).text()).toContain("http_proxy");
    const { http_proxy: elsewhere = "" } = await environment("told", "other");
    expect(await throughProxy(elsewhere, "http://web.default/")).toMatchObject({ status: 200 });
    expect(await throughProxy(elsewhere, "http://web/")).toMatchObject({ status: 502 });
  });

  it("by the variables that every cluster gives them", async () => {
    const { WEB_SERVICE_HOST: host, WEB_SERVICE_PORT: port, ...rest } = await environment("variables");
    expect(host).toBe("127.0.0.1");
    expect(rest).toMatchObject({
      WEB_SERVICE_PORT_HTTP: port,
      WEB_PORT: `tcp://127.0.0.1:${port}`,
      WEB_PORT_80_TCP: `tcp://127.0.0.1:${port}`,
      WEB_PORT_80_TCP_PROTO: "tcp",
      WEB_PORT_80_TCP_PORT: port,
      WEB_PORT_80_TCP_ADDR: "127.0.0.1",
      MY_ECHO_SERVICE_HOST: "127.0.0.1",
    });
    expect(rest).not.toHaveProperty("FAR_SERVICE_HOST");
    // They would make clients look for files of a pod that are not in their places here, and pass over $KUBECONFIG.
    expect(rest).not.toHaveProperty("KUBERNETES_SERVICE_HOST");
    expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe(`GET ${host}:${port} /`);
    expect(await environment("unlinked", "default", { enableServiceLinks: false })).not.toHaveProperty(
      "WEB_SERVICE_HOST",
    );
  });

  it("of which nobody is left behind: the ports are free when the cluster has stopped", async () => {
    const other = await Cluster.start({ tls: false, kubelet: "process" });
    const containers = [
      { name: "c", image: "i", command: ["sh", "-c", "echo $http_proxy $WEB_SERVICE_PORT; exec sleep 1000"] },
    ];
    const ofService = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };
    await call(other, "POST", `${inNamespace("default")}/services`, { body: ofService });
    const body = { metadata: { name: "p" }, spec: { containers } };
    await call(other, "POST", `${inNamespace("default")}/pods`, { body });
    const log = async () => (await call(other, "GET", `${inNamespace("default")}/pods/p/log`)).text;
    await vi.waitFor(async () => expect(await log()).toMatch(/^http:\S+ \d+\n$/), PATIENCE);
    const [proxy = "", port = ""] = (await log()).trim().split(" ");
    await other.stop();
    for (const at of [Number(new URL(proxy).port), Number(port)]) {
      const refused = await new Promise((resolve) =>
        connect(at, "127.0.0.1")
          .on("error", (error: NodeJS.ErrnoException) => resolve(error.code))
          .on("connect", () => resolve("connected")),
      );
      expect(refused).toBe("ECONNREFUSED");
    }
  });
});
