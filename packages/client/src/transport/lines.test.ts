import fc from "fast-check";
import { expect, it } from "vitest";
import { LineSplitter } from "./lines.ts";

it("finds the same lines however the bytes are cut into chunks", () => {
  const text = fc.array(
    fc.string({ unit: "grapheme" }).map((line) => line.replace(/[\n\r]/g, " ")),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 }), (lines, sizes) => {
      const bytes = Buffer.from(`${lines.map((line) => `${line}\n`).join("")}rest`);
      const found: string[] = [];
      const splitter = new LineSplitter((line) => found.push(line.toString("utf8")));
      let at = 0;
      for (const size of sizes) {
        splitter.push(bytes.subarray(at, at + size));
        at += size;
      }
      splitter.push(bytes.subarray(at));
      expect(found).toEqual(lines.filter((line) => line !== ""));
      expect(splitter.rest).toBe("rest");
    }),
  );
});
