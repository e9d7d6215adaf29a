import { harmlessLines } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Logger, type LogRecord } from "./logger.ts";
import { jsonSink, minLevel, prettySink } from "./sinks.ts";

const NOON = Date.parse("2026-01-01T12:00:00.250Z");
const ship = { apiVersion: "ships.example.com/v1", kind: "Ship", namespace: "north", name: "one", uid: "u1" };

/** What a sink writes. */
function lines() {
  const written: string[] = [];
  return { written, output: { write: (text: string) => written.push(text) } };
}

describe("a line for people", () => {
  it("has time, level, the object's name, the sentence and its fields", () => {
    const { written, output } = lines();
    const logger = new Logger(prettySink(output, { colours: false }), () => NOON);
    logger.about(ship).info("rate published", { rate: 1.08, of: "the bank", left: undefined });
    logger.about({ ...ship, namespace: undefined }).warn("nobody answers");
    logger.error("stopped");
    expect(written).toEqual([
      '12:00:00.250 INFO  [north/one] rate published rate=1.08 of="the bank"\n',
      "12:00:00.250 WARN  [one] nobody answers\n",
      "12:00:00.250 ERROR stopped\n",
    ]);
  });

  it("has colours only when asked", () => {
    const { written, output } = lines();
    new Logger(prettySink(output, { colours: true }), () => NOON).warn("careful");
    expect(written[0]).toBe("\x1b[2m12:00:00.250\x1b[0m \x1b[33mWARN \x1b[0m careful\n");
  });

  it("is followed by the stack of an error, and has its message in one line", () => {
    const { written, output } = lines();
    const logger = new Logger(prettySink(output, { colours: false }), () => NOON);
    logger.error("failed", { error: new Error("no ink"), stack: "Error: no ink\n    at draw" });
    expect(written).toEqual(['12:00:00.250 ERROR failed error="no ink"\n  Error: no ink\n    at draw\n']);
  });
});

describe("a line for machines", () => {
  it("is one JSON document with the object in its own member", () => {
    const { written, output } = lines();
    new Logger(jsonSink(output), () => NOON).about(ship).info("rate published", { rate: 1.08 });
    expect(written[0]?.endsWith("}\n")).toBe(true);
    expect(JSON.parse(written[0] ?? "")).toEqual({
      time: "2026-01-01T12:00:00.250Z",
      level: "info",
      message: "rate published",
      object: ship,
      rate: 1.08,
    });
  });

  it("tells an error with its name, message and stack", () => {
    const { written, output } = lines();
    new Logger(jsonSink(output), () => NOON).error("failed", { error: new TypeError("no ink") });
    expect(JSON.parse(written[0] ?? "")).toMatchObject({ error: { name: "TypeError", message: "no ink" } });
  });

  it("tells what caused an error, as a line for people does", () => {
    const { written, output } = lines();
    const error = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") });
    new Logger(jsonSink(output), () => NOON).error("failed", { error });
    new Logger(prettySink(output, { colours: false }), () => NOON).error("failed", { error });
    expect(JSON.parse(written[0] ?? "").error.message).toBe("fetch failed: connect ECONNREFUSED 127.0.0.1:1");
    expect(written[1]).toBe('12:00:00.250 ERROR failed error="fetch failed: connect ECONNREFUSED 127.0.0.1:1"\n');
  });

  it("cannot be forged by a field, whatever it is called", () => {
    const { written, output } = lines();
    const fields = {
      message: "all is well",
      level: "info",
      time: "1970",
      object: { name: "else" },
      fields: 1,
      rate: 2,
    };
    new Logger(jsonSink(output), () => NOON).about(ship).error("failed", fields);
    expect(JSON.parse(written[0] ?? "")).toEqual({
      time: new Date(NOON).toISOString(),
      level: "error",
      message: "failed",
      object: ship,
      rate: 2,
      fields: { message: "all is well", level: "info", time: "1970", object: { name: "else" }, fields: 1 },
    });
  });

  it("is written whatever its fields are", () => {
    const { written, output } = lines();
    const circle: Record<string, unknown> = { big: 2n ** 70n, nested: { error: new Error("inside") } };
    circle.self = { again: circle };
    const same = { a: 1 };
    const thrower = {
      toJSON: () => {
        throw new Error("no");
      },
    };
    const keepOut = () => {
      throw new Error("keep out");
    };
    const hostile = new Proxy({}, { get: keepOut });
    for (const sink of [jsonSink(output), prettySink(output, { colours: false })]) {
      const logger = new Logger(sink, () => NOON);
      logger.info("circle", { circle, twice: [same, same] });
      logger.info("thrower", { thrower });
      logger.info("hostile", { hostile });
    }
    expect(written).toHaveLength(6);
    expect(JSON.parse(written[0] ?? "")).toMatchObject({
      message: "circle",
      circle: {
        big: "1180591620717411303424",
        nested: { error: { message: "inside" } },
        self: { again: "[circular]" },
      },
      twice: [{ a: 1 }, { a: 1 }],
    });
    expect(JSON.parse(written[1] ?? "")).toMatchObject({ message: "thrower", fields: expect.stringContaining("no") });
    expect(JSON.parse(written[2] ?? "").message).toBe("hostile");
  });

  it("lets nothing through that a terminal would obey, nor a line that somebody made up", () => {
    const { written, output } = lines();
    const evil = "x\x1b[2J\n12:00:00.250 INFO  all is well\u009b1A";
    const object = { ...ship, name: evil };
    const error = Object.assign(new Error(evil), { stack: `Error: ${evil}\n    at ${evil.replace("\n", "")}` });
    for (const sink of [jsonSink(output), prettySink(output, { colours: false })]) {
      new Logger(sink, () => NOON)
        .about(object)
        .warn(evil, { [evil]: evil, error, deep: { a: evil }, stack: error.stack });
    }
    const [json = "", pretty = ""] = written;
    for (const text of [json, pretty]) expect(harmlessLines(text)).toBe(text);
    expect(json.split("\n")).toHaveLength(2);
    expect(pretty.split("\n").filter((line) => /^\S/.test(line))).toHaveLength(1);
  });

  it("can have any other form: a sink is a function", () => {
    const seen: unknown[] = [];
    const sink = ({ time, level, message, object, fields }: LogRecord) =>
      void seen.push({ timestamp: time, severity: level, message, k8s: object, ...fields });
    new Logger(sink, () => NOON).about(ship).warn("careful", { a: 1 });
    expect(seen).toEqual([{ timestamp: NOON, severity: "warn", message: "careful", k8s: ship, a: 1 }]);
  });
});

describe("a logger", () => {
  it.each([
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ] as const)("writes from the level %s up", (level, expected) => {
    const seen: string[] = [];
    const logger = new Logger(
      minLevel(level, (line) => void seen.push(line.level)),
      () => NOON,
    );
    for (const one of ["debug", "info", "warn", "error"] as const) logger[one]("a line");
    expect(seen).toEqual(expected);
  });

  it("hands its fields and its object on to those made from it, and a line's own fields win", () => {
    const seen: LogRecord[] = [];
    const logger = new Logger(
      (line) => void seen.push(line),
      () => NOON,
    ).with({ kind: "Ship", handler: "a" });
    logger.about(ship).with({ handler: "b" }).info("one", { attempt: 1 });
    logger.info("two", { handler: "c" });
    expect(seen.map(({ fields, object }) => [fields, object?.name])).toEqual([
      [{ kind: "Ship", handler: "b", attempt: 1 }, "one"],
      [{ kind: "Ship", handler: "c" }, undefined],
    ]);
  });
});
