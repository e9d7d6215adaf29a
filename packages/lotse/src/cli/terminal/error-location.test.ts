import { describe, expect, it } from "vitest";
import { locationOfThrow, placeOfSyntaxError } from "./error-location.ts";

const error = (name: string, message: string, stack: string, code?: string) =>
  Object.assign(new Error(message), { name, stack, ...(code && { code }) });

describe("placeOfSyntaxError", () => {
  it("reads jiti's complaints", () => {
    const found = placeOfSyntaxError(
      error("Error", "ParseError: Unexpected token  \n /p/bad.ts:2:17", ""),
      "/p/operator.ts",
    );
    expect(found).toEqual({ file: "/p/bad.ts", sourceLocation: "bad.ts:2:17", sentence: "Unexpected token" });
  });

  it("reads Node's complaints, with the column from the caret", () => {
    const stack =
      "file:///p/a%20b/bad.mjs?lotse-load=3:2\nexport const x = = 3;\n                 ^\n\nSyntaxError: Unexpected token '='";
    expect(placeOfSyntaxError(error("SyntaxError", "Unexpected token '='", stack), "/p/operator.ts")).toEqual({
      file: "/p/a b/bad.mjs",
      sourceLocation: "bad.mjs:2:18",
      sentence: "Unexpected token '='",
    });
  });

  it("names the loaded file when the complaint has no place", () => {
    const found = placeOfSyntaxError(
      error("SyntaxError", "no export named z", "SyntaxError: no export named z\n    at x"),
      "/p/operator.ts",
    );
    expect(found).toEqual({ file: "/p/operator.ts", sourceLocation: "operator.ts", sentence: "no export named z" });
  });

  it("is undefined for other errors", () => {
    expect(placeOfSyntaxError(new TypeError("x"), "/p/operator.ts")).toBeUndefined();
    expect(placeOfSyntaxError("x", "/p/operator.ts")).toBeUndefined();
  });
});

describe("placeOfThrow", () => {
  it("is the first frame of the user's own code", () => {
    const stack = [
      "Error: boom",
      "    at inner (/p/node_modules/lib/index.js:1:1)",
      "    at node:internal/process/task_queues:95:5",
      "    at publish (file:///p/rates.ts?lotse-load=1:3:21)",
      "    at /p/operator.ts:4:1",
    ].join("\n");
    expect(locationOfThrow(error("Error", "boom", stack))).toBe("rates.ts:3:21");
  });

  it("is none of Lotse's own, also where the packages are linked into the project", () => {
    const stack = "Error: boom\n    at f (file:///srv/lotse/dist/shared.js:1:1)\n    at publish (/p/operator.ts:4:1)";
    expect(locationOfThrow(error("Error", "boom", stack), ["/srv/lotse/"])).toBe("operator.ts:4:1");
    const here = new Error("boom");
    expect(here.stack).toContain("error-location.test.ts");
    expect(locationOfThrow(here)).toBeUndefined();
  });

  it("is undefined when there is none", () => {
    expect(locationOfThrow(error("Error", "boom", "Error: boom"))).toBeUndefined();
  });
});
