import { describe, expect, it } from "vitest";
import { complaint } from "./cel-messages.ts";
import golden from "./cel-syntax.golden.json" with { type: "json" };
import { syntaxMistakes } from "./cel-syntax.ts";

// Made by the compiler of kube-apiserver 1.36 itself.
describe("mistakes in the grammar of expressions are told as the server's compiler tells them", () => {
  it.each(Object.entries(golden))("%j", (expression, words) => {
    const told = syntaxMistakes(expression).map(({ message, offset }) => complaint(expression, message, offset));
    expect(told.join("\n")).toBe(words);
  });

  it.each(["a + b", "a.b(c, [1, 2,], {'x': 1})[0] ? !a : -1", "self.?a[?0]", "X.Y{a: 1, ?b: 2}", "a // words", "-5"])(
    "none in %j",
    (expression) => {
      expect(syntaxMistakes(expression)).toEqual([]);
    },
  );
});
