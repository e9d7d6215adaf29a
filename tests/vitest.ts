import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Settings of a suite that starts servers: one file after the other, and time enough for a cold machine. */
export function wholeProduct(include: string[], env: Record<string, string> = {}): ViteUserConfig {
  return defineConfig({
    resolve: { conditions: ["@lotse/source"] },
    ssr: { resolve: { conditions: ["@lotse/source"] } },
    test: {
      include,
      env,
      setupFiles: ["./tests/property-seed.ts"],
      exclude: ["**/node_modules/**", "**/dist/**"],
      pool: "forks",
      fileParallelism: false,
      maxConcurrency: 6,
      testTimeout: 120_000,
      hookTimeout: 180_000,
      teardownTimeout: 60_000,
      expect: { poll: { timeout: 60_000 } },
    },
  });
}
