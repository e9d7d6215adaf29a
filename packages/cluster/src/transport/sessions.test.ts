import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call } from "../test-requests.ts";
import { openSocket, type TestSocket } from "../test-websocket.ts";

const PODS = "/api/v1/namespaces/default/pods";
const ALL = "stdin=true&stdout=true&stderr=true";

describe("sessions over a WebSocket", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, kubelet: { mode: "simulate", startDelay: 0 } });
    cluster.pods.program("web", {
      logs: ["started"],
      exec: async ({ command, stdin, stdout, stderr, text, onResize }) => {
        switch (command[0]) {
          case "cat":
            for await (const chunk of stdin) await stdout(chunk);
            return 0;
          case "count":
            return { stdout: String((await text()).length) };
          case "size":
            return new Promise((resolve) => {
              onResize(({ width, height }) => resolve(`${width}x${height}`));
            });
          case "break":
            throw new Error("the runtime is on fire");
          default:
            await stdout("out");
            await stderr("err");
            return Number(command[1] ?? 0);
        }
      },
      ports: {
        80: async (connection) => {
          for await (const chunk of connection.incoming) await connection.write(Buffer.from(chunk).reverse());
          connection.end();
        },
        81: (connection) => connection.end(),
      },
    });
    const container = { name: "c", image: "i" };
    await call(cluster, "POST", PODS, { body: { metadata: { name: "web" }, spec: { containers: [container] } } });
    await call(cluster, "POST", PODS, {
      body: { metadata: { name: "far" }, spec: { nodeName: "gone", containers: [container] } },
    });
    await call(cluster, "POST", PODS, {
      body: { metadata: { name: "gated" }, spec: { schedulingGates: [{ name: "g" }], containers: [container] } },
    });
    cluster.pods.program("stuck", { pullError: "no" });
    await call(cluster, "POST", PODS, { body: { metadata: { name: "stuck" }, spec: { containers: [container] } } });
    await cluster.settle();
  });

  afterAll(() => cluster.stop());

  const exec = (query: string, ...protocols: string[]) => openSocket(cluster, `${PODS}/web/exec?${query}`, protocols);

  /** All frames until the goodbye: text by channel, and the code. */
  async function finish(socket: TestSocket): Promise<Record<string, string>> {
    const channels: Record<string, string> = {};
    for (;;) {
      const { opcode, data } = await socket.next();
      if (opcode === 8) return { ...channels, code: String(data.readUInt16BE()) };
      const to = String(data[0]);
      channels[to] = (channels[to] ?? "") + data.subarray(1).toString();
    }
  }

  it.each(["v5.channel.k8s.io", "v4.channel.k8s.io"])(
    "run a command by %s and end with its status",
    async (protocol) => {
      const socket = await exec(`command=x&command=7&${ALL}`, protocol);
      expect(socket.protocol).toBe(protocol);
      const { "3": status, ...rest } = await finish(socket);
      expect(rest).toEqual({ "1": "out", "2": "err", code: "1000" });
      expect(JSON.parse(status as string)).toEqual({
        metadata: {},
        status: "Failure",
        message: "command terminated with non-zero exit code: error executing command [x 7], exit code 7",
        reason: "NonZeroExitCode",
        details: { causes: [{ reason: "ExitCode", message: "7" }] },
      });
    },
  );

  it("tell success", async () => {
    const done = await finish(await exec(`command=x&${ALL}`, "v4.channel.k8s.io"));
    expect(done).toMatchObject({ "3": '{"metadata":{},"status":"Success"}', code: "1000" });
  });

  it.each(["channel.k8s.io", "v2.channel.k8s.io", undefined])("tell older clients (%s) in a sentence", async (name) => {
    const failed = await finish(await exec(`command=x&command=7&${ALL}`, ...(name ? [name] : [])));
    expect(failed).toMatchObject({ "3": expect.stringMatching(/^command terminated with non-zero exit code/) });
    expect(await finish(await exec(`command=x&${ALL}`, ...(name ? [name] : [])))).toEqual({
      "1": "out",
      "2": "err",
      code: "1000",
    });
  });

  it.each(["base64.channel.k8s.io", "v4.base64.channel.k8s.io"])("speak %s", async (protocol) => {
    const socket = await exec(`command=cat&${ALL}`, protocol);
    expect((await socket.next()).opcode).toBe(1);
    socket.send(`0${Buffer.from("grüße").toString("base64")}`);
    expect((await socket.next()).data.toString()).toBe(`1${Buffer.from("grüße").toString("base64")}`);
    socket.destroy();
  });

  it("take the first protocol that they know", async () => {
    const socket = await exec(`command=x&${ALL}`, "v9.channel.k8s.io", "v4.channel.k8s.io", "v5.channel.k8s.io");
    expect(socket.protocol).toBe("v4.channel.k8s.io");
    await finish(socket);
  });

  it("let the client end stdin alone, from the fifth version on", async () => {
    const socket = await exec(`command=count&${ALL}`, "v5.channel.k8s.io");
    socket.send(Buffer.from("\0abc"));
    socket.send(Buffer.from("\0de"));
    socket.send(Buffer.from([255, 0]));
    expect(await finish(socket)).toMatchObject({ "1": "5" });
  });

  it("take messages in pieces, and answer pings in between", async () => {
    const socket = await exec(`command=count&${ALL}`, "v5.channel.k8s.io");
    expect((await socket.next()).data).toEqual(Buffer.of(1));
    socket.send(Buffer.from("\0ab"), { final: false });
    socket.send(Buffer.from("?"), { opcode: 9 });
    socket.send(Buffer.from("c".repeat(70_000)), { opcode: 0 });
    expect(await socket.next()).toEqual({ opcode: 10, data: Buffer.from("?") });
    socket.send(Buffer.from([255, 0]));
    expect(await finish(socket)).toMatchObject({ "1": "70002" });
  });

  it("tell a command the size of its terminal, and merge its outputs", async () => {
    const socket = await exec(`command=size&tty=true&${ALL}`, "v5.channel.k8s.io");
    socket.send(Buffer.from('\x04{"Width":80,"Height":24}'));
    expect(await finish(socket)).toMatchObject({ "1": "80x24" });
    const both = await finish(await exec(`command=x&tty=true&${ALL}`, "v5.channel.k8s.io"));
    expect(both).toMatchObject({ "1": "outerr" });
    expect(both).not.toHaveProperty("2");
  });

  it("tell what went wrong when a command cannot be run", async () => {
    const failed = await finish(await exec(`command=break&${ALL}`, "v4.channel.k8s.io"));
    expect(JSON.parse(failed["3"] as string)).toMatchObject({
      status: "Failure",
      reason: "InternalError",
      message: "Internal error occurred: the runtime is on fire",
    });
    const missing = await openSocket(cluster, `${PODS}/stuck/exec?command=x&${ALL}`, ["v5.channel.k8s.io"]);
    expect(JSON.parse((await finish(missing))["3"] as string).message).toBe(
      'Internal error occurred: unable to upgrade connection: container not found ("c")',
    );
    const older = await openSocket(cluster, `${PODS}/stuck/exec?command=x&${ALL}`, ["v4.channel.k8s.io"]);
    expect([older.status, older.text]).toEqual([500, 'container not found ("c")']);
  });

  it.each([
    ["far", `command=x&${ALL}`, [], 404, 'nodes "gone" not found'],
    ["gated", `command=x&${ALL}`, [], 400, "pod gated does not have a host assigned"],
    ["web", "command=x", [], 400, "you must specify at least 1 of stdin, stdout, stderr"],
    ["web", `container=z&command=x&${ALL}`, [], 400, "container z is not valid for pod web"],
    ["web", `command=x&${ALL}`, ["v9.channel.k8s.io"], 403, "unable to negotiate protocol"],
    ["nobody", `command=x&${ALL}`, [], 404, 'pods "nobody" not found'],
  ] as const)("are refused: %s %s", async (name, query, protocols, status, message) => {
    const socket = await openSocket(cluster, `${PODS}/${name}/exec?${query}`, protocols);
    expect(socket.status).toBe(status);
    expect(JSON.parse(socket.text).message).toContain(message);
  });

  it("need an upgrade, a user, and leave a line in the log of requests", async () => {
    const plain = await call(cluster, "POST", `${PODS}/web/exec?command=x&${ALL}`);
    expect([plain.status, plain.body.message]).toEqual([400, "Upgrade request required"]);
    const stranger = await openSocket(
      { ...pick(cluster), token: "wrong" } as Cluster,
      `${PODS}/web/exec?command=x&${ALL}`,
    );
    expect(stranger.status).toBe(401);
    cluster.requests.clear();
    await finish(await exec(`command=x&${ALL}`, "v5.channel.k8s.io"));
    expect(cluster.requests.entries).toMatchObject([
      { verb: "get", resource: "pods", subresource: "exec", name: "web", status: 101, user: "kubernetes-admin" },
    ]);
  });

  it("show who attaches what is written from then on", async () => {
    const undo = cluster.pods.program("web", { attach: ({ stdout }) => stdout("attached") });
    const socket = await openSocket(cluster, `${PODS}/web/attach?${ALL}`, ["v5.channel.k8s.io"]);
    expect(await finish(socket)).toMatchObject({ "1": "attached" });
    undo();
  });

  it("forward ports on pairs of channels", async () => {
    const socket = await openSocket(cluster, `${PODS}/web/portforward?ports=80&ports=81`, ["v4.channel.k8s.io"]);
    const first = [await socket.next(), await socket.next(), await socket.next(), await socket.next()];
    expect(first.map(({ data }) => [...data])).toEqual([
      [0, 80, 0],
      [1, 80, 0],
      [2, 81, 0],
      [3, 81, 0],
    ]);
    socket.send(Buffer.from("\0abc"));
    expect((await socket.next()).data.toString()).toBe("\0cba");
    socket.destroy();
  });

  it("forward without a protocol, close with the pod, and tell when nobody listens", async () => {
    const socket = await openSocket(cluster, `${PODS}/web/portforward?ports=81`);
    expect(socket.protocol).toBeUndefined();
    expect(await finish(socket)).toMatchObject({ code: "1000" });
    const refused = await openSocket(cluster, `${PODS}/web/portforward?ports=99`);
    expect((await finish(refused))["1"]).toContain("connection refused");
    const without = await openSocket(cluster, `${PODS}/web/portforward`);
    expect(without.status).toBe(400);
  });

  it("end when the cluster stops", async () => {
    const other = await Cluster.start({ tls: false, kubelet: { mode: "simulate", startDelay: 0 } });
    const container = { name: "c", image: "i" };
    await call(other, "POST", PODS, { body: { metadata: { name: "web" }, spec: { containers: [container] } } });
    await other.settle();
    const socket = await openSocket(other, `${PODS}/web/attach?${ALL}`, ["v5.channel.k8s.io"]);
    await socket.next();
    await other.stop();
    await expect(
      (async () => {
        for (;;) await socket.next();
      })(),
    ).rejects.toThrow("ended");
  });
});

const pick = ({ port, caPem }: Cluster) => ({ port, caPem });

describe("logs", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, kubelet: { mode: "simulate", startDelay: 0 } });
    const containers = [
      { name: "c", image: "i" },
      { name: "d", image: "i" },
    ];
    const body = { metadata: { name: "lg" }, spec: { containers, initContainers: [{ name: "init", image: "i" }] } };
    await call(cluster, "POST", PODS, { body });
    cluster.pods.program("slow", { createError: "CreateContainerConfigError: secret missing" });
    const one = { containers: containers.slice(0, 1) };
    await call(cluster, "POST", PODS, { body: { metadata: { name: "slow" }, spec: one } });
    const gated = { ...one, schedulingGates: [{ name: "g" }] };
    await call(cluster, "POST", PODS, { body: { metadata: { name: "gated" }, spec: gated } });
    await cluster.settle();
  });

  afterAll(() => cluster.stop());

  it.each([
    [
      "lg",
      "",
      400,
      "a container name must be specified for pod lg, choose one of: [c d] or one of the init containers: [init]",
    ],
    ["lg", "container=zz", 400, "container zz is not valid for pod lg"],
    ["slow", "", 400, 'container "c" in pod "slow" is waiting to start: CreateContainerConfigError'],
    ["lg", "container=c&previous=true", 400, 'previous terminated container "c" in pod "lg" not found'],
    ["lg", "container=c&tailLines=-1", 422, "tailLines: Invalid value: -1: must be greater than or equal to 0"],
    ["lg", "container=c&limitBytes=0", 422, "limitBytes: Invalid value: 0: must be greater than 0"],
    ["lg", "container=c&sinceSeconds=0", 422, "sinceSeconds: Invalid value: 0: must be greater than 0"],
    [
      "lg",
      "container=c&sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
      422,
      "at most one of `sinceTime` or `sinceSeconds`",
    ],
    ["lg", "container=c&tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ["lg", "container=c&sinceTime=yesterday", 400, 'parsing time "yesterday"'],
    ["lg", "container=c&stream=Other", 422, 'stream: Unsupported value: "Other"'],
    ["nobody", "", 404, 'pods "nobody" not found'],
  ])("of %s?%s are refused with %d", async (name, query, status, message) => {
    const answer = await call(cluster, "GET", `${PODS}/${name}/log?${query}`);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(message);
  });

  it("of a pod that no node has taken are empty", async () => {
    const answer = await call(cluster, "GET", `${PODS}/gated/log`);
    expect([answer.status, answer.text]).toEqual([204, ""]);
  });

  it("are text for whoever accepts text", async () => {
    const answer = await call(cluster, "GET", `${PODS}/lg/log?container=c`, { headers: { accept: "text/plain" } });
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/plain"]);
  });
});
