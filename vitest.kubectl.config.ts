import { wholeProduct } from "./tests/vitest.ts";

export default wholeProduct(["tests/kubectl/**/*.test.ts"]);
