import { once } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError, VirtualClock } from "../meta/index.ts";
import { failure } from "../test-failure.ts";
import { NotFoundError } from "../transport/index.ts";
import { ContainerNotRunningError, ExecError } from "./errors.ts";
import { attach, exec, spawn } from "./exec.ts";
import { sh } from "./shell.ts";
import { runningPod, type Session, TestKubelet, withState } from "./test-kubelet.ts";

/** Sends the input back when it is over. */
const cat = async (session: Session) => {
  await session.out(await session.input);
  session.exit(0);
};

/** Ends with code 0 at once. */
const done = (session: Session) => session.exit(0);

/** Until `done()` holds, a turn of the event loop at a time. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe("exec", () => {
  it("resolves with both outputs, the exit code, the command and the container", async () => {
    const kubelet = await TestKubelet.start({
      exec: async (session) => {
        await session.out("grö");
        await session.err("beware");
        await session.out("ße\n");
        session.exit(0);
      },
    });
    expect(await exec(kubelet.pod, ["echo", "a b", "ü"])).toEqual({
      stdout: "größe\n",
      stderr: "beware",
      exitCode: 0,
      command: ["echo", "a b", "ü"],
      container: "app",
    });
    const [seen] = kubelet.upgrades;
    expect(seen?.path).toBe("/prefix/api/v1/namespaces/default/pods/web/exec");
    expect(seen?.query.toString()).toBe(
      "command=echo&command=a+b&command=%C3%BC&container=app&stdout=true&stderr=true",
    );
    expect(seen?.headers).toMatchObject({
      authorization: "Bearer secret",
      "sec-websocket-protocol": "v5.channel.k8s.io,v4.channel.k8s.io",
      "user-agent": expect.stringContaining("lotse-client/"),
    });
  });

  it("does not split a character that came in two messages", async () => {
    const [first, second] = [Buffer.from("€").subarray(0, 1), Buffer.from("€").subarray(1)];
    const kubelet = await TestKubelet.start({
      exec: async (session) => {
        await session.out(first);
        await session.out(second);
        session.exit(0);
      },
    });
    expect((await exec(kubelet.pod, ["x"])).stdout).toBe("€");
  });

  it("rejects a code other than 0 with an ExecError that has both outputs", async () => {
    const kubelet = await TestKubelet.start({
      exec: async (session) => {
        await session.out("half");
        await session.err("first\nno such file\n");
        session.exit(7);
      },
    });
    const error = await failure(exec(kubelet.pod, ["ls", "/nope"]));
    expect(error).toBeInstanceOf(ExecError);
    expect(error).toMatchObject({
      code: "LOTSE_EXEC",
      failure: "exit",
      exitCode: 7,
      stdout: "half",
      stderr: "first\nno such file\n",
      command: ["ls", "/nope"],
      container: "app",
      message: '"ls /nope" in container app of pod default/web ended with code 7: no such file',
    });
    expect(await exec(kubelet.pod, ["ls"], { check: false })).toMatchObject({ exitCode: 7, stdout: "half" });
  });

  it("tells what the server says when it could not run the command", async () => {
    const message = 'exec: "nope": executable file not found in $PATH';
    const kubelet = await TestKubelet.start({
      exec: (session) => session.status({ status: "Failure", reason: "InternalError", message }),
    });
    const error = await failure(exec(kubelet.pod, ["nope"], { check: false }));
    expect(error).toMatchObject({ failure: "server", exitCode: undefined, message: expect.stringContaining(message) });
  });

  it("rejects with what there was when the connection breaks before the end", async () => {
    const kubelet = await TestKubelet.start({
      exec: async (session) => {
        await session.out("some");
        session.socket.terminate();
      },
    });
    const error = await failure(exec(kubelet.pod, ["x"]));
    expect(error).toMatchObject({ failure: "connection", stdout: "some", exitCode: undefined });
  });

  it.each([
    ["a text", "hällo"],
    ["bytes", Buffer.from("hällo")],
    ["a stream", Readable.from([Buffer.from("häl"), Buffer.from("lo")])],
    [
      "an async iterable",
      (async function* () {
        yield "häl";
        yield Buffer.from("lo");
      })(),
    ],
    ["nothing in it", ""],
  ])("feeds %s to the command and closes its input, so that cat ends", async (name, stdin) => {
    const kubelet = await TestKubelet.start({ exec: cat });
    const { stdout } = await exec(kubelet.pod, ["cat"], { stdin });
    expect(stdout).toBe(name === "nothing in it" ? "" : "hällo");
    expect(kubelet.upgrades[0]?.query.get("stdin")).toBe("true");
  });

  it("sends large input in small messages, and gets all of it back", async () => {
    const bytes = Buffer.alloc(3_000_000, "0123456789abcdef");
    const sizes: number[] = [];
    const kubelet = await TestKubelet.start({
      exec: (session) => {
        session.onInput = (data) => sizes.push(data.length);
        return cat(session);
      },
    });
    const { stdout } = await exec(kubelet.pod, ["cat"], { stdin: bytes, encoding: "buffer" });
    expect(stdout.equals(bytes)).toBe(true);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(32 * 1024);
  });

  it("on a server that speaks only v4 warns that the end of the input cannot be told, and does not hang up", async () => {
    const kubelet = await TestKubelet.start({
      protocols: ["v4.channel.k8s.io"],
      exec: (session) => {
        session.onInput = async (data) => {
          // Had the client hung up with the end of its input, this would never arrive.
          await new Promise((resolve) => setTimeout(resolve, 20));
          await session.out(data);
          session.exit(0);
        };
      },
    });
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    expect((await exec(kubelet.pod, ["head", "-1"], { stdin: "line\n", onWarning })).stdout).toBe("line\n");
    expect(warnings).toEqual([expect.stringContaining("v4.channel.k8s.io")]);
  });

  it("does not mind a command that ends without reading its input, even an endless one", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    const silent = new PassThrough();
    expect((await exec(kubelet.pod, ["true"], { stdin: silent })).exitCode).toBe(0);
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1024);
      })(),
    );
    expect((await exec(kubelet.pod, ["true"], { stdin: endless })).exitCode).toBe(0);
  });

  it("rejects with the failure of the input", async () => {
    const kubelet = await TestKubelet.start({ exec: cat });
    const broken = new Error("disk gone");
    const stdin = (async function* () {
      yield "a";
      throw broken;
    })();
    expect(await failure(exec(kubelet.pod, ["cat"], { stdin }))).toBe(broken);
    const stream = new PassThrough();
    const running = failure(exec(kubelet.pod, ["cat"], { stdin: stream }));
    await until(() => kubelet.upgrades.length === 2);
    stream.destroy(broken);
    expect(await running).toBe(broken);
  });

  it("keeps no more than maxBuffer, and says what to do", async () => {
    const kubelet = await TestKubelet.start({
      exec: async (session) => {
        for (let i = 0; i < 100; i++) await session.out("0123456789");
        session.exit(0);
      },
    });
    const error = await failure(exec(kubelet.pod, ["yes"], { maxBuffer: 25 }));
    expect(error).toMatchObject({
      failure: "buffer",
      stdout: "0123456789012345678901234",
      hint: expect.stringContaining("maxBuffer"),
    });
    expect((await exec(kubelet.pod, ["yes"], { maxBuffer: 1000 })).stdout).toHaveLength(1000);
  });

  it("hands the outputs on as they come, and captures nothing when it shall not", async () => {
    const kubelet = await TestKubelet.start({
      exec: async (session) => {
        await session.out("out");
        await session.err("err");
        session.exit(0);
      },
    });
    const written: string[] = [];
    const to = (name: string) =>
      new Writable({
        highWaterMark: 1,
        write: (chunk, _, callback) => {
          written.push(`${name}:${chunk}`);
          setImmediate(callback);
        },
      });
    const result = await exec(kubelet.pod, ["x"], { stdout: to("o"), stderr: to("e"), capture: false });
    expect(result).toMatchObject({ stdout: "", stderr: "" });
    expect(written.sort()).toEqual(["e:err", "o:out"]);
  });

  it("refuses one text as a command, and an empty list, before it sends anything", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    for (const command of ["ls -l", [], [7]]) {
      const error = await failure(exec(kubelet.pod, command as never));
      expect(error).toBeInstanceOf(ConfigError);
      expect(error).toMatchObject({ hint: expect.stringContaining('["ls", "-l"]') });
    }
    expect(kubelet.reads + kubelet.upgrades.length).toBe(0);
    expect(sh("ls | wc -l")).toEqual(["sh", "-c", "ls | wc -l"]);
  });

  it("closes the connection when its signal aborts, and rejects with the reason", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    let gone: Promise<number> | undefined;
    const kubelet = await TestKubelet.start({
      exec: (session) => {
        gone = session.gone;
        controller.abort(reason);
      },
    });
    expect(await failure(exec(kubelet.pod, ["sleep"], { signal: controller.signal }))).toBe(reason);
    expect(await gone).toBe(1006);
  });
});

describe("the time of an exec", () => {
  it("is limited as a whole by timeout", async () => {
    const clock = new VirtualClock();
    const kubelet = await TestKubelet.start({ clock, exec: (session) => session.out("begun") });
    const copy = new PassThrough();
    const running = failure(exec(kubelet.pod, ["sleep", "100"], { timeout: "5s", stdout: copy }));
    await once(copy, "data");
    await clock.advance(5_000);
    expect(await running).toMatchObject({
      failure: "timeout",
      stdout: "begun",
      message: '"sleep 100" in container app of pod default/web did not end within 5s',
    });
    expect(clock.pending).toBe(0);
  });

  it("is limited in silence by idleTimeout, which each message starts anew", async () => {
    const clock = new VirtualClock();
    let session: Session | undefined;
    const kubelet = await TestKubelet.start({
      clock,
      exec: (opened) => {
        session = opened;
      },
    });
    const copy = new PassThrough();
    const running = failure(exec(kubelet.pod, ["x"], { idleTimeout: "10s", stdout: copy }));
    await until(() => session !== undefined);
    for (let i = 0; i < 3; i++) {
      await clock.advance(8_000);
      void session?.out(String(i));
      await once(copy, "data");
    }
    await clock.advance(10_000);
    expect(await running).toMatchObject({ failure: "idle", stdout: "012" });
  });
});

describe("the container of an exec", () => {
  it("is the one of the annotation, or the one that is asked for", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    kubelet.body = runningPod({ annotations: { "kubectl.kubernetes.io/default-container": "sidecar" } });
    expect((await exec(kubelet.pod, ["x"])).container).toBe("sidecar");
    expect((await exec(kubelet.pod, ["x"], { container: "app" })).container).toBe("app");
  });

  it("must exist: the error names those that do", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    const error = await failure(exec(kubelet.pod, ["x"], { container: "ap" }));
    expect(error).toMatchObject({ message: 'pod web has no container "ap"', hint: "it has app, sidecar" });
  });

  it("is waited for until it runs", async () => {
    const clock = new VirtualClock();
    const kubelet = await TestKubelet.start({
      clock,
      exec: done,
      onRead: (body, count) =>
        withState(body, "app", count < 4 ? { waiting: { reason: "ContainerCreating" } } : { running: {} }),
    });
    const running = exec(kubelet.pod, ["x"]);
    for (let reads = 1; reads < 4; reads++) {
      await until(() => kubelet.reads >= reads && clock.pending > 0);
      expect(kubelet.upgrades).toHaveLength(0);
      await clock.advance(1_000);
    }
    expect(await running).toMatchObject({ exitCode: 0 });
  });

  it("is not waited for longer than the time-out, and the error says what it waited for", async () => {
    const clock = new VirtualClock();
    const kubelet = await TestKubelet.start({ clock, exec: done });
    kubelet.body = withState(runningPod(), "app", { waiting: { reason: "ImagePullBackOff" } });
    const running = failure(exec(kubelet.pod, ["x"], { timeout: "1s" }));
    let over = false;
    void running.then(() => {
      over = true;
    });
    while (!over) await clock.advance(100);
    expect(await running).toBeInstanceOf(ContainerNotRunningError);
    expect(await running).toMatchObject({
      message: expect.stringContaining("did not run within 1s: ImagePullBackOff"),
    });
  });

  it("that has ended for good is an error at once", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    const ended = withState(runningPod(), "app", { terminated: { exitCode: 3 } });
    kubelet.body = { ...ended, spec: { ...(ended.spec ?? { containers: [] }), restartPolicy: "Never" } };
    expect(await failure(exec(kubelet.pod, ["x"]))).toMatchObject({
      code: "LOTSE_CONTAINER_NOT_RUNNING",
      message: "container app of pod default/web has ended with code 3 and will not run again",
    });
  });

  it("is not looked at with waitReady: false and a name", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    kubelet.body = withState(runningPod(), "app", { waiting: {} });
    await exec(kubelet.pod, ["x"], { waitReady: false, container: "app" });
    expect(kubelet.reads).toBe(0);
    await exec(kubelet.pod, ["x"], { waitReady: false });
    expect(kubelet.reads).toBe(1);
  });

  it("of a pod that does not exist is a NotFoundError", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    kubelet.body = undefined;
    expect(await failure(exec(kubelet.pod, ["x"]))).toBeInstanceOf(NotFoundError);
  });
});

describe("a terminal", () => {
  it("gets the size at the start and each change of it, in raw mode, and is given back", async () => {
    const modes: boolean[] = [];
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) });
    const stdout = Object.assign(new PassThrough(), { columns: 80, rows: 24 });
    let session: Session | undefined;
    const kubelet = await TestKubelet.start({
      exec: (opened) => {
        session = opened;
        opened.onInput = async (data) => {
          await opened.out(`you typed ${data}`);
          if (String(data) === "q") opened.exit(0);
        };
      },
    });
    const running = exec(kubelet.pod, ["vi"], { interactive: { stdin, stdout } });
    await until(() => session?.sizes.length === 1);
    Object.assign(stdout, { columns: 120, rows: 40 });
    stdout.emit("resize");
    await until(() => session?.sizes.length === 2);
    expect(modes).toEqual([true]);
    stdin.write("q");
    expect(await running).toMatchObject({ exitCode: 0, stdout: "" });
    expect(String(stdout.read())).toBe("you typed q");
    expect(session?.sizes).toEqual([
      { Width: 80, Height: 24 },
      { Width: 120, Height: 40 },
    ]);
    expect(session?.query.toString()).toBe("command=vi&container=app&stdin=true&stdout=true&tty=true");
    expect(modes).toEqual([true, false]);
    expect(stdout.listenerCount("resize")).toBe(0);
    expect(stdin.isPaused()).toBe(true);
  });

  it("cannot be the input beside another one", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    const terminal = { stdin: new PassThrough(), stdout: new PassThrough() };
    const error = await failure(exec(kubelet.pod, ["x"], { interactive: terminal, stdin: "x" }));
    expect(error).toBeInstanceOf(ConfigError);
  });
});

describe("spawn", () => {
  it("gives streams while the command runs", async () => {
    const kubelet = await TestKubelet.start({
      exec: (session) => {
        session.onInput = (data) => void session.out(`<${data}>`);
        void session.input.then(() => session.exit(3));
      },
    });
    const running = await spawn(kubelet.pod, ["bc"]);
    const answers = running.stdout[Symbol.asyncIterator]();
    for (const word of ["one", "two"]) {
      running.stdin.write(word);
      expect(String((await answers.next()).value)).toBe(`<${word}>`);
    }
    running.stdin.end();
    expect(await running.exitCode).toBe(3);
    expect((await answers.next()).done).toBe(true);
    expect(running).toMatchObject({ container: "app", protocol: "v5.channel.k8s.io", command: ["bc"] });
  });

  it("slows the server down while nobody reads, and loses nothing", async () => {
    const chunk = Buffer.alloc(64 * 1024, "x");
    let sent = 0;
    const kubelet = await TestKubelet.start({
      exec: async (session) => {
        for (; sent < 400; sent++) await session.out(chunk);
        session.exit(0);
      },
    });
    const running = await spawn(kubelet.pod, ["yes"], { stdin: false });
    let before = -1;
    // Full is when a while passes without anything moving.
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(sent).toBeLessThan(400);
    let bytes = 0;
    for await (const part of running.stdout) bytes += part.length;
    expect(bytes).toBe(400 * chunk.length);
    expect(await running.exitCode).toBe(0);
  });

  it("tells the terminal's size", async () => {
    let session: Session | undefined;
    const kubelet = await TestKubelet.start({
      exec: (opened) => {
        session = opened;
      },
    });
    await using running = await spawn(kubelet.pod, ["sh"], { tty: true });
    await running.resize({ columns: 100, rows: 50 });
    await until(() => session?.sizes.length === 1);
    expect(session?.sizes).toEqual([{ Width: 100, Height: 50 }]);
    expect(session?.query.get("tty")).toBe("true");
    expect(session?.query.has("stderr")).toBe(false);
  });

  it("kill ends the connection, and whoever waits hears of it", async () => {
    const kubelet = await TestKubelet.start({ exec: (session) => void session.out("x") });
    const running = await spawn(kubelet.pod, ["sleep"]);
    await once(running.stdout, "readable");
    running.kill();
    expect(await failure(running.exitCode)).toMatchObject({ failure: "killed" });
    const error = await failure(
      (async () => {
        for await (const _ of running.stdout);
      })(),
    );
    expect(error).toMatchObject({ failure: "killed" });
    await until(() => kubelet.connections <= 1);
  });

  it("ends with its scope, and with no listener left on the signal it was given", async () => {
    const kubelet = await TestKubelet.start({ exec: () => undefined });
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    onTestFinished(() => controller.abort());
    {
      await using _running = await spawn(kubelet.pod, ["sleep"], { signal });
    }
    expect(listeners).toBe(0);
  });
});

describe("attach", () => {
  it("takes input and terminal as the container has them", async () => {
    const kubelet = await TestKubelet.start({
      exec: async (session) => {
        session.onInput = async (data) => {
          await session.out(data);
          session.exit(0);
        };
      },
    });
    const running = await attach(kubelet.pod, { container: "sidecar" });
    running.stdin.write("ls\n");
    expect(String((await once(running.stdout, "data"))[0])).toBe("ls\n");
    expect(await running.exitCode).toBe(0);
    const [seen] = kubelet.upgrades;
    expect(seen?.path).toMatch(/\/attach$/);
    expect(seen?.query.toString()).toBe("container=sidecar&stdin=true&stdout=true&tty=true");
    await using plain = await attach(kubelet.pod);
    expect(kubelet.upgrades[1]?.query.toString()).toBe("container=app&stdout=true&stderr=true");
    expect(plain.stdin.destroyed).toBe(true);
  });

  it("refuses input for a container that has none", async () => {
    const kubelet = await TestKubelet.start({ exec: done });
    await expect(async () => attach(kubelet.pod, { stdin: true })).rejects.toMatchObject({
      code: "LOTSE_CONFIG",
      hint: expect.stringContaining("stdin: true"),
    });
  });
});
