import { describe, expect, it } from "vitest";
import { codeBlocks, links } from "./markdown.mjs";

const fence = "```";

describe("the Markdown reader", () => {
  it("finds code blocks and the file that their first line names", () => {
    const text = `a\n${fence}ts\n// operator.ts\nexport {};\n${fence}\n${fence}console\n$ npm test\n${fence}\n`;
    expect(codeBlocks(text)).toEqual([
      { language: "ts", code: "// operator.ts\nexport {};\n", file: "operator.ts" },
      { language: "console", code: "$ npm test\n", file: undefined },
    ]);
  });

  it("finds what a program prints", () => {
    expect(codeBlocks(`${fence}text\n# hello.ts prints\nmoin\n${fence}\n`)).toEqual([
      { language: "text", code: "moin\n", printedBy: "hello.ts" },
    ]);
  });

  it("finds links to files, without anchors, addresses and code", () => {
    const text = `[a](docs/a.md#b) ![p](p.svg) [web](https://example.com) [here](#top) \`[x](no.md)\`\n${fence}ts\n[y](no.md)\n${fence}\n`;
    expect(links(text)).toEqual(["docs/a.md", "p.svg"]);
  });
});
