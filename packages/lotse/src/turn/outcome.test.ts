import { describe, expect, it } from "vitest";
import { planBackoff } from "../declare/index.ts";
import { retryDelayMs } from "./outcome.ts";
import type { Outcome } from "./settle.ts";

const backoff = planBackoff({ jitter: 0 });
const none = () => 0;
const failed: Outcome = { type: "temporary", message: "boom", delayMs: undefined };
const waits: Outcome = { type: "temporary", message: "later", delayMs: 7_000, waits: true };

describe("the wait for another attempt", () => {
  const plan = { retries: undefined, timeoutMs: undefined, backoff };

  it("grows from attempt to attempt", () => {
    expect([1, 2, 3].map((attempts) => retryDelayMs(plan, failed, attempts, 0, none))).toEqual([1_000, 2_000, 4_000]);
  });

  it("is exactly what the handler asks for", () => {
    expect(retryDelayMs(plan, waits, 3, 0, none)).toBe(7_000);
  });

  it.each<Outcome>([{ type: "done", result: undefined }, { type: "failed", message: "never" }, { type: "aborted" }])(
    "there is none after $type",
    (outcome) => expect(retryDelayMs(plan, outcome, 1, 0, none)).toBeUndefined(),
  );

  it("there is none when the retries are used up", () => {
    expect(retryDelayMs({ ...plan, retries: 3 }, failed, 2, 0, none)).toBe(2_000);
    expect(retryDelayMs({ ...plan, retries: 3 }, failed, 3, 0, none)).toBeUndefined();
  });

  it("there is none when the next attempt would come after the end of its time", () => {
    expect(retryDelayMs({ ...plan, timeoutMs: 8_001 }, waits, 1, 1_000, none)).toBe(7_000);
    expect(retryDelayMs({ ...plan, timeoutMs: 8_000 }, waits, 1, 1_000, none)).toBeUndefined();
  });
});
