import { sleep, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Aborted, PermanentError, type SettingsPlan, TemporaryError } from "../declare/index.ts";
import { Logger } from "../report/index.ts";
import { type AttemptLimits, type Execution, execute } from "./execute.ts";
import type { AttemptResult } from "./outcome.ts";
import { Stop } from "./stop.ts";

interface Limits extends AttemptLimits {
  readonly clock: VirtualClock;
}

/** Executes a handler that is nothing but a call. */
async function attempt(call: Execution["call"], { clock, ...limits }: Limits): Promise<AttemptResult> {
  const { result } = await execute(
    {
      runtime: { clock, plan: PLAN, nextRunId: () => "k3x9f-1" },
      reporting: { traces: undefined, measures: { ran: () => {} } },
    },
    {
      ...limits,
      handler: { id: "build", type: "change", sourceLocation: undefined },
      logger: new Logger(
        () => {},
        () => 0,
      ),
      reason: undefined,
      retry: 0,
      object: undefined,
      waits: undefined,
      call,
    },
  );
  return result;
}

const PLAN = { blockedMs: Number.POSITIVE_INFINITY } as SettingsPlan;

function limits(clock: VirtualClock, more: Partial<AttemptLimits> = {}): Limits {
  return {
    clock,
    parent: new Stop(),
    timeoutMs: undefined,
    graceMs: 1_000,
    errors: "temporary",
    ...more,
  };
}

describe("an attempt", () => {
  const clock = new VirtualClock();

  it("is done with what the handler returns", async () => {
    expect(await attempt(() => 42, limits(clock))).toMatchObject({ outcome: { type: "done", result: 42 } });
  });

  it.each([
    [
      "a temporary error keeps its exact delay",
      new TemporaryError("later", { delay: "7s" }),
      "temporary" as const,
      { type: "temporary", message: "later", delayMs: 7_000, waits: true },
    ],
    [
      "a permanent error is final",
      new PermanentError("never"),
      "temporary" as const,
      { type: "failed", message: "never" },
    ],
    [
      "an unknown error is temporary by default",
      new Error("boom"),
      "temporary" as const,
      { type: "temporary", message: "boom", delayMs: undefined },
    ],
    [
      "an unknown error is permanent when declared so",
      new Error("boom"),
      "permanent" as const,
      { type: "failed", message: "boom" },
    ],
    [
      "an unknown error is ignored when declared so",
      new Error("boom"),
      "ignored" as const,
      { type: "done", result: undefined },
    ],
    [
      "anything can be thrown",
      "just text",
      "temporary" as const,
      { type: "temporary", message: "just text", delayMs: undefined },
    ],
  ])("%s", async (_name, error, errors, outcome) => {
    const result = await attempt(
      () => {
        throw error;
      },
      limits(clock, { errors }),
    );
    expect(result.outcome).toEqual(outcome);
  });

  it("is told the id of its run, and its result has it", async () => {
    let told: string | undefined;
    const result = await attempt((_stop, runId) => {
      told = runId;
    }, limits(clock));
    expect([told, result.runId]).toEqual(["k3x9f-1", "k3x9f-1"]);
  });

  it("is aborted by its signal when its timeout is over", async () => {
    const own = new VirtualClock();
    let why: unknown;
    const running = attempt(
      async ({ signal }) => {
        await sleep(own, 60_000, signal).catch((reason) => {
          why = reason;
          throw reason;
        });
      },
      limits(own, { timeoutMs: 5_000 }),
    );
    await own.advance(5_000);
    expect(await running).toMatchObject({ outcome: { type: "failed", message: "timed out" }, abandoned: false });
    expect((why as Aborted).why).toBe("timeout");
    expect(own.pending).toBe(0);
  });

  it("does not count when the operator stops it", async () => {
    const own = new VirtualClock();
    const stop = new Stop();
    const running = attempt(({ signal }) => sleep(own, 60_000, signal), limits(own, { parent: stop }));
    stop.stop(new Aborted("shutdown", "the operator stops"));
    await own.advance(0);
    expect((await running).outcome).toEqual({ type: "aborted" });
  });

  it("counts when the handler finishes although it was told to stop", async () => {
    const own = new VirtualClock();
    const stop = new Stop();
    const running = attempt(() => sleep(own, 500).then(() => "made it"), limits(own, { parent: stop }));
    stop.stop(new Aborted("shutdown", "the operator stops"));
    await own.advance(500);
    expect((await running).outcome).toEqual({ type: "done", result: "made it" });
  });

  it("counts as timed out when the handler ignores its timeout and returns later", async () => {
    const own = new VirtualClock();
    const running = attempt(() => sleep(own, 1_500).then(() => "too late"), limits(own, { timeoutMs: 1_000 }));
    await own.advance(1_500);
    const result = await running;
    expect(result).toMatchObject({ outcome: { type: "failed", message: "timed out" }, abandoned: false, late: true });
    expect((result.error as Aborted).why).toBe("timeout");
  });

  it("is abandoned when the handler ignores its signal for too long", async () => {
    const own = new VirtualClock();
    const running = attempt(() => new Promise(() => {}), limits(own, { timeoutMs: 1_000, graceMs: 2_000 }));
    await own.advance(3_000);
    expect(await running).toMatchObject({ outcome: { type: "failed" }, abandoned: true });
  });

  it("ends its signal with itself, so that nobody can act in its name afterwards", async () => {
    let kept: AbortSignal | undefined;
    await attempt(({ signal }) => {
      kept = signal;
    }, limits(clock));
    expect(kept?.aborted).toBe(true);
  });
});
