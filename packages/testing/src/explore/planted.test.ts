/** Every planted mistake, and every operator without one: what `npm test` leaves to `npm run test:full`. */
import { expect, test } from "vitest";
import { ExploreError, explore } from "./index.ts";
import { planted } from "./planted/bugs.ts";
import { correct } from "./planted/correct.ts";

test.each(planted)("finds that $mistake", async ({ make, scenario, shows }) => {
  const found = await explore(make, scenario, { budget: "10m" }).catch((error: unknown) => error);
  expect(found).toBeInstanceOf(ExploreError);
  expect((found as ExploreError).message).toMatch(shows);
});

test.each(correct)("finds nothing wrong with $name", async ({ make, scenario }) => {
  const report = await explore(make, scenario, { report: true, budget: "10m" });
  expect(report.failures.map(({ story }) => story)).toEqual([]);
  expect(report.untried).toBe(0);
  expect(report.plans).toBeGreaterThan(20);
});
