import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Operator } from "../../operator/index.ts";
import { Logger } from "../../report/index.ts";
import { type Problem, sentenceOf, uncaughtProblem } from "../terminal/index.ts";
import { CrashPatience } from "./crash-patience.ts";
import { DevCrashes } from "./crashes.ts";
import { HandlerContext } from "./handler-context.ts";

const at = (error: Error, ...frames: string[]) =>
  Object.assign(error, { stack: [String(error), ...frames.map((frame) => `    at ${frame}`)].join("\n") });

describe("an error that nobody caught", () => {
  it("is told with its place, the handler that began it, and what to do", () => {
    const error = at(new Error("no stock"), "sell (/p/node_modules/shop/index.js:1:1)", "open (/p/operator.ts:7:3)");
    const handler = { id: "open", sourceLocation: "p/operator.ts:5" };
    const { what, why, todo } = uncaughtProblem({ error, origin: "rejection", handler }, "goes on");
    expect({ what, why, todo }).toEqual({
      what: "a promise was rejected, and nobody awaits it: no stock",
      why: "at operator.ts:7:3, begun in handler open (p/operator.ts:5)",
      todo: "await the call that made it, or catch its error; goes on",
    });
  });

  it("is told without a place where none of its frames is the user's", () => {
    const error = at(new Error("no stock"), "sell (/p/node_modules/shop/index.js:1:1)");
    const why = (handler?: { id: string; sourceLocation: string | undefined }) =>
      uncaughtProblem({ error, origin: "exception", handler }, "goes on").why;
    expect(why({ id: "open", sourceLocation: undefined })).toBe("in what was begun by handler open");
    expect(why()).toBe("none of your files is in its stack, which --verbose shows");
  });

  it.each([
    [
      new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") }),
      "fetch failed: connect ECONNREFUSED 127.0.0.1:1",
    ],
    [new TypeError("fetch failed", { cause: new AggregateError([new Error("refused")], "") }), "fetch failed: refused"],
    [new Error("a: b", { cause: new Error("b") }), "a: b"],
    [{ code: 5 }, "{ code: 5 }"],
    ["text", "'text'"],
    [undefined, "undefined"],
  ])("says what is behind it: %j", (error, sentence) => {
    expect(sentenceOf(error)).toBe(sentence);
  });
});

describe("how soon the operator is started again", () => {
  it("is at once, then later and later, and at once again after a quiet minute or a save", () => {
    const patience = new CrashPatience();
    const delays = (...times: number[]) => times.map((now) => patience.next("a", now, false).delayMs);
    expect(delays(0, 1, 2, 3, 4, 5, 6, 7)).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(delays(60_007, 60_008)).toEqual([0, 1_000]);
    patience.forget();
    expect(delays(60_009)).toEqual([0]);
  });

  it("does not count what happens while a restart is on its way", () => {
    const patience = new CrashPatience();
    patience.next("a", 0, false);
    for (let i = 0; i < 100; i++) patience.next("a", i, true);
    expect(patience.next("b", 100, false)).toEqual({ known: false, restarts: 2, delayMs: 1_000 });
  });
});

describe("lotse dev", () => {
  function crashes() {
    const clock = new VirtualClock();
    const told: string[] = [];
    const lines: string[] = [];
    const restarts: string[] = [];
    const logger = new Logger(
      ({ message, fields }) => lines.push(`${message} ${fields.hint}`),
      () => clock.now(),
    );
    const it = new DevCrashes({
      handlers: { current: { id: "open", sourceLocation: undefined } },
      logger,
      tell: ({ what }: Problem) => told.push(what),
      restart: (why) => restarts.push(why),
      clock,
    });
    return { it, clock, told, lines, restarts };
  }

  it("tells the same error once, restarts for it again and again, and says in the end what a restart cannot mend", async () => {
    const { it: dev, clock, told, lines, restarts } = crashes();
    for (let i = 0; i < 6; i++) {
      // A timer that an earlier load has left behind throws much more often than the operator is started.
      for (let j = 0; j < 10; j++) dev.happened(new Error("the clock is gone"), "exception");
      await clock.advance(30_000);
    }
    expect(told).toHaveLength(1);
    expect(restarts).toHaveLength(6);
    expect(lines.at(0)).toContain("a save starts it at once");
    expect(lines.at(-1)).toContain("end lotse dev, and start it anew");
  });

  it("starts nothing any more once it stops, and tells what happens then", async () => {
    const { it: dev, clock, lines, restarts } = crashes();
    dev.happened(new Error("one"), "rejection");
    dev.close();
    dev.happened(new Error("two"), "rejection");
    await clock.advance(60_000);
    expect(restarts).toEqual([]);
    expect(lines).toEqual([expect.stringContaining("an error that nobody caught, while stopping")]);
  });

  it("knows the handler in whatever the handler began, however late", async () => {
    const context = new HandlerContext();
    const operator = new Operator({ name: "shop" });
    const seen: unknown[] = [];
    const look = () => seen.push(context.current?.id);
    operator.on.startup(async function open() {
      look();
      await Promise.resolve().then(look);
      await new Promise<void>((resolve) => {
        setTimeout(() => {
          look();
          resolve();
        }, 1);
      });
    });
    context.follow([{ file: "operator.ts", operator }]);
    // A package's operator is the same one at the next load.
    context.follow([{ file: "operator.ts", operator }]);
    await operator.activities[0]?.fn({} as never);
    look();
    expect(seen).toEqual(["open", "open", "open", undefined]);
  });
});
