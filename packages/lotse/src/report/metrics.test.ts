import { expect, it } from "vitest";
import { joinMetrics, Metrics } from "./metrics.ts";

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

it("a histogram may have bounds of its own", () => {
  const metrics = new Metrics();
  metrics.histogram("size_bytes", "How large it is.", {}, [10, 100]).observe(50);
  expect(metrics.render().split("\n").slice(2, -1)).toEqual([
    'size_bytes_bucket{le="10"} 0',
    'size_bytes_bucket{le="100"} 1',
    'size_bytes_bucket{le="+Inf"} 1',
    "size_bytes_sum 50",
    "size_bytes_count 1",
  ]);
});

it("the metrics of several operators are one text, in which each family is described once", () => {
  const [shop, bank] = [new Metrics(), new Metrics()];
  for (const [operator, metrics] of Object.entries({ shop, bank })) {
    metrics.count("turns_total", "Turns.", { kind: "Machine" });
    metrics.count("loops_total", "Loops.", { kind: "Machine", operator });
  }
  bank.count("starts_total", "Starts.");
  expect(
    joinMetrics([
      { operator: "shop", text: shop.render() },
      { operator: "bank", text: bank.render() },
    ]).split("\n"),
  ).toEqual([
    "# HELP turns_total Turns.",
    "# TYPE turns_total counter",
    'turns_total{operator="shop",kind="Machine"} 1',
    'turns_total{operator="bank",kind="Machine"} 1',
    "# HELP loops_total Loops.",
    "# TYPE loops_total counter",
    'loops_total{kind="Machine",operator="shop"} 1',
    'loops_total{kind="Machine",operator="bank"} 1',
    "# HELP starts_total Starts.",
    "# TYPE starts_total counter",
    'starts_total{operator="bank"} 1',
    "",
  ]);
});

it("the metrics of one operator are as they are, and those of none are nothing", () => {
  expect(joinMetrics([{ operator: "shop", text: "a_total 1\n" }])).toBe("a_total 1\n");
  expect(joinMetrics([])).toBe("");
});

it("what a part counts goes with it, unless somebody else counts in the same series", () => {
  const metrics = new Metrics();
  const [machines, others] = [metrics.part(), metrics.part()];
  for (const part of [machines, others]) {
    part.count("turns_total", "Turns.", { kind: "Machine" });
    part.count("turns_total", "Turns.", { kind: "Machine" });
    part.gauge("depth", "Keys that wait.", () => [[{ kind: "Machine" }, 2]]);
    part.gauge("age_seconds", "Ages.", () => [[{ kind: "Machine" }, part === machines ? 3 : 5]], Math.max);
  }
  machines.histogram("took_seconds", "How long it took.", { kind: "Machine" });
  metrics.count("turns_total", "Turns.", { kind: "Lamp" });
  const values = () =>
    metrics
      .render()
      .split("\n")
      .filter((line) => line !== "" && !/^#|^took/.test(line));
  expect(values()).toEqual([
    'turns_total{kind="Machine"} 4',
    'turns_total{kind="Lamp"} 1',
    'depth{kind="Machine"} 4',
    'age_seconds{kind="Machine"} 5',
  ]);
  machines.close();
  machines.close();
  expect(metrics.render()).not.toContain("took_seconds");
  expect(values()).toEqual([
    'turns_total{kind="Machine"} 4',
    'turns_total{kind="Lamp"} 1',
    'depth{kind="Machine"} 2',
    'age_seconds{kind="Machine"} 5',
  ]);
  others.close();
  expect(values()).toEqual(['turns_total{kind="Lamp"} 1']);
});
