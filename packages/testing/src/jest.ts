/**
 * `setupFilesAfterEnv: ["@lotse/testing/jest"]` gives jest's global `expect` the matchers `toBeReady`, `toHaveCondition`,
 * `toOwn` and `toHaveEvent`, with their types. It serves every runner that has a global `expect`.
 *
 * @module
 */
import { type LotseMatchers, matchers } from "./matchers/index.ts";

const { expect } = globalThis as { readonly expect?: { extend(matchers: object): void } };
if (typeof expect?.extend !== "function") {
  throw new Error(
    "there is no global expect here: import { matchers } from @lotse/testing and say expect.extend(matchers)",
  );
}
expect.extend(matchers);

declare global {
  namespace jest {
    interface Matchers<R> extends LotseMatchers<R> {}
  }
}

export { matchers };
