import { expect, test } from "vitest";
import { ExploreError, type ExploreProgress, explore } from "./index.ts";
import { type Planted, planted } from "./planted/bugs.ts";

const [first, second] = planted as readonly [Planted, Planted, ...Planted[]];

test.each([first, second])("finds that $mistake", async ({ make, scenario }) => {
  const found = await explore(make, scenario).catch((error: unknown) => error);
  expect(found).toBeInstanceOf(ExploreError);
  const { report, message } = found as ExploreError;
  expect(report.failures).toHaveLength(1);
  expect(message.split("\n").length).toBeLessThanOrEqual(14);
  const [, only = ""] = /only: (".*"), seed/.exec(message) ?? [];
  const again = await explore(make, scenario, { only: JSON.parse(only) as string, report: true });
  expect(again.failures.map(({ plan }) => plan)).toEqual([report.failures[0]?.plan]);
});

test("tells how far it has got, and stops when its time is over", async () => {
  const heard: ExploreProgress[] = [];
  const options = { report: true, budget: 1, onProgress: (progress: ExploreProgress) => heard.push(progress) };
  const report = await explore(first.make, first.scenario, options);
  expect(report.plans).toBe(0);
  expect(report.untried).toBeGreaterThan(10);
  expect(heard).toEqual([{ done: 0, plans: report.untried, failures: 0 }]);
});

test("tries the same plans in the same order with the same seed, and others first with another", async () => {
  const firstFailure = async (seed: number) => {
    const error = await explore(first.make, first.scenario, { seed }).catch((found: unknown) => found as ExploreError);
    return (error as ExploreError).report;
  };
  const [one, again] = [await firstFailure(1), await firstFailure(1)];
  expect([again.plans, again.failures[0]?.plan]).toEqual([one.plans, one.failures[0]?.plan]);
  const others = await Promise.all([2, 3, 4].map((seed) => firstFailure(seed)));
  expect(new Set([one, ...others].map(({ failures }) => failures[0]?.plan)).size).toBeGreaterThan(1);
});

test("says what is wrong with what it is given", async () => {
  const { make, scenario } = first;
  await expect(explore({} as never, scenario)).rejects.toThrow("explore needs an operator");
  await expect(explore(make, undefined as never)).rejects.toThrow("explore needs a scenario");
  await expect(explore(make, scenario, { only: "tea" })).rejects.toThrow('there is no plan "tea"');
  await expect(explore(new URL("./nowhere.ts", import.meta.url))).rejects.toThrow("cannot be loaded");
  const failing = () => {
    throw new Error("the scenario is wrong");
  };
  await expect(explore(make, failing)).rejects.toThrow("the scenario is wrong");
});
