import { defineConfig } from "vitest/config";
import unit from "./vitest.config.ts";

/** What `npm test` tries in part, in full: on the embedded cluster, beside the tests on a real one. */
export default defineConfig({
  ...unit,
  test: {
    ...unit.test,
    include: [
      "tests/faults/api.test.ts",
      "tests/faults/kill.test.ts",
      "tests/faults/reconcile.test.ts",
      "tests/faults/streams.test.ts",
      "tests/faults/children.property.test.ts",
      "packages/cluster/src/fuzz.test.ts",
      "packages/cluster/src/words.test.ts",
      "packages/lotse/src/admission/server/flood.test.ts",
      "packages/lotse/src/admission/certificates/decade.test.ts",
      "packages/lotse/src/admission/conversion/prove.test.ts",
      "packages/cluster/src/controllers/workloads/work.test.ts",
      "packages/lotse/src/schema/compatibility.property.test.ts",
      "packages/lotse/src/turn/settle.test.ts",
      "packages/lotse/src/turn/storage/*.test.ts",
    ],
    env: { ...unit.test?.env, LOTSE_FAULTS: "all", LOTSE_FUZZ: "100000", LOTSE_WORDS_DEPTH: "4", LOTSE_FULL: "1" },
    maxWorkers: 2,
    testTimeout: 600_000,
  },
});
