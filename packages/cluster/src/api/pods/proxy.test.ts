import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call } from "../../test-requests.ts";

const CORE = "/api/v1/namespaces/default";

/** Answers what the path asks for, so that the test sees what arrived. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://program");
  const { pathname } = url;
  if (pathname === "/redirect") response.writeHead(302, { location: "/moved?x=1" }).end();
  else if (pathname === "/away") response.writeHead(302, { location: "https://elsewhere.example.com/x" }).end();
  else if (pathname === "/broken") response.writeHead(200, { "content-length": 100 }).write("half");
  else if (pathname === "/large") response.end(Buffer.alloc(3_000_000, "x"));
  else {
    const status = Number(url.searchParams.get("status") ?? 200);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.writeHead(status, { "content-type": "text/x-seen", "set-cookie": ["a=1", "b=2"] });
      const { method, url: asked, headers } = request;
      response.write(`${method} ${asked}\n`);
      response.end(JSON.stringify({ headers, body: Buffer.concat(chunks).toString() }));
    });
  }
  if (pathname === "/broken") setImmediate(() => response.destroy());
}

describe("the proxy of the API server", () => {
  let cluster: Cluster;
  let program: Server;

  beforeAll(async () => {
    program = createServer(answer);
    await new Promise<void>((resolve) => program.listen(0, "127.0.0.1", resolve));
    cluster = await Cluster.start({ tls: false, kubelet: "simulate" });
    const port = (program.address() as AddressInfo).port;
    cluster.pods.program({ labels: "app=web" }, { ports: { 8080: port } });
    cluster.pods.program("slow", { ready: false });
    cluster.pods.program("waiting", { startDelay: "1h" });
    const pod = (name: string, labels: object, ports: object[] = []) =>
      call(cluster, "POST", `${CORE}/pods`, {
        body: { metadata: { name, labels }, spec: { containers: [{ name: "c", image: "i", ports }] } },
      });
    const service = (name: string, spec: object) =>
      call(cluster, "POST", `${CORE}/services`, { body: { metadata: { name }, spec } });
    await Promise.all([
      pod("web", { app: "web" }, [{ name: "http", containerPort: 8080 }]),
      pod("slow", { app: "slow" }),
      pod("waiting", {}),
      service("web", {
        selector: { app: "web" },
        ports: [
          { name: "first", port: 80, targetPort: "http" },
          { name: "second", port: 81, targetPort: 8080 },
          { name: "closed", port: 82, targetPort: 9 },
        ],
      }),
      service("single", { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] }),
      service("slow", { selector: { app: "slow" }, ports: [{ port: 80 }] }),
    ]);
    await vi.waitFor(async () => {
      const { body } = await call(cluster, "GET", `${CORE}/pods/web`);
      expect(body.status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
    }, 170_000);
  });

  afterAll(async () => {
    await cluster?.stop();
    program?.close();
  });

  const seen = (text: string) => {
    const [line = "", rest = ""] = text.split(/\n(.*)/s);
    return { line, ...(JSON.parse(rest) as { headers: Record<string, string>; body: string }) };
  };

  it.for([
    "pods/web",
    "pods/web:8080",
    "pods/http:web:8080",
    "services/web:80",
    "services/web:first",
    "services/web:second",
    "services/http:web:81",
    "services/single",
    "services/single:80",
  ])("leads %s to the program", async (id) => {
    const answered = await call(cluster, "GET", `${CORE}/${id}/proxy/a%20b/c?x=1&x=2`);
    expect([answered.status, seen(answered.text).line]).toEqual([200, "GET /a%20b/c?x=1&x=2"]);
  });

  it.for([
    ["services/absent:80", 404, 'services "absent" not found'],
    ["pods/absent", 404, 'pods "absent" not found'],
    ["services/web:99", 503, 'no service port 99 found for service "web"'],
    ["services/web:third", 503, 'no endpoints available for service "web:third"'],
    ["services/slow:80", 503, 'no endpoints available for service "slow"'],
    ["services/ftp:web:80", 400, 'invalid service request "ftp:web:80"'],
    ["pods/waiting:80", 400, "address not allowed"],
    ["pods/a:b:c:d", 400, 'invalid pod request "a:b:c:d"'],
  ] as const)("answers for %s with %i", async ([id, status, message]) => {
    const { body } = await call(cluster, "GET", `${CORE}/${id}/proxy/`);
    expect(body).toMatchObject({ kind: "Status", code: status, message });
  });

  it("says why it does not reach a program", async () => {
    const { status, body } = await call(cluster, "GET", `${CORE}/services/web:82/proxy/`);
    expect(status).toBe(503);
    expect(body.message).toContain("error trying to reach service: dial tcp4 127.0.0.1:9: connect: connection refused");
  });

  it.for(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "hands on %s with its body, and every answer",
    async (method) => {
      const path = `${CORE}/services/web:80/proxy/things?status=418`;
      const { status, text, headers } = await call(cluster, method, path, { body: "moin", type: "text/x-own" });
      expect(status).toBe(418);
      expect(headers).toMatchObject({ "content-type": "text/x-seen", "set-cookie": ["a=1", "b=2"] });
      expect(seen(text)).toMatchObject({ line: `${method} /things?status=418`, body: "moin" });
      expect(seen(text).headers).toMatchObject({
        "content-type": "text/x-own",
        "x-forwarded-uri": `${CORE}/services/web:80/proxy/things`,
      });
      expect(seen(text).headers, "the credentials are for the API server").not.toHaveProperty("authorization");
    },
  );

  it("answers HEAD without a body", async () => {
    const { status, text, headers } = await call(cluster, "HEAD", `${CORE}/services/web:80/proxy/x`);
    expect([status, text, headers["content-type"]]).toEqual([200, "", "text/x-seen"]);
  });

  it("sends browsers to the folder, and keeps redirects inside of it", async () => {
    const location = async (path: string) => {
      const { status, headers } = await call(cluster, "GET", `${CORE}/services/web:80/proxy${path}`);
      return [status, headers.location];
    };
    expect(await location("?x=1")).toEqual([301, `${CORE}/services/web:80/proxy/?x=1`]);
    expect(await location("/redirect")).toEqual([302, `${CORE}/services/web:80/proxy/moved?x=1`]);
    expect(await location("/away")).toEqual([302, "https://elsewhere.example.com/x"]);
  });

  it("passes large answers whole, and broken ones as broken", async () => {
    expect((await call(cluster, "GET", `${CORE}/pods/web/proxy/large`)).text).toHaveLength(3_000_000);
    await expect(call(cluster, "GET", `${CORE}/pods/web/proxy/broken`)).rejects.toThrow(/aborted|hang up/);
  });
});
