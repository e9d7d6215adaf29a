import { describe, expect, it } from "vitest";
import {
  absent,
  all,
  any,
  type Filters,
  matchesChange,
  matchesFilters,
  none,
  not,
  present,
  type ValueFilter,
} from "./filters.ts";

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
    ["a field that is there", { field: "spec.size" }, true],
    ["a field that is not there", { field: "spec.colour" }, false],
    ["a field that must not be there", { field: "spec.colour", value: absent }, true],
    ["a field with its value", { field: "spec.size", value: 3 }, true],
    ["a field with another value", { field: "spec.size", value: 4 }, false],
    ["a field by its keys", { field: ["metadata", "labels", "tier"], value: "front" }, true],
    [
      "several questions that must all be answered with yes",
      {
        when: all(
          ({ spec }) => spec.size > 2,
          ({ name }) => name === "",
        ),
      },
      true,
    ],
    [
      "several questions of which one is enough",
      {
        when: any(
          ({ spec }) => spec.size > 5,
          ({ labels }) => labels.tier === "front",
        ),
      },
      true,
    ],
    ["several questions that must all be answered with no", { when: none(({ spec }) => spec.size > 2) }, false],
    ["a question turned round", { when: not(({ spec }) => spec.size > 5) }, true],
    ["a question that is answered with no", { when: ({ spec }) => spec.size > 5 }, false],
  ])("%s", (_name, filters, expected) => {
    expect(matchesFilters(filters, body)).toBe(expected);
  });

  it("match an object without any metadata", () => {
    expect(matchesFilters({ labels: { a: absent } }, {})).toBe(true);
  });
});

describe("filters of changes", () => {
  const was = { spec: { size: 1, gone: true } };
  const is = { spec: { size: 2, come: { a: 1 } } };

  it.each<[string, string, { old?: ValueFilter; new?: ValueFilter }, boolean]>([
    ["a field that changed", "spec.size", {}, true],
    ["a field that did not", "spec.other", {}, false],
    ["a field that vanished", "spec.gone", { new: absent }, true],
    ["a field that appeared", "spec.come", { old: absent, new: present }, true],
    ["from a value to a value", "spec.size", { old: 1, new: 2 }, true],
    ["from another value", "spec.size", { old: 7 }, false],
    ["to another value", "spec.size", { new: (size: unknown) => (size as number) > 5 }, false],
    ["a literal that is an object", "spec.come", { new: { a: 1 } }, true],
  ])("%s", (_name, field, filters, expected) => {
    expect(matchesChange(field, filters, was, is)).toBe(expected);
  });

  it("take a creation for a change of every field that is there", () => {
    expect(matchesChange("spec.size", {}, undefined, is)).toBe(true);
    expect(matchesChange("spec.none", {}, undefined, is)).toBe(false);
  });
});
