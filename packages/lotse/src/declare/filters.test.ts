import { describe, expect, it } from "vitest";
import { absent, type Filters, matchesFilters, present } from "./filters.ts";

const body = { metadata: { labels: { tier: "front" }, annotations: { note: "v1.2" } }, spec: { size: 3 } };

describe("filters", () => {
  it.each<[string, Filters<typeof body>, boolean]>([
    ["nothing asked", {}, true],
    ["a label with its value", { labels: { tier: "front" } }, true],
    ["a label with another value", { labels: { tier: "back" } }, false],
    ["a label that is there", { labels: { tier: present } }, true],
    ["a label that is not there", { labels: { other: present } }, false],
    ["a label that must not be there", { labels: { other: absent } }, true],
    ["a label that must not be there but is", { labels: { tier: absent } }, false],
    ["a pattern", { annotations: { note: /^v1\./ } }, true],
    ["a pattern on something that is not there", { annotations: { other: /./ } }, false],
    ["a predicate", { labels: { tier: (value) => value?.startsWith("f") ?? false } }, true],
    ["several, of which one fails", { labels: { tier: "front" }, annotations: { note: absent } }, false],
    ["a question about the whole object", { when: ({ spec }) => spec.size > 2 }, true],
    ["a question that is answered with no", { when: ({ spec }) => spec.size > 5 }, false],
  ])("%s", (_name, filters, expected) => {
    expect(matchesFilters(filters, body)).toBe(expected);
  });

  it("match an object without any metadata", () => {
    expect(matchesFilters({ labels: { a: absent } }, {})).toBe(true);
  });
});
