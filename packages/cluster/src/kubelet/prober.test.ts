import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { watchHealth } from "./prober.ts";

/** A container whose probes answer from lists, the last answer for ever; news come out as words. */
function watch(spec: Record<string, unknown>, answers: Record<string, (boolean | "never" | "breaks")[]>) {
  const clock = new VirtualClock();
  const news: string[] = [];
  const failures: string[] = [];
  const probe = (wanted: Readonly<Record<string, unknown>>): Promise<string | undefined> => {
    const list = answers[String(wanted.name)] ?? [];
    const answer = list.length > 1 ? list.shift() : list[0];
    if (answer === "never") return new Promise(() => {});
    return answer === "breaks"
      ? Promise.reject(new Error("no"))
      : Promise.resolve(answer === true ? undefined : "wrong");
  };
  const at = () => clock.monotonic() / 1_000;
  const stop = watchHealth(
    clock,
    spec,
    { by: "probes", probe },
    {
      started: () => news.push(`${at()} started`),
      ready: (ready) => news.push(`${at()} ${ready ? "ready" : "unready"}`),
      failed: (kind, output) => failures.push(`${at()} ${kind}: ${output}`),
      unhealthy: (kind) => news.push(`${at()} unhealthy by ${kind}`),
    },
  );
  return { clock, news, failures, stop };
}

describe("probes", () => {
  it("are not needed: what runs is ready", () => {
    expect(watch({}, {}).news).toEqual(["0 started", "0 ready"]);
  });

  it("need as many equal answers in a row as they say, and tell only changes", async () => {
    const readinessProbe = {
      name: "r",
      initialDelaySeconds: 5,
      periodSeconds: 10,
      successThreshold: 2,
      failureThreshold: 2,
    };
    const { clock, news, stop } = watch(
      { readinessProbe },
      { r: [true, false, true, true, true, false, true, false, false] },
    );
    await clock.advance(200_000);
    stop();
    expect(news).toEqual(["0 started", "35 ready", "85 unready"]);
    expect(clock.pending).toBe(0);
  });

  it("wait for the startup probe, which may fail for a while", async () => {
    const startupProbe = { name: "s", periodSeconds: 10, failureThreshold: 3 };
    const livenessProbe = { name: "l", periodSeconds: 5, failureThreshold: 1 };
    const { clock, news, stop } = watch({ startupProbe, livenessProbe }, { s: [false, false, true], l: [true, false] });
    await clock.advance(60_000);
    stop();
    expect(news).toEqual(["20 started", "20 ready", "25 unhealthy by Liveness"]);
  });

  it("give up on a container that never starts", async () => {
    const startupProbe = { name: "s", periodSeconds: 1, failureThreshold: 3 };
    const { clock, news, failures } = watch({ startupProbe }, { s: [false] });
    await clock.advance(60_000);
    expect(news).toEqual(["2 unhealthy by Startup"]);
    expect(failures).toEqual(["0 Startup: wrong", "1 Startup: wrong", "2 Startup: wrong"]);
    expect(clock.pending).toBe(0);
  });

  it("count as failed when they take too long or break", async () => {
    const livenessProbe = { name: "l", periodSeconds: 10, timeoutSeconds: 3, failureThreshold: 2 };
    const { clock, news, failures, stop } = watch({ livenessProbe }, { l: ["never", "breaks"] });
    await clock.advance(30_000);
    stop();
    expect(news).toEqual(["0 started", "0 ready", "13 unhealthy by Liveness"]);
    expect(failures).toEqual(["3 Liveness: timed out after 3s", "13 Liveness: no", "23 Liveness: no"]);
  });

  it("say nothing after they are stopped", async () => {
    const { clock, news, stop } = watch({ readinessProbe: { name: "r" } }, { r: [true] });
    stop();
    await clock.advance(60_000);
    expect(news).toEqual(["0 started"]);
    expect(clock.pending).toBe(0);
  });
});
