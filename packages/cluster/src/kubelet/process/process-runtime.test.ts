import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Cluster } from "../../cluster.ts";
import { freePort } from "../../test-port.ts";
import { call } from "../../test-requests.ts";

const CORE = "/api/v1/namespaces/default";
const sh = (script: string) => ["sh", "-c", script];

describe("pods that are processes", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    const images = { "my/app": sh('echo "the app got $*"; exec sleep 1000').concat("app") };
    cluster = await Cluster.start({ tls: false, kubelet: { mode: "process", images } });
  });

  afterAll(() => cluster.stop());

  async function create(name: string, container: object, spec: object = {}) {
    const containers = [{ name: "c", image: "i", ...container }];
    const body = { metadata: { name, labels: { tier: "front" } }, spec: { containers, ...spec } };
    const answer = await call(cluster, "POST", `${CORE}/pods`, { body });
    expect(answer.status, answer.text).toBe(201);
  }

  const read = async (name: string) => (await call(cluster, "GET", `${CORE}/pods/${name}`)).body;

  const log = async (name: string) => (await call(cluster, "GET", `${CORE}/pods/${name}/log`)).text;

  const container = async (name: string) => (await read(name)).status.containerStatuses?.[0];

  const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 170_000, interval: 20 });

  const phase = (name: string, wanted: string) =>
    until(async () => expect((await read(name)).status.phase).toBe(wanted));

  it("tell what their probes found", async () => {
    const port = await freePort();
    const readinessProbe = { httpGet: { port, path: "/ready" }, periodSeconds: 1 };
    const livenessProbe = {
      exec: { command: sh("echo it is broken; exit 1") },
      initialDelaySeconds: 1,
      periodSeconds: 1,
      failureThreshold: 1,
    };
    await create("unhealthy", { command: sh("exec sleep 1000"), readinessProbe, livenessProbe });
    const query = "?fieldSelector=involvedObject.name=unhealthy";
    const messages = async () =>
      (await call(cluster, "GET", `${CORE}/events${query}`)).body.items.map(
        (event: { reason: string; message: string }) => `${event.reason}: ${event.message}`,
      );
    await until(async () => {
      const told = await messages();
      expect(told).toContain(
        `Unhealthy: Readiness probe failed: Get "http://127.0.0.1:${port}/ready": dial tcp 127.0.0.1:${port}: connect: connection refused`,
      );
      expect(told).toContain("Unhealthy: Liveness probe failed: it is broken\n");
      expect(told).toContain("Killing: Container c failed liveness probe, will be restarted");
    });
    await call(cluster, "DELETE", `${CORE}/pods/unhealthy?gracePeriodSeconds=0`);
  });

  it("get their variables: plain, from objects and from themselves", async () => {
    const post = (path: string, body: object) => call(cluster, "POST", `${CORE}/${path}`, { body });
    await post("configmaps", { metadata: { name: "settings" }, data: { colour: "red", size: "9" } });
    await post("secrets", { metadata: { name: "hidden" }, stringData: { password: "secret" } });
    await create(
      "env",
      {
        command: sh("echo $HELLO $SET_colour $PASSWORD $NAME $IP $TIER $MISSING-; echo $0"),
        args: ["$(HELLO)-$$(HELLO)"],
        envFrom: [{ prefix: "SET_", configMapRef: { name: "settings" } }],
        env: [
          { name: "WORLD", value: "world" },
          { name: "HELLO", value: "hello-$(WORLD)" },
          { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "hidden", key: "password" } } },
          { name: "MISSING", valueFrom: { secretKeyRef: { name: "nope", key: "x", optional: true } } },
          { name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "TIER", valueFrom: { fieldRef: { fieldPath: "metadata.labels['tier']" } } },
          { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        ],
      },
      { restartPolicy: "Never" },
    );
    await phase("env", "Succeeded");
    expect(await log("env")).toBe("hello-world red secret env 127.0.0.1 front -\nhello-world-$(HELLO)\n");
  });

  it("find their volumes where they mount them, and the cluster's kubeconfig", async () => {
    await create(
      "files",
      {
        command: sh("cat etc/settings/colour etc/pod/labels; test -s $KUBECONFIG && echo found; pwd"),
        workingDir: "/",
        volumeMounts: [
          { name: "settings", mountPath: "/etc/settings" },
          { name: "self", mountPath: "/etc/pod" },
        ],
      },
      {
        restartPolicy: "Never",
        volumes: [
          { name: "settings", configMap: { name: "files" } },
          { name: "self", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
        ],
      },
    );
    await until(async () =>
      expect((await container("files"))?.state.waiting).toMatchObject({
        reason: "CreateContainerConfigError",
        message: 'configmap "files" not found',
      }),
    );
    await call(cluster, "POST", `${CORE}/configmaps`, {
      body: { metadata: { name: "files" }, data: { colour: "blue\n" } },
    });
    await call(cluster, "DELETE", `${CORE}/pods/files`, { body: { gracePeriodSeconds: 0 } });
    await create(
      "files2",
      {
        command: sh("cat etc/settings/colour; test -s $KUBECONFIG && echo found; pwd"),
        volumeMounts: [{ name: "settings", mountPath: "/etc/settings" }],
      },
      { restartPolicy: "Never", volumes: [{ name: "settings", configMap: { name: "files" } }] },
    );
    await phase("files2", "Succeeded");
    const [colour, found, folder] = (await log("files2")).split("\n");
    expect([colour, found]).toEqual(["blue", "found"]);
    expect(existsSync(folder as string)).toBe(true);
    await call(cluster, "DELETE", `${CORE}/pods/files2`);
    await until(async () => expect(existsSync(folder as string)).toBe(false));
  });

  it("find their volumes by the paths that their commands name", async () => {
    const body = { metadata: { name: "paths" }, data: { colour: "green\n" } };
    await call(cluster, "POST", `${CORE}/configmaps`, { body });
    await create(
      "paths",
      {
        command: ["cat", "/etc/settings/colour", "/etc/../etc/one", "etc/one"],
        volumeMounts: [
          { name: "settings", mountPath: "/etc/settings/" },
          { name: "settings", mountPath: "/etc/one", subPath: "colour" },
        ],
      },
      { restartPolicy: "Never", volumes: [{ name: "settings", configMap: { name: "paths" } }] },
    );
    await phase("paths", "Succeeded");
    expect(await log("paths")).toBe("green\ngreen\ngreen\n");
    await create(
      "elsewhere",
      {
        command: ["sh", "-c", "echo $0 $1", "/etc/one-more", "/bin/sh"],
        volumeMounts: [{ name: "empty", mountPath: "/etc/one" }],
      },
      { restartPolicy: "Never", volumes: [{ name: "empty", emptyDir: {} }] },
    );
    await until(async () => expect(await log("elsewhere")).toBe("/etc/one-more /bin/sh\n"));
  });

  it("run what stands for their image, and nothing where nothing does", async () => {
    await create("image", { image: "my/app:v1", args: ["a", "b"] });
    await create("idle", { image: "unknown" });
    await phase("image", "Running");
    await phase("idle", "Running");
    await until(async () => expect(await log("image")).toBe("the app got a b\n"));
    expect((await container("idle")).ready).toBe(true);
  });

  it("say why they do not start", async () => {
    await create("missing", { command: ["no-such-program"] });
    await until(async () =>
      expect((await container("missing"))?.state.waiting).toMatchObject({
        reason: "RunContainerError",
        message: 'exec: "no-such-program": executable file not found in $PATH',
      }),
    );
  });

  it("leave their last words", async () => {
    await create("words", { command: sh("echo goodbye > dev/termination-log; exit 4") }, { restartPolicy: "Never" });
    await create(
      "log",
      { command: sh("echo it broke; exit 4"), terminationMessagePolicy: "FallbackToLogsOnError" },
      { restartPolicy: "Never" },
    );
    await phase("words", "Failed");
    await phase("log", "Failed");
    expect((await container("words")).state.terminated).toMatchObject({ exitCode: 4, message: "goodbye\n" });
    expect((await container("log")).state.terminated).toMatchObject({ exitCode: 4, message: "it broke\n" });
  });

  it("are ready when their probes say so, and are restarted when they are not alive", async () => {
    const port = await freePort();
    const listen = `require("node:http").createServer((q, r) => { r.statusCode = q.url === "/ok" ? 200 : 500; r.end(); })`;
    await create("probed", {
      command: [process.execPath, "-e", `setTimeout(() => ${listen}.listen(${port}, "127.0.0.1"), 300)`],
      ports: [{ name: "http", containerPort: port }],
      startupProbe: { tcpSocket: { port: "http" }, periodSeconds: 1, failureThreshold: 10 },
      readinessProbe: { httpGet: { port, path: "/ok" }, periodSeconds: 1 },
    });
    await phase("probed", "Running");
    await until(async () => expect(await container("probed")).toMatchObject({ ready: true, started: true }));
    await create("sick", {
      command: sh("exec sleep 1000"),
      readinessProbe: { exec: { command: ["false"] }, periodSeconds: 1 },
      livenessProbe: { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 1 },
    });
    await until(async () => expect(await container("sick")).toMatchObject({ ready: false, restartCount: 1 }));
    expect((await container("sick")).lastState.terminated.exitCode).toBe(143);
  });

  it("are killed when they do not go in time, with all that they started", async () => {
    await create(
      "stubborn",
      { command: sh("trap '' TERM; sleep 1000 & echo $!; while true; do sleep 0.1; done") },
      { terminationGracePeriodSeconds: 1 },
    );
    await until(async () => expect(await log("stubborn")).toMatch(/^\d+\n$/));
    const helper = Number((await log("stubborn")).trim());
    const since = performance.now();
    await call(cluster, "DELETE", `${CORE}/pods/stubborn`);
    await until(async () => expect((await read("stubborn")).code).toBe(404));
    expect(performance.now() - since).toBeGreaterThan(900);
    await until(async () => expect(() => process.kill(helper, 0)).toThrow());
  });

  it("run their hooks", async () => {
    await create(
      "hooks",
      {
        command: sh("trap 'cat data/before; exit 0' TERM; echo up; while true; do sleep 0.05; done"),
        lifecycle: {
          postStart: { exec: { command: sh("echo begun > data/start") } },
          preStop: { exec: { command: sh("cat data/start > data/before; echo stopping >> data/before") } },
        },
        volumeMounts: [{ name: "data", mountPath: "/data" }],
      },
      { volumes: [{ name: "data", emptyDir: {} }] },
    );
    await phase("hooks", "Running");
    await until(async () => expect(await log("hooks")).toBe("up\n"));
    // A client that follows sees the last words, which are gone with the pod.
    const followed = await fetch(`${cluster.url}${CORE}/pods/hooks/log?follow=true`, {
      headers: { authorization: `Bearer ${cluster.token}` },
    });
    await call(cluster, "DELETE", `${CORE}/pods/hooks`);
    expect(await followed.text()).toBe("up\nbegun\nstopping\n");
  });

  it("end with the cluster", async () => {
    const other = await Cluster.start({ tls: false, kubelet: "process" });
    const containers = [{ name: "c", image: "i", command: sh("sleep 1000 & echo $!; wait") }];
    await call(other, "POST", `${CORE}/pods`, { body: { metadata: { name: "p" }, spec: { containers } } });
    let helper = 0;
    await until(async () => {
      helper = Number((await call(other, "GET", `${CORE}/pods/p/log`)).text);
      expect(helper).toBeGreaterThan(0);
    });
    expect(() => process.kill(helper, 0)).not.toThrow();
    await other.stop();
    await until(async () => expect(() => process.kill(helper, 0)).toThrow());
  });
});
