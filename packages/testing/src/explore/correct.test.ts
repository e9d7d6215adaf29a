import { expect, test } from "vitest";
import { explore } from "./index.ts";
import { correct } from "./planted/correct.ts";

test.each(correct)("finds nothing wrong with $name", async ({ make, scenario }) => {
  const report = await explore(make, scenario, { report: true, budget: "60s" });
  console.log(
    `${report.plans} plans, ${report.pruned} pruned, ${report.missed} missed, ${report.took} ms, ${report.failures.length} failures`,
  );
  expect(report.failures.map(({ story }) => story)).toEqual([]);
});
