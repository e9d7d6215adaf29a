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
