import { expect, it } from "vitest";
import { failureText } from "./cel-failure.ts";

it.each([
  ["No such key: index out of bounds, index 1 >= size 1", "index out of bounds: 1"],
  ["No such key: index out of bounds, index -1 < 0", "index out of bounds: -1"],
  ["No such key: name", "no such key: name"],
  ["division by zero", "division by zero"],
])("a failure of the library, %s, is told in the words of the real engine", (said, told) => {
  expect(failureText(new Error(said))).toBe(told);
  expect(failureText({ summary: said, message: "with its place" })).toBe(told);
});
