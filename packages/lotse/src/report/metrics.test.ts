import { expect, it } from "vitest";
import { Metrics } from "./metrics.ts";

it("metrics are counted by name and labels, and rendered as Prometheus reads them", () => {
  const metrics = new Metrics();
  expect(metrics.render()).toBe("");
  metrics.count("loops_total", "Loops.", { kind: "Machine" });
  metrics.count("loops_total", "Loops.", { kind: "Machine" });
  metrics.count("loops_total", "Loops.", { kind: 'a "b"\n\\' });
  metrics.count("starts_total", "Starts.");
  expect(metrics.render()).toBe(
    [
      "# HELP loops_total Loops.",
      "# TYPE loops_total counter",
      'loops_total{kind="Machine"} 2',
      'loops_total{kind="a \\"b\\"\\n\\\\"} 1',
      "# HELP starts_total Starts.",
      "# TYPE starts_total counter",
      "starts_total 1",
      "",
    ].join("\n"),
  );
});

it("a histogram counts by upper bounds, with everything in the last", () => {
  const metrics = new Metrics();
  const took = metrics.histogram("took_seconds", "How long it took.", { kind: "Machine" });
  took.observe(0.002);
  took.observe(0.0025);
  took.observe(61);
  const lines = metrics.render().split("\n");
  expect(lines).toContain("# TYPE took_seconds histogram");
  expect(lines).toContain('took_seconds_bucket{kind="Machine",le="0.001"} 0');
  expect(lines).toContain('took_seconds_bucket{kind="Machine",le="0.0025"} 2');
  expect(lines).toContain('took_seconds_bucket{kind="Machine",le="60"} 2');
  expect(lines).toContain('took_seconds_bucket{kind="Machine",le="+Inf"} 3');
  expect(lines).toContain('took_seconds_count{kind="Machine"} 3');
  expect(lines).toContain('took_seconds_sum{kind="Machine"} 61.0045');
});

it("gauges are asked when somebody reads, and say nothing when there is nothing", () => {
  const metrics = new Metrics();
  let depth = 1;
  metrics.gauge("depth", "Keys that wait.", () => (depth > 0 ? [[{ name: "Machine" }, depth]] : []));
  depth = 7;
  expect(metrics.render()).toBe('# HELP depth Keys that wait.\n# TYPE depth gauge\ndepth{name="Machine"} 7\n');
  depth = 0;
  expect(metrics.render()).toBe("");
});
