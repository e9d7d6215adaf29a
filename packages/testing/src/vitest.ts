/**
 * `import "@lotse/testing/vitest"` gives vitest's `expect` the matchers `toBeReady`, `toHaveCondition`, `toOwn` and
 * `toHaveEvent`, with their types.
 *
 * @module
 */
import { type LotseMatchers, matchers } from "./matchers/index.ts";

// Loaded here and nowhere else: whoever tests with another runner has no vitest.
const { expect } = await import("vitest");
expect.extend(matchers);

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: an interface is extended with the parameters that it has
  interface Matchers<T = any> extends LotseMatchers<T> {}
}

export { matchers };
