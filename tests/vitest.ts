import { defineConfig, type ViteUserConfig } from "vitest/config";

/**
 * Settings of a suite that starts servers: two files at a time, as servers wait a lot, and time enough for a
 * cold machine that is busy with other suites, too.
 */
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
      // Files of one worker share the product's modules, as those of `npm test` do.
      isolate: false,
      maxWorkers: 2,
      maxConcurrency: 6,
      testTimeout: 300_000,
      hookTimeout: 300_000,
      teardownTimeout: 60_000,
      expect: { poll: { timeout: 150_000 } },
    },
  });
}
