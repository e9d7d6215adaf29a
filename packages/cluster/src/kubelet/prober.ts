import type { Clock } from "@lotse/client/meta";
import { isRecord } from "../registry/index.ts";
import type { ProbeKind } from "./container-events.ts";
import type { Probe, Readiness } from "./runtime.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a container's probes have found out. */
export interface ProbeNews {
  started(): void;
  ready(ready: boolean): void;
  /** One attempt of a probe failed: what was found instead. */
  failed(probe: ProbeKind, output: string): void;
  /** The container must be restarted. */
  unhealthy(probe: ProbeKind): void;
}

interface Thresholds {
  readonly initialDelay: number;
  readonly period: number;
  readonly timeout: number;
  readonly successes: number;
  readonly failures: number;
}

function thresholdsOf(probe: Fields): Thresholds {
  const number = (key: string, fallback: number) =>
    typeof probe[key] === "number" ? (probe[key] as number) : fallback;
  return {
    initialDelay: number("initialDelaySeconds", 0) * 1_000,
    period: Math.max(1, number("periodSeconds", 10)) * 1_000,
    timeout: Math.max(1, number("timeoutSeconds", 1)) * 1_000,
    successes: Math.max(1, number("successThreshold", 1)),
    failures: Math.max(1, number("failureThreshold", 3)),
  };
}

/**
 * Looks after one run of a container: the startup probe first, then readiness and liveness side by side. A container
 * without a startup probe has started as soon as it runs; one without a readiness probe is ready when it has started.
 * The returned function ends it.
 */
export function watchHealth(clock: Clock, spec: Fields, readiness: Readiness, news: ProbeNews): () => void {
  const stop = new AbortController();
  const live = <A extends unknown[]>(tell: (...args: A) => void) => {
    return (...args: A) => {
      if (!stop.signal.aborted) tell(...args);
    };
  };
  if (readiness.by === "itself") {
    news.started();
    readiness.onChange(live((ready) => news.ready(ready)));
    return () => stop.abort();
  }
  const run = (kind: ProbeKind, probe: Fields, signal: AbortSignal, onVerdict: (healthy: boolean) => void) =>
    repeat(clock, probe, readiness.probe, signal, {
      failed: (output) => news.failed(kind, output),
      verdict: onVerdict,
    });
  const begin = live(() => {
    news.started();
    if (isRecord(spec.livenessProbe)) {
      run("Liveness", spec.livenessProbe, stop.signal, (healthy) => !healthy && news.unhealthy("Liveness"));
    }
    if (isRecord(spec.readinessProbe)) {
      run("Readiness", spec.readinessProbe, stop.signal, (healthy) => news.ready(healthy));
    } else news.ready(true);
  });
  if (isRecord(spec.startupProbe)) {
    const startup = new AbortController();
    stop.signal.addEventListener("abort", () => startup.abort());
    run("Startup", spec.startupProbe, startup.signal, (healthy) => {
      startup.abort();
      if (healthy) begin();
      else news.unhealthy("Startup");
    });
  } else begin();
  return () => stop.abort();
}

interface ProbeResults {
  readonly failed: (output: string) => void;
  /** Each change of the verdict, which takes as many equal results in a row as the probe asks for. */
  readonly verdict: (healthy: boolean) => void;
}

function repeat(clock: Clock, probe: Fields, attempt: Probe, signal: AbortSignal, results: ProbeResults): void {
  const { initialDelay, period, timeout, successes, failures } = thresholdsOf(probe);
  let verdict: boolean | undefined;
  let row = { healthy: false, length: 0 };
  let cancel = () => {};
  signal.addEventListener("abort", () => cancel());
  const note = (healthy: boolean) => {
    row = row.healthy === healthy ? { healthy, length: row.length + 1 } : { healthy, length: 1 };
    if (row.length < (healthy ? successes : failures) || verdict === healthy) return;
    verdict = healthy;
    results.verdict(healthy);
  };
  const once = async () => {
    const problem = await within(clock, timeout, attempt(probe));
    if (signal.aborted) return;
    if (problem !== undefined) results.failed(problem);
    note(problem === undefined);
    if (!signal.aborted) cancel = clock.after(period, () => void once());
  };
  cancel = clock.after(initialDelay, () => void once());
}

/** A probe that takes too long, or breaks, has failed. */
function within(clock: Clock, ms: number, result: Promise<string | undefined>): Promise<string | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(`timed out after ${ms / 1_000}s`));
    const end = (problem: string | undefined) => {
      cancel();
      resolve(problem);
    };
    result.then(end, (error: unknown) => end(error instanceof Error ? error.message : String(error)));
  });
}
