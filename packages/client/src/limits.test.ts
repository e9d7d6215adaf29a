/** What a server may send, how long credentials may take, and what errors must not tell: with real servers and programs. */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { answer, type Handler, TestServer } from "./fixtures/index.ts";
import {
  Client,
  ConfigError,
  ConfigMap,
  type KubeBody,
  openStream,
  Pod,
  type StreamState,
  TimeoutError,
  TooLargeError,
  type Transport,
} from "./index.ts";
import { failure } from "./test-failure.ts";

const LIST = "/api/v1/namespaces/default/configmaps";

async function serve(handler: Handler): Promise<TestServer> {
  const server = await TestServer.start(handler);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

async function connect(o: Parameters<typeof Client.connect>[0]): Promise<Client> {
  const client = await Client.connect({ env: {}, ...o });
  onTestFinished(() => client.close());
  return client;
}

describe("an answer that is too large", () => {
  it("is told of with the limit and how to raise it, and is not read any further", async () => {
    let closed = false;
    const server = await serve((_, response) => {
      response.on("close", () => {
        closed = true;
      });
      response.on("error", () => {});
      response.writeHead(200, { "content-type": "application/json" });
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(100_000))) {}
      };
      response.on("drain", more);
      more();
    });
    const client = await connect({ url: server.url, limits: { answerBytes: 1_000_000 } });
    const error = await failure(client.raw({ method: "GET", path: LIST }));
    expect(error).toBeInstanceOf(TooLargeError);
    expect(error).toMatchObject({
      code: "LOTSE_TOO_LARGE",
      limit: 1_000_000,
      message: `GET ${LIST}: the answer has more than 1000000 bytes`,
      hint: expect.stringContaining("Client.connect({ limits: { answerBytes } })"),
    });
    expect(server.seen).toHaveLength(1);
    await expect.poll(() => closed, { timeout: 170_000 }).toBe(true);
  });

  it("is believed when it says so itself, also when it is an error", async () => {
    const server = await serve((_, response) => {
      response.writeHead(500, { "content-length": "5000000" });
      response.write("half");
    });
    const client = await connect({ url: server.url, limits: { answerBytes: 1_000 } });
    expect(await failure(client.raw({ method: "GET", path: LIST }))).toBeInstanceOf(TooLargeError);
  });

  it("counts as such when a stream is read as one text, and up to the limit it is taken", async () => {
    const server = await serve((_, response) => response.end("x".repeat(1_000)));
    const short = await connect({ url: server.url, limits: { answerBytes: 999 } });
    const streamed = await short.raw({ method: "GET", path: LIST, stream: true });
    expect(await failure(streamed.text())).toBeInstanceOf(TooLargeError);
    const exact = await connect({ url: server.url, limits: { answerBytes: 1_000 } });
    expect(await (await exact.raw({ method: "GET", path: LIST })).text()).toHaveLength(1_000);
  });

  it("has a limit that must be one", async () => {
    await expect(Client.connect({ url: "http://x", limits: { eventBytes: 0 } })).rejects.toThrow(
      "limits.eventBytes is 0, which is no number of bytes",
    );
    const { limits } = await connect({ url: "http://x" });
    expect(limits).toEqual({ answerBytes: 256 * 1024 * 1024, eventBytes: 16 * 1024 * 1024 });
  });
});

describe("an event of a watch that is too long", () => {
  it.each([
    ["ends", true],
    ["never ends", false],
  ])("and %s is a failure that is told, and waited for", async (_name, ends) => {
    const server = await serve(({ url }, response) => {
      if (!url.includes("watch=")) {
        answer(response, 200, { kind: "ConfigMapList", metadata: { resourceVersion: "10" }, items: [] });
        return;
      }
      response.on("error", () => {});
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"type":"ADDED","object":{"data":"');
      for (let i = 0; i < 30; i++) response.write("x".repeat(10_000));
      if (ends) response.write('"}}\n');
    });
    const client = await connect({ url: server.url, limits: { eventBytes: 100_000 } });
    const states: StreamState[] = [];
    const stop = new AbortController();
    const done = openStream<KubeBody>(
      client,
      ConfigMap.description,
      // A minute between tries: a stream that does not wait shows in the count of requests.
      { namespace: "default", backoff: () => 60_000 },
      { replace: () => {}, apply: () => {}, remove: () => {}, state: (state) => void states.push(state) },
      stop.signal,
    );
    await expect.poll(() => states.at(-1)?.phase, { timeout: 170_000 }).toBe("waiting");
    const { error } = states.at(-1) as StreamState;
    expect(error).toBeInstanceOf(TooLargeError);
    expect((error as Error).message).toBe(`GET ${LIST}: an event of the watch has more than 100000 bytes`);
    expect(server.seen).toHaveLength(2);
    stop.abort();
    await done;
  });
});

describe("names that lead elsewhere", () => {
  const never: Transport = {
    request: () => Promise.reject(new Error("a request was sent")),
    close: async () => {},
  };

  it.each(["", ".", "..", "a/b", "%2e%2e"])(
    "such as %j are refused by every verb before anything is sent",
    async (name) => {
      const client = await connect({ url: "http://x", transport: never });
      const pod = () => new Pod({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" } }, client);
      const elsewhere = () =>
        new ConfigMap({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: name } }, client);
      const acts: Record<string, () => Promise<unknown>> = {
        get: () => client.get(Pod, name),
        "get in": () => client.get(Pod, "a", { namespace: name }),
        list: () => client.list(Pod, { namespace: name }).toArray(),
        patch: () => pod().patch({ metadata: { labels: { a: "b" } } }),
        replace: () => client.replace(pod()),
        apply: () => client.apply(pod()),
        delete: () => client.delete(pod()),
        refresh: () => pod().refresh(),
        status: () => client.patch(pod(), { status: {} } as never, { subresource: "status" }),
        subresource: () =>
          client.patch(Pod.gen({ name: "a", image: "i" }), {} as never, { subresource: name as never }),
        logs: () => pod().logs().text(),
        "create in": () => client.create(elsewhere()),
        "delete in": () => client.delete(elsewhere()),
        "patch in": () => elsewhere().patch({ data: {} }),
      };
      for (const [verb, act] of Object.entries(acts)) {
        const error = await failure((async () => act())());
        // A subresource may have several steps.
        if (verb === "subresource" && name === "a/b") continue;
        expect(error, verb).toBeInstanceOf(ConfigError);
      }
    },
  );
});

describe("a credential plugin", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lotse-plugin-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A kubeconfig whose user logs in by a program with the given code. */
  async function configure(code: string, server: string, args: string[] = []): Promise<object> {
    const file = join(folder, "plugin.cjs");
    await writeFile(file, code);
    await chmod(file, 0o755);
    return {
      "current-context": "main",
      clusters: [{ name: "dev", cluster: { server } }],
      users: [
        {
          name: "jane",
          user: {
            exec: {
              apiVersion: "client.authentication.k8s.io/v1",
              command: process.execPath,
              args: [file, ...args],
              env: [{ name: "PLUGIN_SECRET", value: "environment-secret" }],
              interactiveMode: "Never",
            },
          },
        },
      ],
      contexts: [{ name: "main", context: { cluster: "dev", user: "jane" } }],
    };
  }
  const env = { PATH: process.env.PATH };
  /** Leaves its number behind and hangs, deaf to a polite request to end. */
  const hanging = () => `
    require("node:fs").appendFileSync(${JSON.stringify(join(folder, "pids"))}, process.pid + "\\n");
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);`;
  const pids = async () => {
    const text = await readFile(join(folder, "pids"), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean).map(Number);
  };
  const lives = (pid: number) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  const allGone = () => expect.poll(async () => (await pids()).filter(lives), { timeout: 170_000 }).toEqual([]);

  it("that hangs costs a request its time, and is ended", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    const client = await connect({ kubeconfig: await configure(hanging(), server.url), env });
    const error = await failure(client.raw({ method: "GET", path: LIST, timeout: "3s" }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      phase: "credentials",
      message: `GET ${LIST}: waited too long for the credentials for ${server.url}`,
    });
    await allGone();
    expect(server.seen).toEqual([]);
  });

  it("that hangs ends when the last one who waits for it has gone, by signal or by time", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    const client = await connect({ kubeconfig: await configure(hanging(), server.url), env });
    const first = new AbortController();
    const second = new AbortController();
    const asked = [first, second].map(({ signal }) => failure(client.raw({ method: "GET", path: LIST, signal })));
    await expect.poll(async () => (await pids()).length, { timeout: 170_000 }).toBe(1);
    first.abort(new Error("first has gone"));
    expect(await asked[0]).toMatchObject({ message: "first has gone" });
    expect((await pids()).filter(lives)).toHaveLength(1);
    second.abort(new Error("second has gone"));
    expect(await asked[1]).toMatchObject({ message: "second has gone" });
    await allGone();
    expect(await pids()).toHaveLength(1);
  });

  it("that fails is told of by its name, never by its arguments or environment", async () => {
    const code = `
      console.error("usage: " + process.argv.join(" ") + " " + process.env.PLUGIN_SECRET);
      console.error("token " + process.argv[3].split("=")[1] + " is refused");
      process.exit(3);`;
    const args = ["--token=very-secret-token", "another-secret-text"];
    const client = await connect({ kubeconfig: await configure(code, "http://127.0.0.1:1", args), env });
    const error = (await failure(client.raw({ method: "GET", path: LIST, retry: false }))) as Error;
    expect(error.message).toContain(`the credential plugin ${process.execPath}`);
    expect(error.message).toContain("failed (exit code 3)");
    expect(error.message).toContain("is refused");
    expect(inspect(error, { depth: 10 })).not.toMatch(/very-secret-token|another-secret-text|environment-secret/);
  });

  it("that cannot be started is told of without its arguments, also where the system names them", async () => {
    const config = (await configure("", "http://127.0.0.1:1", ["very-secret-token"])) as {
      users: { user: { exec: { command: string } } }[];
    };
    for (const { user } of config.users) user.exec.command = join(folder, "nobody");
    const client = await connect({ kubeconfig: config, env });
    const error = (await failure(client.raw({ method: "GET", path: LIST, retry: false }))) as Error;
    expect(error.message).toContain("is not installed");
    expect(inspect(error, { depth: 10 })).not.toContain("very-secret-token");
  });

  it("that prints without end is ended", async () => {
    const code = `${hanging()} const more = () => process.stdout.write("x".repeat(65536), more); more();`;
    const client = await connect({ kubeconfig: await configure(code, "http://127.0.0.1:1"), env });
    const error = (await failure(client.raw({ method: "GET", path: LIST, retry: false }))) as Error;
    expect(error.message).toContain("cannot be run: it prints without end");
    await allGone();
  });
});
