import { describe, expect, it } from "vitest";
import { returnsValue } from "./results.ts";

describe("whether a handler returns something", () => {
  it.each<[string, (...args: never[]) => unknown]>([
    [
      "a function that does",
      function plain() {
        return { message: "hello world" };
      },
    ],
    [
      "in a branch",
      async function branch({ a }: { a: boolean }) {
        if (a) {
          for (const one of [1]) return one;
        }
      },
    ],
    [
      "an arrow with braces",
      async ({ name = "{" }: { name?: string }) => {
        return name;
      },
    ],
  ])("is seen: %s", (_name, fn) => {
    expect(returnsValue(fn)).toBe(true);
  });

  it.each<[string, (...args: never[]) => unknown]>([
    ["nothing at all", function nothing() {}],
    [
      "an early end",
      function early({ a }: { a: boolean }) {
        if (a) return;
        void a;
      },
    ],
    [
      "what a function in it returns",
      function inner({ list }: { list: number[] }) {
        const doubled = list.map((one) => {
          return one * 2;
        });
        const object = {
          method() {
            return doubled;
          },
        };
        function named() {
          return object;
        }
        void named;
      },
    ],
    ["an expression", ({ a }: { a: number }) => a + 1],
    [
      "words in texts and comments",
      function words() {
        // return 1;
        const text = "return 2; { ";
        /* return 3 */
        void `return ${text} }`;
      },
    ],
  ])("is not seen in %s", (_name, fn) => {
    expect(returnsValue(fn)).toBe(false);
  });
});
