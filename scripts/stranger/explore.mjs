// Tries an operator with everything that can happen to it, in this process and in a thread.
import assert from "node:assert/strict";
import { explore } from "@lotse/testing";

const report = await explore(new URL("./explored.mjs", import.meta.url), "scenario", { workers: 1 });
assert.deepEqual([report.failures, report.notes, report.untried], [[], [], 0]);
assert.ok(report.plans > 3, `only ${report.plans} plans`);
