import type { LogLevel } from "lotse";
import { expect, test } from "vitest";
import { CapturedLogs } from "./logs.ts";

function captured(): CapturedLogs {
  const logs = new CapturedLogs();
  const line = (level: LogLevel, message: string, name?: string, fields = {}) =>
    logs.sink({
      time: 0,
      level,
      message,
      fields,
      object: name === undefined ? undefined : { apiVersion: "v1", kind: "Pod", namespace: "default", name },
    });
  line("debug", "looking");
  line("info", "measured", "one", { handler: "measure", size: 3 });
  line("error", "handler failed", "two", { handler: "measure", stack: "long" });
  return logs;
}

test("lines are found by level, sentence, object and handler", () => {
  const logs = captured();
  expect(logs.messages()).toEqual(["looking", "measured", "handler failed"]);
  expect(logs.messages({ level: "info" })).toEqual(["measured", "handler failed"]);
  expect(logs.messages({ message: "measured" })).toEqual(["measured"]);
  expect(logs.messages({ message: /fail/ })).toEqual(["handler failed"]);
  expect(logs.messages({ object: "one" })).toEqual(["measured"]);
  expect(logs.messages({ object: "default/two", handler: "measure" })).toEqual(["handler failed"]);
  expect(logs.messages({ object: "other/two" })).toEqual([]);
});

test("the log reads as text", () => {
  expect(String(captured())).toBe(
    "debug looking\ninfo [default/one] measured handler=measure size=3\nerror [default/two] handler failed handler=measure",
  );
});

test("what was cleared is forgotten", () => {
  const logs = captured();
  logs.clear();
  expect([...logs]).toEqual([]);
});
