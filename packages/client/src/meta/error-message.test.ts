import { describe, expect, it } from "vitest";
import { errorMessage } from "./error-message.ts";

const circle = () => {
  const error = new Error("first");
  error.cause = new Error("second", { cause: error });
  return error;
};
const selfish: Record<string, unknown> = {};
selfish.own = selfish;

describe("an error in words", () => {
  it.each([
    ["a message", new Error("no current"), "no current"],
    ["a name, without a message", new TypeError(""), "TypeError"],
    [
      "the cause behind it",
      new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") }),
      "fetch failed: connect ECONNREFUSED 127.0.0.1:1",
    ],
    ["a whole chain of causes", new Error("a", { cause: new Error("b", { cause: new Error("c") }) }), "a: b: c"],
    [
      "nothing twice",
      new Error("cannot read: no such file", { cause: new Error("no such file") }),
      "cannot read: no such file",
    ],
    ["a cause that is no error", new Error("a", { cause: { code: 5 } }), 'a: {"code":5}'],
    ["causes that go in circles", circle(), "first: second"],
    [
      "the errors of several at once",
      new AggregateError([new Error("connect ECONNREFUSED ::1:1"), new Error("connect ECONNREFUSED 127.0.0.1:1")], ""),
      "connect ECONNREFUSED ::1:1: connect ECONNREFUSED 127.0.0.1:1",
    ],
    ["lines as one line", new Error("first\n  second"), "first second"],
    ["a text that was thrown", "no", "no"],
    ["an object that was thrown", { code: 5 }, '{"code":5}'],
    ["an object like an error", { message: "from elsewhere" }, "from elsewhere"],
    ["an object that is no JSON", selfish, "{}"],
    ["a thing without any words", new Map([["a", 1]]), "[Map]"],
    ["nothing at all", undefined, "undefined"],
  ])("tells %s", (_, error, words) => {
    expect(errorMessage(error)).toBe(words);
  });

  it("is never longer than what somebody reads", () => {
    expect(errorMessage(new Error("x".repeat(5_000))).length).toBeLessThanOrEqual(1_001);
  });
});
