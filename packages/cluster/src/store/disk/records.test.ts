import { expect, it } from "vitest";
import { decodeEntries, encodeEntries } from "./records.ts";

it("a log that an earlier release wrote is read, and what is written can be read by it", () => {
  const written = '[["p",2,"pods","default/a",{"kind":"Pod"}],["t",3],["d",4,"pods","default/a",{"kind":"Pod"}]]';
  const entries = decodeEntries(written);
  expect(entries.map(({ type, revision }) => [type, revision])).toEqual([
    ["put", 2],
    ["compaction", 3],
    ["delete", 4],
  ]);
  expect(encodeEntries(entries)).toBe(written);
});
