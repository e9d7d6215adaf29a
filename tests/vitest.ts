import { defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type InlineConfig, type TestSpecification } from "vitest/node";

/**
 * Test files and the product's sources are loaded by Node.js itself, as real ES modules that are compiled once for all
 * workers and runs (scripts/typescript.mjs): Vite's own way cost a fifth of the CPU of `npm test`.
 */
export const loading = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  execArgv: ["--import", "./scripts/typescript.mjs", "--conditions=@lotse/source"],
} satisfies InlineConfig;

/** Files that take minutes: begun last, each would keep one worker busy when the others have nothing left to do. */
const LONG = [
  "tests/real/differential/",
  "tests/clients/go.test",
  "tests/real/examples.test",
  "tests/scenarios/shadow/",
  "tests/real/kopf/",
  "tests/real/deploy",
  "tests/kubectl/readmes.test",
];

/** The longest files first, then as Vitest has it. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((part) => moduleId.includes(part));
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/**
 * Settings of a suite that starts servers: two files at a time, as servers wait a lot, and time enough for a
 * cold machine that is busy with other suites, too.
 */
export function wholeProduct(
  include: string[],
  env: Record<string, string> = {},
  exclude: readonly string[] = [],
): ViteUserConfig {
  return defineConfig({
    test: {
      ...loading,
      include,
      env,
      setupFiles: ["./tests/property-seed.ts"],
      exclude: ["**/node_modules/**", "**/dist/**", ...exclude],
      pool: "forks",
      sequence: { sequencer: LongestFirst },
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
