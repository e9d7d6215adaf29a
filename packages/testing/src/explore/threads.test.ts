import { expect, test } from "vitest";
import { explore } from "./index.ts";

test("threads try plans of a module", async () => {
  const url = new URL("./planted/module.ts", import.meta.url);
  const alone = await explore(url, "scenario", { workers: 0, report: true });
  const together = await explore(url, "scenario", { workers: 2, report: true });
  expect(together.failures.map(({ plan }) => plan)).toEqual(alone.failures.map(({ plan }) => plan));
  expect(together.notes).toEqual([]);
  expect(together.plans).toBe(alone.plans);
  expect(alone.failures.length).toBeGreaterThan(0);
});

test("does the work of threads that cannot do theirs", async () => {
  const url = new URL("./planted/main-thread-only.ts", import.meta.url);
  const report = await explore(url, "scenario", { workers: 1, report: true });
  expect(report.untried).toBe(0);
  expect(report.failures.length).toBeGreaterThan(0);
  expect(report.notes.join()).toContain("only the main thread knows it");
});
