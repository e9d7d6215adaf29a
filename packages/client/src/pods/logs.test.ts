import type * as http from "node:http";
import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../meta/index.ts";
import { failure } from "../test-failure.ts";
import { ApiError, NotFoundError } from "../transport/index.ts";
import { logs } from "./logs.ts";
import { mergeLogs } from "./merge-logs.ts";
import { runningPod, TestKubelet, withState } from "./test-kubelet.ts";

/** Waits take no time: what is tested is what happens between them. */
const hasty: Clock = { ...systemClock, after: (_, fn) => systemClock.after(0, fn) };

const stamp = (ms: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + ms).toISOString();
/** The log of a container, as the kubelet serves it: since the full second, with stamps if asked, the last lines only. */
function serveLog(lines: readonly (readonly [ms: number, line: string])[], query: URLSearchParams): string {
  const since = query.get("sinceTime");
  const from = since === null ? 0 : Math.floor(Date.parse(since) / 1_000) * 1_000;
  const chosen = lines.filter(([ms]) => Date.parse(stamp(ms)) >= from);
  const tail = query.get("tailLines");
  const last = tail === null ? chosen : chosen.slice(chosen.length - Number(tail));
  return last.map(([ms, line]) => `${query.get("timestamps") ? `${stamp(ms)} ` : ""}${line}\n`).join("");
}

const finished = (exitCode = 0) => {
  const pod = withState(runningPod(), "app", { terminated: { exitCode } });
  return { ...pod, spec: { ...(pod.spec ?? { containers: [] }), restartPolicy: "Never" as const } };
};

describe("logs", () => {
  it("are read line by line, empty lines and a last one without newline included", async () => {
    const kubelet = await TestKubelet.start({ log: (_, response) => response.end("a\n\nb ü\nend") });
    expect(await logs(kubelet.pod).toArray()).toEqual(["a", "", "b ü", "end"]);
    expect(await logs(kubelet.pod).text()).toBe("a\n\nb ü\nend\n");
    expect(kubelet.logRequests[0]?.toString()).toBe("container=app");
  });

  it("ask for what the options say", async () => {
    const kubelet = await TestKubelet.start({ log: (_, response) => response.end() });
    await logs(kubelet.pod, {
      container: "sidecar",
      previous: true,
      since: "5m",
      timestamps: true,
      tailLines: 10,
      limitBytes: 1000,
      stream: "Stderr",
      insecureSkipTLSVerifyBackend: true,
    }).toArray();
    await logs(kubelet.pod, { since: new Date("2026-01-01T00:00:00Z"), tailLines: 0 }).toArray();
    expect(kubelet.logRequests.map((query) => Object.fromEntries(query))).toEqual([
      {
        container: "sidecar",
        previous: "true",
        sinceSeconds: "300",
        timestamps: "true",
        tailLines: "10",
        limitBytes: "1000",
        stream: "Stderr",
        insecureSkipTLSVerifyBackend: "true",
      },
      { container: "app", sinceTime: "2026-01-01T00:00:00.000Z", tailLines: "0" },
    ]);
    expect(kubelet.reads).toBe(1);
  });

  it("come as time and line when they shall be parsed", async () => {
    const log = "2026-01-01T00:00:01.123456789Z hello\n2026-01-01T00:00:02Z \nrotated\n";
    const kubelet = await TestKubelet.start({ log: (_, response) => response.end(log) });
    expect(await logs(kubelet.pod, { timestamps: "parse" }).toArray()).toEqual([
      { time: new Date("2026-01-01T00:00:01.123Z"), timestamp: "2026-01-01T00:00:01.123456789Z", line: "hello" },
      { time: new Date("2026-01-01T00:00:02Z"), timestamp: "2026-01-01T00:00:02Z", line: "" },
      { time: new Date("2026-01-01T00:00:02Z"), timestamp: "2026-01-01T00:00:02Z", line: "rotated" },
    ]);
    expect(await logs(kubelet.pod, { timestamps: true }).toArray()).toContain("2026-01-01T00:00:01.123456789Z hello");
  });

  it("reject with what the server says", async () => {
    const message = 'container "app" in pod "web" is waiting to start: ContainerCreating';
    const kubelet = await TestKubelet.start({
      log: (_, response) => {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ kind: "Status", reason: "BadRequest", message }));
      },
    });
    expect(await failure(logs(kubelet.pod).toArray())).toBeInstanceOf(ApiError);
    expect(await failure(logs(kubelet.pod).toArray())).toMatchObject({ message });
  });

  it("that are not followed reject when the connection breaks: half a log is not a log", async () => {
    const kubelet = await TestKubelet.start({
      log: (_, response) => {
        response.write("a\n");
        setImmediate(() => response.destroy());
      },
    });
    expect(await failure(logs(kubelet.pod).toArray())).toBeInstanceOf(Error);
  });

  it("close the connection when the reader leaves", async () => {
    let closed: Promise<unknown> | undefined;
    const kubelet = await TestKubelet.start({
      log: (_, response) => {
        closed = new Promise((resolve) => response.once("close", resolve));
        response.write(`${stamp(0)} a\n${stamp(1)} b\n`);
      },
    });
    for await (const line of logs(kubelet.pod, { follow: true })) {
      expect(line).toBe("a");
      break;
    }
    await closed;
  });

  it("reject with the signal's reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const kubelet = await TestKubelet.start({ log: (_, response) => void response.write(`${stamp(0)} a\n`) });
    const reading = async () => {
      for await (const _ of logs(kubelet.pod, { follow: true, signal: controller.signal })) controller.abort(reason);
    };
    expect(await failure(reading())).toBe(reason);
  });
});

describe("followed logs", () => {
  it("go on after a cut connection without repeating or losing a line", async () => {
    const log: [number, string][] = [
      [100, "one"],
      [100, "two, at the same time"],
      [900, "three"],
      [900, "four, at the same time"],
      [2_500, "five"],
    ];
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (query, response, count) => {
        // The first stream breaks in the middle of the third line, the second one between two lines of one time.
        const text = serveLog(log, query);
        const cutAt = count === 1 ? text.indexOf("three") + 2 : count === 2 ? text.indexOf(`${stamp(900)} four`) : -1;
        if (cutAt < 0) return response.end(text);
        response.write(text.slice(0, cutAt), () => setImmediate(() => response.destroy()));
        return undefined;
      },
      onRead: (_, count) => (count >= 4 ? finished() : undefined),
    });
    expect(await logs(kubelet.pod, { follow: true }).toArray()).toEqual(log.map(([, line]) => line));
    expect(kubelet.logRequests.map((query) => query.get("sinceTime"))).toEqual(
      [
        null,
        "2026-01-01T00:00:00.100000000Z",
        "2026-01-01T00:00:00.900000000Z",
        "2026-01-01T00:00:02.500000000Z",
      ].slice(0, kubelet.logRequests.length),
    );
    expect(kubelet.logRequests.every((query) => query.get("timestamps") === "true")).toBe(true);
  });

  it("go on with the next container after a restart, the end of the one before included", async () => {
    const before: [number, string][] = [
      [0, "first life"],
      [500, "last words, after the connection was cut"],
    ];
    const after: [number, string][] = [[3_000, "second life"]];
    let stage = 0;
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (query, response, count) => {
        if (count === 1) {
          stage = 1;
          response.write(serveLog(before.slice(0, 1), query), () => setImmediate(() => response.destroy()));
        } else if (query.get("previous")) response.end(serveLog(before, query));
        else {
          stage = 2;
          response.end(serveLog(after, query));
        }
      },
      onRead: () => {
        if (stage === 0) return runningPod();
        const restarted = stage === 1 ? withState(runningPod(), "app", { running: {} }, 1) : finished();
        return stage === 1 ? restarted : withState(finished(), "app", { terminated: { exitCode: 0 } }, 1);
      },
    });
    expect(await logs(kubelet.pod, { follow: true }).toArray()).toEqual([
      "first life",
      "last words, after the connection was cut",
      "second life",
    ]);
  });

  it("wait for a container that has not started, and end when it has ended for good", async () => {
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (query, response) => response.end(serveLog([[0, "hello"]], query)),
      onRead: (_, count) =>
        count < 3 ? withState(runningPod(), "app", { waiting: { reason: "ContainerCreating" } }) : finished(),
    });
    expect(await logs(kubelet.pod, { follow: true }).toArray()).toEqual(["hello"]);
    expect(kubelet.logRequests).toHaveLength(1);
  });

  it("end with the pod", async () => {
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (query, response) => {
        kubelet.body = undefined;
        response.end(serveLog([[0, "bye"]], query));
      },
    });
    expect(await logs(kubelet.pod, { follow: true }).toArray()).toEqual(["bye"]);
    expect(await failure(logs(kubelet.pod, { follow: true }).toArray())).toBeInstanceOf(NotFoundError);
  });

  it("tell a last line without newline once the container has ended", async () => {
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (_, response) => response.end(`${stamp(0)} a\n${stamp(1)} no newline`),
      onRead: (_, count) => (count >= 2 ? finished() : undefined),
    });
    expect(await logs(kubelet.pod, { follow: true }).toArray()).toEqual(["a", "no newline"]);
  });

  it("take the last lines from the first stream only", async () => {
    const log: [number, string][] = [
      [0, "old"],
      [1_000, "last"],
      [5_000, "new 1"],
      [5_001, "new 2"],
    ];
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (query, response, count) => response.end(serveLog(count === 1 ? log.slice(0, 2) : log, query)),
      onRead: (_, count) => (count >= 2 ? finished() : undefined),
    });
    expect(await logs(kubelet.pod, { follow: true, tailLines: 1 }).toArray()).toEqual(["last", "new 1", "new 2"]);
  });

  it("stop at the limit of bytes, time stamps not counted", async () => {
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (query, response) =>
        void response.write(
          serveLog(
            [
              [0, "12345"],
              [1, "67890"],
              [2, "more"],
            ],
            query,
          ),
        ),
    });
    expect(await logs(kubelet.pod, { follow: true, limitBytes: 9 }).toArray()).toEqual(["12345", "678"]);
  });

  it("survive a server that is away for a while, but no refusal", async () => {
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (query, response, count) => {
        if (count < 3) return response.writeHead(503).end("{}");
        return response.end(serveLog([[0, "back"]], query));
      },
      onRead: () => finished(),
    });
    const { pod } = kubelet;
    const raw = (request: Parameters<typeof pod.raw>[0]) => pod.raw({ ...request, retry: false });
    expect(await logs({ ...pod, raw }, { follow: true }).toArray()).toEqual(["back"]);
    const refusing = await TestKubelet.start({ log: (_, response) => response.writeHead(403).end("{}") });
    expect(await failure(logs(refusing.pod, { follow: true }).toArray())).toMatchObject({ status: 403 });
  });
});

describe("merged logs", () => {
  it("are in the order of their times, with the source in front", async () => {
    const kubelet = await TestKubelet.start({
      log: (query, response) =>
        response.end(
          serveLog(
            query.get("container") === "app"
              ? [
                  [0, "a0"],
                  [20, "a20"],
                ]
              : [
                  [10, "s10"],
                  [30, "s30"],
                ],
            query,
          ),
        ),
    });
    const pods = async () => [kubelet.pod, { ...kubelet.pod, name: "other" }];
    expect(await mergeLogs(pods, { allContainers: true }).toArray()).toEqual([
      "[pod/web/app] a0",
      "[pod/other/app] a0",
      "[pod/web/sidecar] s10",
      "[pod/other/sidecar] s10",
      "[pod/web/app] a20",
      "[pod/other/app] a20",
      "[pod/web/sidecar] s30",
      "[pod/other/sidecar] s30",
    ]);
    const one = async () => [kubelet.pod];
    expect(await mergeLogs(one, { prefix: ({ pod }) => `${pod}: ` }).toArray()).toEqual(["web: a0", "web: a20"]);
    expect(await mergeLogs(one, { prefix: false, timestamps: true }).text()).toBe(`${stamp(0)} a0\n${stamp(20)} a20\n`);
    expect(await mergeLogs(one, { timestamps: "parse", container: "sidecar" }).toArray()).toMatchObject([
      { line: "s10", pod: "web", container: "sidecar" },
      { line: "s30" },
    ]);
  });

  it("that are followed take in pods that come later, and end when all have ended", async () => {
    let second: http.ServerResponse | undefined;
    const kubelet = await TestKubelet.start({
      clock: hasty,
      log: (query, response, count) => {
        if (count === 1) {
          second = response;
          response.write(serveLog([[0, "first pod"]], query));
        } else response.end(serveLog([[5_000, "second pod"]], query));
      },
      onRead: () => finished(),
    });
    let looks = 0;
    const pods = async () => (++looks < 3 ? [kubelet.pod] : [kubelet.pod, { ...kubelet.pod, name: "later" }]);
    const lines: string[] = [];
    for await (const line of mergeLogs(pods, { follow: true, tailLines: 1 })) {
      lines.push(line);
      if (lines.length === 2) second?.end();
    }
    expect(lines).toEqual(["[pod/web/app] first pod", "[pod/later/app] second pod"]);
    expect(kubelet.logRequests.map((query) => query.get("tailLines"))).toEqual(["1", null]);
  });

  it("of no pods are empty", async () => {
    expect(await mergeLogs(async () => []).toArray()).toEqual([]);
    expect(await mergeLogs(async () => [], { follow: true }).toArray()).toEqual([]);
  });

  it("fail with the first log that fails", async () => {
    const kubelet = await TestKubelet.start({ log: (_, response) => response.writeHead(403).end("{}") });
    const pods = async () => [kubelet.pod];
    for (const follow of [false, true]) {
      expect(await failure(mergeLogs(pods, { follow }).toArray())).toMatchObject({ status: 403 });
    }
  });
});
