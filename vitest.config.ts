import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["@lotse/source"] },
  ssr: { resolve: { conditions: ["@lotse/source"] } },
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "examples/**/*.test.ts",
      "scripts/**/*.test.{ts,mjs}",
      "tests/cli/**/*.test.ts",
      "tests/scenarios/**/*.test.ts",
      "tests/faults/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**", "**/dist/**"],
    testTimeout: 20_000,
    // Of two cores Vitest would leave one idle: much of the time is spent waiting, for processes and sockets.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
