import { describe, expect, it } from "vitest";
import type { LogRecord } from "../../report/index.ts";
import { devLines, devSink, type EventNote, eventRecord } from "./log.ts";

const TIME = Date.parse("2026-01-02T03:04:05.678Z");
const object = (name: string, namespace?: string) => ({ apiVersion: "v1", kind: "Pod", name, namespace });
const record = (message: string, rest: Partial<LogRecord> = {}): LogRecord => {
  return { time: TIME, level: "info", message, fields: {}, object: undefined, ...rest };
};
const note = (rest: Partial<EventNote> = {}): EventNote => ({
  time: TIME,
  type: "Normal",
  reason: "Started",
  message: "Container started",
  from: "kubelet",
  count: 1,
  object: object("lamp", "default"),
  ...rest,
});
const lines = (kinds = 1, colours = false) => devLines({ colours, cwd: "/home/me", kinds: () => kinds });

describe("the lines of lotse dev", () => {
  it("keep what is said about objects in one column, which grows with their names", () => {
    const { log, event } = lines();
    const written = [
      log(record("ready")),
      log(record("labelled", { object: object("a", "default") })),
      event(note()),
      log(record("stopping")),
      log(record("drained", { object: object("node-1") })),
    ];
    expect(written.join("")).toBe(
      [
        "03:04:05.678 INFO  ready",
        "03:04:05.678 INFO  [default/a] labelled",
        "03:04:05.678 EVENT [default/lamp] Started: Container started from=kubelet",
        "03:04:05.678 INFO  stopping",
        "03:04:05.678 INFO  [node-1]       drained",
        "",
      ].join("\n"),
    );
  });

  it("move no other line for a name that is too long", () => {
    const { log } = lines();
    log(record("one", { object: object("a") }));
    expect(log(record("two", { object: object("x".repeat(60)) }))).toBe(`03:04:05.678 INFO  [${"x".repeat(60)}] two\n`);
    expect(log(record("three", { object: object("a") }))).toBe("03:04:05.678 INFO  [a] three\n");
  });

  it("begin with the handler, what it says and when it comes back, and end with its place", () => {
    const fields = { kind: "Pod", handler: "f", at: "o.ts:3", reason: "create", error: "not yet", retryIn: "10s" };
    const failed = record("handler failed", { level: "warn", object: object("a"), fields: { ...fields, attempt: 2 } });
    expect(lines().log(failed)).toBe(
      '03:04:05.678 WARN  [a] handler failed handler=f error="not yet" retryIn=10s attempt=2 reason=create at=o.ts:3\n',
    );
    const done = record("handler succeeded", { object: object("a"), fields });
    expect(lines().log(done)).not.toContain("at=");
  });

  it("tell the kind where there is more than one", () => {
    const about = record("labelled", { object: object("a"), fields: { kind: "Pod" } });
    expect(lines(1).log(about)).toBe("03:04:05.678 INFO  [a] labelled\n");
    expect(lines(2).log(about)).toBe("03:04:05.678 INFO  [a] labelled kind=Pod\n");
    expect(lines(1).log(record("the stream is open again", { fields: { kind: "Pod" } }))).toContain("kind=Pod");
  });

  it("show of a stack what is the reader's own", () => {
    const stack = [
      "Error: no bulb",
      "    at light (file:///home/me/operator.ts:3:9)",
      "    at run (/home/me/node_modules/lotse/dist/index.js:1:1)",
      "    at process.processTicks (node:internal/process:1:1)",
    ].join("\n");
    expect(lines().log(record("failed", { level: "error", fields: { error: "no bulb", stack } }))).toBe(
      '03:04:05.678 ERROR failed error="no bulb"\n    at light (operator.ts:3:9)\n',
    );
  });

  it("count an Event that happens again, and keep it in one line", () => {
    expect(lines().event(note({ type: "Warning", reason: "BackOff", message: "try\n later", count: 3 }))).toBe(
      "03:04:05.678 EVENT [default/lamp] BackOff: try later ×3 from=kubelet\n",
    );
  });

  it("give each object a colour, the same each time", () => {
    const { log } = lines(1, true);
    const colour = (name: string) => /\[(\d+)m\[/.exec(log(record("x", { object: object(name) })))?.[1];
    expect(colour("a")).toBe(colour("a"));
    expect(new Set(["a", "b", "c", "d", "e", "f"].map(colour)).size).toBeGreaterThan(2);
  });
});

describe("the sink of lotse dev", () => {
  it("leaves out what is below its level", () => {
    let text = "";
    const sink = devSink(lines(), { write: (more) => (text += more) }, "warn");
    sink(record("one"));
    sink(record("two", { level: "warn" }));
    expect(text).toBe("03:04:05.678 WARN  two\n");
    expect(sink.level).toBe("warn");
  });
});

describe("eventRecord", () => {
  it("has everything in fields", () => {
    expect(eventRecord(note({ type: "Warning" }))).toEqual({
      time: TIME,
      level: "warn",
      message: "Kubernetes Event",
      fields: { type: "Warning", reason: "Started", note: "Container started", from: "kubelet", count: 1 },
      object: object("lamp", "default"),
    });
  });
});
