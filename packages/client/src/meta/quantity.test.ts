import fc from "fast-check";
import { expect, test } from "vitest";
import { compareQuantities, parseQuantity, QuantityError } from "./quantity.ts";

const unit = 10n ** 9n;

test.each([
  ["1", unit],
  [".5", unit / 2n],
  ["1.", unit],
  ["500m", unit / 2n],
  ["-250u", -250_000n],
  ["1n", 1n],
  ["1k", 1000n * unit],
  ["1.5Ki", 1536n * unit],
  ["0.5Gi", 2n ** 29n * unit],
  ["1E", 10n ** 27n],
  ["1E3", 1000n * unit],
  ["1e-3", unit / 1000n],
  ["+2e+1", 20n * unit],
  ["0.1n", 1n],
  ["-0.1n", -1n],
  ["1e999999999", (2n ** 63n - 1n) * unit],
  ["1e-999999999", 1n],
  ["0e999999999", 0n],
  ["100Ei", (2n ** 63n - 1n) * unit],
])("%s is exact", (text, nanos) => {
  expect(parseQuantity(text).nanos).toBe(nanos);
});

test.each(["", "a", "1x", "1 Gi", "1.2.3", "--1", "1kk", "1e", "Ki", "."])("%j is no quantity", (text) => {
  expect(() => parseQuantity(text)).toThrow(QuantityError);
});

test("different spellings of one amount are equal, and order is that of the amounts", () => {
  expect(compareQuantities("1", "1000m")).toBe(0);
  expect(compareQuantities("1Gi", "1G")).toBe(1);
  expect(compareQuantities(0.1, parseQuantity("200m"))).toBe(-1);
  const amount = fc.tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.constantFrom("m", "", "k"));
  const size = { m: 1, "": 1e3, k: 1e6 } as Record<string, number>;
  fc.assert(
    fc.property(amount, amount, ([a, x], [b, y]) => {
      const expected = Math.sign(a * (size[x] as number) - b * (size[y] as number));
      return compareQuantities(`${a}${x}`, `${b}${y}`) === (expected === 0 ? 0 : expected);
    }),
  );
});
