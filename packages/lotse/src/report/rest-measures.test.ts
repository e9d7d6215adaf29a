import type { RequestAttempt } from "@lotse/client";
import { expect, it } from "vitest";
import { Metrics } from "./metrics.ts";
import { restMeasures } from "./rest-measures.ts";

/** Counts and durations, in alphabetical order. */
function read(metrics: Metrics): string[] {
  return metrics
    .render()
    .split("\n")
    .sort()
    .filter((line) => line !== "" && !line.startsWith("#") && !line.includes("_bucket") && !line.includes("_bytes"));
}

function started({ method = "GET", watch = false, websocket = false } = {}) {
  const metrics = new Metrics();
  let now = 1_000;
  const listener = restMeasures(metrics, "https://api.example.com:6443/prefix", () => now);
  const follower = listener({ method, path: "/api/v1/pods", watch, websocket });
  const attempt = (status: number | undefined, receivedBytes?: number, sentBytes = 0): RequestAttempt => ({
    status,
    sentBytes,
    receivedBytes,
  });
  return { metrics, follower, attempt, pass: (ms: number) => (now += ms) };
}

it("a request is counted by code, method and host, and its duration by verb and host", () => {
  const { metrics, follower, attempt, pass } = started();
  pass(250);
  follower?.attempted?.(attempt(200, 5_000));
  follower?.ended?.({ status: 200 });
  expect(read(metrics)).toEqual([
    'rest_client_request_duration_seconds_count{verb="GET",host="api.example.com:6443"} 1',
    'rest_client_request_duration_seconds_sum{verb="GET",host="api.example.com:6443"} 0.25',
    'rest_client_requests_total{code="200",method="GET",host="api.example.com:6443"} 1',
  ]);
});

it("each attempt counts as a request, and those after the first as retries too", () => {
  const { metrics, follower, attempt, pass } = started({ method: "PATCH" });
  follower?.attempted?.(attempt(undefined, undefined, 100));
  follower?.attempted?.(attempt(503, 80, 100));
  pass(1_500);
  follower?.attempted?.(attempt(200, 300, 100));
  follower?.ended?.({ status: 200 });
  expect(read(metrics)).toEqual([
    'rest_client_request_duration_seconds_count{verb="PATCH",host="api.example.com:6443"} 1',
    'rest_client_request_duration_seconds_sum{verb="PATCH",host="api.example.com:6443"} 1.5',
    'rest_client_request_retries_total{code="200",verb="PATCH",host="api.example.com:6443"} 1',
    'rest_client_request_retries_total{code="503",verb="PATCH",host="api.example.com:6443"} 1',
    'rest_client_requests_total{code="200",method="PATCH",host="api.example.com:6443"} 1',
    'rest_client_requests_total{code="503",method="PATCH",host="api.example.com:6443"} 1',
    'rest_client_requests_total{code="<error>",method="PATCH",host="api.example.com:6443"} 1',
  ]);
});

it("sizes have bounds of their own: of all that is sent, and of the last answer", () => {
  const { metrics, follower, attempt } = started({ method: "POST" });
  follower?.attempted?.(attempt(429, 90, 600));
  follower?.attempted?.(attempt(201, 700, 600));
  follower?.ended?.({ status: 201 });
  const lines = metrics.render().split("\n");
  const labels = 'verb="POST",host="api.example.com:6443"';
  expect(lines).toContain(`rest_client_request_size_bytes_bucket{${labels},le="512"} 0`);
  expect(lines).toContain(`rest_client_request_size_bytes_bucket{${labels},le="1024"} 2`);
  expect(lines).toContain(`rest_client_request_size_bytes_sum{${labels}} 1200`);
  expect(lines).toContain(`rest_client_response_size_bytes_sum{${labels}} 700`);
  expect(lines).toContain(`rest_client_response_size_bytes_count{${labels}} 1`);
});

it.each([
  ["a watch", { watch: true }],
  ["a log that is followed", {}],
])("%s is counted, and has neither a duration nor a size", (_, request) => {
  const { metrics, follower, attempt, pass } = started(request);
  follower?.attempted?.(attempt(200));
  pass(60_000);
  follower?.ended?.({ status: 200 });
  expect(read(metrics)).toEqual([
    'rest_client_request_duration_seconds_count{verb="GET",host="api.example.com:6443"} 0',
    'rest_client_request_duration_seconds_sum{verb="GET",host="api.example.com:6443"} 0',
    'rest_client_requests_total{code="200",method="GET",host="api.example.com:6443"} 1',
  ]);
  expect(metrics.render()).toContain('rest_client_response_size_bytes_count{verb="GET",host="api.example.com:6443"} 0');
});

it("a request without an answer has a duration", () => {
  const { metrics, follower, attempt, pass } = started({ method: "DELETE" });
  pass(30_000);
  follower?.attempted?.(attempt(undefined));
  follower?.ended?.({ error: new Error("no route to host") });
  expect(read(metrics)).toContain(
    'rest_client_request_duration_seconds_sum{verb="DELETE",host="api.example.com:6443"} 30',
  );
});

it("a WebSocket is not counted: client-go does not either", () => {
  const { metrics, follower } = started({ websocket: true });
  expect(follower).toBeUndefined();
  expect(metrics.render()).toBe("");
});
