/**
 * Measures of the requests to the API server, with the names, labels and bounds of client-go: all attempts are counted,
 * those after the first as retries too; a duration is that of the whole call, its retries and waits included. Streams
 * and WebSockets have no duration and no size, for they end when one of the two sides likes.
 */
import type { RequestAttempt, RequestFollower, RequestListener } from "@lotse/client";
import type { Counter, Histogram, MetricLabels, Metrics } from "./metrics.ts";

const SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const BYTES: readonly number[] = [
  64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];

/** What client-go says where there was no answer. */
const NO_ANSWER = "<error>";

/** The measures of one HTTP method. */
interface MethodMeasures {
  readonly requests: (code: string) => Counter;
  readonly retries: (code: string) => Counter;
  readonly seconds: Histogram;
  readonly sent: Histogram;
  readonly received: Histogram;
}

/** Measures each request that it is told of. */
export function restMeasures(metrics: Metrics, server: string, monotonic: () => number): RequestListener {
  const host = hostOf(server);
  const measures = remembered((method) => measuresOf(metrics, method, host));
  return ({ method, watch, websocket }) => (websocket ? undefined : follow(measures(method), watch, monotonic));
}

function follow(measures: MethodMeasures, watch: boolean, monotonic: () => number): RequestFollower {
  const begunAt = monotonic();
  let last: RequestAttempt | undefined;
  return {
    attempted(attempt) {
      const code = attempt.status === undefined ? NO_ANSWER : String(attempt.status);
      measures.requests(code).add();
      if (last) measures.retries(code).add();
      measures.sent.observe(attempt.sentBytes);
      last = attempt;
    },
    ended() {
      if (last?.receivedBytes !== undefined) measures.received.observe(last.receivedBytes);
      const streams = watch || (last?.status !== undefined && last.receivedBytes === undefined);
      if (!streams) measures.seconds.observe((monotonic() - begunAt) / 1_000);
    },
  };
}

function measuresOf(metrics: Metrics, verb: string, host: string): MethodMeasures {
  const histogram = (name: string, help: string, bounds: readonly number[]) =>
    metrics.histogram(name, help, { verb, host }, bounds);
  const counter = (name: string, help: string, labels: (code: string) => MetricLabels) =>
    remembered((code) => metrics.counter(name, help, labels(code)));
  return {
    requests: counter("rest_client_requests_total", "Requests to the API server, each attempt by itself.", (code) => ({
      code,
      method: verb,
      host,
    })),
    retries: counter("rest_client_request_retries_total", "Attempts after the first.", (code) => ({
      code,
      verb,
      host,
    })),
    seconds: histogram(
      "rest_client_request_duration_seconds",
      "How long requests take, their retries included.",
      SECONDS,
    ),
    sent: histogram("rest_client_request_size_bytes", "Sizes of what is sent to the API server.", BYTES),
    received: histogram("rest_client_response_size_bytes", "Sizes of what the API server answers.", BYTES),
  };
}

function remembered<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}

/** `localhost:6443` */
function hostOf(server: string): string {
  return URL.canParse(server) ? new URL(server).host : server;
}
