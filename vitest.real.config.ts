import { EMBEDDED_ALONE } from "./tests/suites.ts";
import { wholeProduct } from "./tests/vitest.ts";

export default wholeProduct(
  [
    "tests/real/**/*.test.ts",
    "tests/clients/**/*.test.ts",
    "tests/scenarios/**/*.test.ts",
    "tests/faults/coordination/{replicas,shards}.test.ts",
  ],
  {
    LOTSE_TEST_CLUSTER: "real",
  },
  EMBEDDED_ALONE,
);
