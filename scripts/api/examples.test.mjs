import { describe, expect, it } from "vitest";
import { codeIn, examplesOf, freeNames, moduleOfExample } from "./examples.mjs";

const doc = `/**
   * Opens.
   *
   * @example
   * \`\`\`ts
   * await door.open({ wide: true });
   * \`\`\`
   */`;

describe("examples in doc comments", () => {
  it("are the fenced TypeScript, without the stars", () => {
    expect(codeIn(doc)).toEqual(["await door.open({ wide: true });\n"]);
    expect(codeIn("/** Says `ts` only. */")).toEqual([]);
  });

  it("are found once, with the line of the source in which they begin", () => {
    const names = [{ name: "Door", docs: [doc], file: "door.d.ts" }];
    const api = [
      {
        surfaces: [
          { entry: "shop", names },
          { entry: "shop/doors", names },
        ],
      },
    ];
    const source = `import x from "y";\n\n${doc}\nexport class Door {}`;
    expect(examplesOf(api, () => ({ file: "door.ts", text: source }))).toEqual([
      { file: "door.ts", line: 8, code: "await door.open({ wide: true });\n", entry: "shop/doors" },
    ]);
  });

  it.each([
    ["door.open(key)", ["door", "key"]],
    ["const key = door.key; use({ key, other: key.other })", ["door", "use"]],
    [
      "operator.on.create(Shop, async function open({ spec, name: title }) { return spec.size + title; })",
      ["Shop", "operator"],
    ],
    ["const f = ({ size }: typeof Shop.Spec): Sum => size", ["Shop", "Sum"]],
    [`import { z } from "zod"; z.object({})`, []],
  ])("take for granted what they do not declare: %s", (code, free) => {
    expect(freeNames(code)).toEqual(free);
  });

  it("become modules whose own lines begin on the second", () => {
    const moduleOf = (name) => ({ open: "shop", close: "shop", key: "./context.ts" })[name];
    expect(moduleOfExample({ code: "open(key);\nclose(key, console);\n", entry: "shop" }, moduleOf)).toBe(
      'import { close, open } from "shop"; import { key } from "./context.ts"; export {};\nopen(key);\nclose(key, console);\n',
    );
  });

  it("may begin with how an error is caught", () => {
    expect(moduleOfExample({ code: "catch (error) {}\n", entry: "shop" }, () => undefined)).toBe(
      "export {}; try {}\ncatch (error) {}\n",
    );
  });
});
