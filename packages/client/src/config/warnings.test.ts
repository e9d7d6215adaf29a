import { expect, it } from "vitest";
import { printWarningsOnce } from "./warnings.ts";

it("prints each warning once", () => {
  const lines: string[] = [];
  const warn = printWarningsOnce((line) => lines.push(line));
  for (const text of ["v1 Old is deprecated", "other", "v1 Old is deprecated"]) warn(text);
  expect(lines).toEqual(["Warning: v1 Old is deprecated\n", "Warning: other\n"]);
});

it("does not remember more than a thousand", () => {
  let lines = 0;
  const warn = printWarningsOnce(() => lines++);
  for (let i = 0; i <= 1_000; i++) warn(`warning ${i}`);
  warn("warning 0");
  expect(lines).toBe(1_002);
});
