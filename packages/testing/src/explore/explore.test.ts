import { expect, test } from "vitest";
import { explore } from "./index.ts";
import { planted } from "./planted/bugs.ts";

test.each(planted)("finds that $mistake", async ({ make, scenario }) => {
  const report = await explore(make, scenario, { report: true, budget: "60s" });
  console.log(
    `${report.plans} plans, ${report.pruned} pruned, ${report.missed} missed, ${report.took} ms, ${report.failures.length} failures\n${report.failures[0]?.story}`,
  );
  expect(report.failures.length).toBeGreaterThan(0);
});
