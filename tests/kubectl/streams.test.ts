import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import os from "node:os";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../packages/cluster/src/test-port.ts";
import { type Outcome, type RunOptions, run } from "../run.ts";
import { kubectlPath } from "./kubectl.ts";

/** kubectl speaks WebSocket first; these make it use SPDY alone, as versions before 1.30 did. */
const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" };

/** Says when it is up, echoes lines of its input, counts, and ends politely with 7. */
const PROGRAM = `
console.log("up " + process.env.GREETING);
console.error("to stderr");
process.stdin.on("data", (data) => console.log("heard " + data));
process.on("SIGTERM", () => { console.log("going"); process.exit(7); });
setInterval(() => {}, 1000);
`;

/** Answers with its path, and with a large body at /large. */
const SERVER = `
require("node:http").createServer((request, response) => {
  if (request.url === "/large") response.end(Buffer.alloc(8_000_000, "lotse"));
  else response.end("you asked for " + request.url);
}).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("listening"));
`;

describe("the real kubectl and pods that are processes", () => {
  let cluster: Cluster;
  let folder: string;
  let port: number;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-streams-"));
    port = await freePort();
    cluster = await Cluster.start({ kubelet: "process" });
    await cluster.writeKubeconfig(path.join(folder, "kubeconfig"));
    await apply(
      pod("main", {
        command: [process.execPath, "-e", PROGRAM],
        env: [{ name: "GREETING", value: "moin" }],
        stdin: true,
      }),
    );
    await apply(
      pod("web", {
        command: [process.execPath, "-e", SERVER],
        env: [{ name: "PORT", value: String(port) }],
        ports: [{ name: "http", containerPort: port }],
        readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 1 },
      }),
    );
    await ok(["wait", "--for=condition=Ready", "pod/main", "pod/web", "--timeout=30s"]);
  });

  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function pod(name: string, container: object, spec: object = {}): object {
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 5, containers: [{ name: "c", image: "program", ...container }], ...spec },
    };
  }

  const env = () => ({ KUBECONFIG: path.join(folder, "kubeconfig"), KUBECACHEDIR: path.join(folder, "cache") });

  function kubectl(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return run(kubectlPath(), args, { ...options, env: { ...options.env, ...env() } });
  }

  async function ok(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const outcome = await kubectl(args, options);
    expect(outcome, `kubectl ${args.join(" ")}`).toMatchObject({ exitCode: 0 });
    return outcome.stdout;
  }

  const apply = (object: object) => ok(["apply", "-f", "-"], { stdin: JSON.stringify(object) });

  /** A kubectl that goes on until it is stopped. */
  function start(args: readonly string[], more: Record<string, string> = {}) {
    const child = spawn(kubectlPath(), args, { env: { ...process.env, ...more, ...env() }, stdio: "pipe" });
    children.push(child);
    let text = "";
    const waiting: { pattern: RegExp; resolve: (match: RegExpExecArray) => void; reject: (e: Error) => void }[] = [];
    const look = () => {
      for (const one of [...waiting]) {
        const match = one.pattern.exec(text);
        if (!match) continue;
        waiting.splice(waiting.indexOf(one), 1);
        one.resolve(match);
      }
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        look();
      });
    }
    const ended = new Promise<number>((resolve) => {
      child.once("close", (code) => {
        for (const { reject } of waiting) reject(new Error(`kubectl ${args.join(" ")} ended, having said: ${text}`));
        resolve(code ?? -1);
      });
    });
    return {
      stdin: child.stdin,
      ended,
      sees: (pattern: RegExp) =>
        new Promise<RegExpExecArray>((resolve, reject) => {
          waiting.push({ pattern, resolve, reject });
          look();
        }),
      stop: () => {
        child.kill("SIGKILL");
        return ended;
      },
    };
  }

  describe.each([
    ["WebSocket", {}],
    ["SPDY", SPDY],
  ] as [string, Record<string, string>][])("over %s", (_carrier, switches) => {
    it("exec shows both outputs and hands the exit code on", async () => {
      const outcome = await kubectl(["exec", "main", "--", "sh", "-c", "echo out; echo err >&2; exit 7"], {
        env: switches,
      });
      expect(outcome.exitCode).toBe(7);
      expect(outcome.stdout).toBe("out\n");
      expect(outcome.stderr).toContain("err\n");
      expect(outcome.stderr).toContain("command terminated with exit code 7");
    });

    it("exec -i sends stdin with its end", async () => {
      const text = "a line\n".repeat(50_000);
      expect(await ok(["exec", "-i", "main", "--", "cat"], { stdin: text, env: switches })).toBe(text);
    });

    it("exec sees the container's variables and directory", async () => {
      expect(await ok(["exec", "main", "--", "sh", "-c", "echo $GREETING $HOSTNAME"], { env: switches })).toBe(
        "moin main\n",
      );
    });

    it("exec says so when there is no such program", async () => {
      const outcome = await kubectl(["exec", "main", "--", "no-such-program"], { env: switches });
      expect(outcome.exitCode).not.toBe(0);
      expect(outcome.stderr).toContain("executable file not found in $PATH");
    });

    it("cp copies a folder in and a file out", async () => {
      const source = path.join(folder, `in-${_carrier}`);
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) % 251));
      mkdirSync(path.join(source, "deep"), { recursive: true });
      writeFileSync(path.join(source, "deep", "data.bin"), bytes);
      writeFileSync(path.join(source, "hello.txt"), "moin\n");
      await ok(["cp", source, "main:copied"], { env: switches });
      expect(await ok(["exec", "main", "--", "cat", "copied/hello.txt"])).toBe("moin\n");
      const target = path.join(folder, `out-${_carrier}.bin`);
      await ok(["cp", "main:copied/deep/data.bin", target], { env: switches });
      expect(readFileSync(target).equals(bytes)).toBe(true);
      await ok(["exec", "main", "--", "rm", "-r", "copied"]);
    });

    it("attach shows what the container writes from then on, and what it answers", async () => {
      const attached = start(["attach", "-i", "main"], switches);
      // kubectl does not say when it is attached: it is told often enough.
      const nudge = setInterval(() => attached.stdin.write("ahoy\n"), 200);
      await attached.sees(/heard ahoy/);
      clearInterval(nudge);
      await attached.stop();
    });

    it("port-forward carries several connections, large ones too", async () => {
      const forwarding = start(["port-forward", "pod/web", `:${port}`], switches);
      const [, local] = await forwarding.sees(/127\.0\.0\.1:(\d+) ->/);
      const fetch = (place: string) =>
        new Promise<string>((resolve, reject) => {
          get(`http://127.0.0.1:${local}${place}`, { agent: false }, (response) => {
            let body = "";
            response.setEncoding("latin1").on("data", (chunk: string) => {
              body += chunk;
            });
            response.on("end", () => resolve(body));
          }).on("error", reject);
        });
      expect(await fetch("/a")).toBe("you asked for /a");
      const [large, small] = await Promise.all([fetch("/large"), fetch("/b")]);
      expect(large.length).toBe(8_000_000);
      expect(small).toBe("you asked for /b");
      await forwarding.stop();
    });

    it("port-forward tells when nobody listens", async () => {
      const closed = await freePort();
      const forwarding = start(["port-forward", "pod/web", `:${closed}`], switches);
      const [, local] = await forwarding.sees(/127\.0\.0\.1:(\d+) ->/);
      get(`http://127.0.0.1:${local}/`, { agent: false }).on("error", () => {});
      await forwarding.sees(/connection refused/);
      await forwarding.stop();
    });
  });

  it("exec -t gives the command a terminal, where this machine has one to give", async () => {
    // kubectl itself needs a terminal to pass on, so that it runs in one, too.
    const line = `${kubectlPath()} exec -it main -- sh -c 'test -t 0 && test -t 1 && echo a terminal; echo err >&2; exit 5'`;
    const outcome = await run("script", ["--quiet", "--return", "--command", line, "/dev/null"], { env: env() });
    expect(outcome.stdout).toContain("a terminal");
    expect(outcome.stdout).toContain("err");
    expect(outcome.exitCode).toBe(5);
  });

  it("logs -f follows until the container ends; deletion is graceful", async () => {
    await apply(
      pod("talker", {
        command: [
          "sh",
          "-c",
          "trap 'echo bye; exit 0' TERM; i=0; while true; do i=$((i+1)); echo line $i; sleep 0.1; done",
        ],
      }),
    );
    await ok(["wait", "--for=condition=Ready", "pod/talker", "--timeout=10s"]);
    const following = start(["logs", "-f", "talker"]);
    await following.sees(/line 1\n[\s\S]*line 5\n/);
    await ok(["delete", "pod", "talker"]);
    await following.sees(/bye\n/);
    expect(await following.ended).toBe(0);
    expect((await kubectl(["get", "pod", "talker"])).stderr).toContain('pods "talker" not found');
  });

  it("logs has its options", async () => {
    expect(await ok(["logs", "main", "--limit-bytes=4"])).toBe("up m");
    expect(await ok(["logs", "web", "--tail=1"])).toBe("listening\n");
    expect(await ok(["logs", "web", "--timestamps"])).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{9}Z listening\n/);
    expect(await ok(["logs", "web", "--since-time=2100-01-01T00:00:00Z"])).toBe("");
  });

  it("logs --previous shows the run before a restart", async () => {
    const count = "n=$(cat shared/n 2>/dev/null || echo 0); echo run $n; echo $((n+1)) > shared/n; sleep 0.3; exit 3";
    await apply(
      pod(
        "crasher",
        { command: ["sh", "-c", count], volumeMounts: [{ name: "shared", mountPath: "/shared" }] },
        { volumes: [{ name: "shared", emptyDir: {} }] },
      ),
    );
    const restarts = "{.status.containerStatuses[0].restartCount}";
    await ok(["wait", `--for=jsonpath=${restarts}=1`, "pod/crasher", "--timeout=20s"]);
    // The second run ends in a back-off of ten seconds: until then it is the present one, or the last one.
    expect(await ok(["logs", "--previous", "crasher"])).toMatch(/^run [01]\n$/);
    expect(await ok(["logs", "crasher"])).toBe("run 1\n");
    expect(
      await ok([
        "get",
        "pod",
        "crasher",
        "-o",
        "jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}",
      ]),
    ).toBe("3");
    const first = await kubectl(["logs", "--previous", "main"]);
    expect(first.stderr).toContain('previous terminated container "c" in pod "main" not found');
    await ok(["delete", "pod", "crasher", "--now"]);
  });

  it("a pod that runs once ends as Succeeded, and says so in its columns", async () => {
    const volume = { volumes: [{ name: "shared", emptyDir: {} }] };
    const mounts = [{ name: "shared", mountPath: "/shared" }];
    await apply(
      pod(
        "once",
        { command: ["sh", "-c", "cat shared/word"], volumeMounts: mounts },
        {
          ...volume,
          restartPolicy: "Never",
          initContainers: [
            {
              name: "prepare",
              image: "program",
              command: ["sh", "-c", "echo ready > shared/word"],
              volumeMounts: mounts,
            },
          ],
        },
      ),
    );
    await ok(["wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/once", "--timeout=20s"]);
    expect(await ok(["logs", "once"])).toContain("ready\n");
    expect(await ok(["get", "pod", "once"])).toMatch(/once\s+0\/1\s+Completed/);
  });

  it("errors name the containers to choose from", async () => {
    const two = [
      { name: "a", image: "x", command: ["sleep", "100"] },
      { name: "b", image: "x", command: ["sleep", "100"] },
    ];
    await apply(pod("two", {}, { containers: two }));
    await ok(["wait", "--for=condition=Ready", "pod/two", "--timeout=10s"]);
    const raw = await kubectl(["get", "--raw", "/api/v1/namespaces/default/pods/two/log"]);
    expect(raw.stderr).toContain("a container name must be specified for pod two, choose one of: [a b]");
    const wrong = await kubectl(["logs", "two", "-c", "z"]);
    expect(wrong.stderr).toContain("container z is not valid for pod two");
  });
});
