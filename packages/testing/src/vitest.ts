/**
 * `import "@lotse/testing/vitest"` gives vitest's `expect` the matchers `toBeReady`, `toHaveCondition`, `toOwn` and
 * `toHaveEvent`, with their types.
 *
 * @module
 */
import { expect } from "vitest";
import { type LotseMatchers, matchers } from "./matchers/index.ts";

expect.extend(matchers);

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: an interface is extended with the parameters that it has
  interface Matchers<T = any> extends LotseMatchers<T> {}
}

export { matchers };
