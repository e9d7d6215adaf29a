import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LEFT_TO_FULL } from "./tests/suites.ts";
import { loading } from "./tests/vitest.ts";

export default defineConfig({
  test: {
    ...loading,
    include: [
      "packages/*/src/**/*.test.ts",
      "examples/**/*.test.ts",
      "scripts/**/*.test.{ts,mjs}",
      "tests/cli/**/*.test.ts",
      "tests/scenarios/**/*.test.ts",
      "tests/faults/**/*.test.ts",
      "tests/conformance/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**", "**/dist/**", ...LEFT_TO_FULL],
    setupFiles: ["./tests/property-seed.ts"],
    // The compilers that tests start end soon: a quarter of their work was to give memory back.
    env: { GOGC: "400" },
    // Patience only: no test is decided by how fast the machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 170_000 } },
    // Files of one worker share the product's modules, which are to keep no state: loading them anew for each of some
    // hundred files was a good part of the whole.
    isolate: false,
    // Of two cores Vitest would leave one idle: much of the time is spent waiting, for processes and sockets.
    maxWorkers: Math.max(3, availableParallelism() - 1),
  },
});
