import { wholeProduct } from "./tests/vitest.ts";

export default wholeProduct(
  [
    "tests/real/**/*.test.ts",
    "tests/clients/**/*.test.ts",
    "tests/scenarios/**/*.test.ts",
    "tests/faults/api.test.ts",
    "tests/faults/kill.test.ts",
    "tests/faults/reconcile.test.ts",
    "tests/faults/children.property.test.ts",
    "packages/cluster/src/fuzz.test.ts",
  ],
  {
    LOTSE_TEST_CLUSTER: "real",
    LOTSE_FAULTS: "all",
    LOTSE_FUZZ: "100000",
  },
);
