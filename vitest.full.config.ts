import { defineConfig } from "vitest/config";
import { LEFT_TO_FULL, TRIED_IN_PART } from "./tests/suites.ts";
import unit from "./vitest.config.ts";

const { LOTSE_FUZZ, LOTSE_FAULTS } = process.env;
/** Who has more time asks for more: LOTSE_FUZZ=100000, LOTSE_FAULTS=1. */
const given = { ...(LOTSE_FUZZ && { LOTSE_FUZZ }), ...(LOTSE_FAULTS && { LOTSE_FAULTS }) };

/** What `npm test` leaves out, and in full what it tries in part: on the embedded cluster, with nothing but Node.js. */
export default defineConfig({
  ...unit,
  test: {
    ...unit.test,
    include: [...LEFT_TO_FULL, ...TRIED_IN_PART],
    exclude: ["**/node_modules/**", "**/dist/**"],
    env: { ...unit.test?.env, LOTSE_FUZZ: "25000", LOTSE_FAULTS: "3", LOTSE_FULL: "1", ...given },
    maxWorkers: 2,
    testTimeout: 600_000,
  },
});
