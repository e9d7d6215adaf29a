import { expect, test } from "vitest";
import type { StoredBody } from "../objects/index.ts";
import { isIgnored, stateDifferences, stateOf, withoutCounters } from "./states.ts";

const UID = "11111111-2222-4333-8444-55555555555";

const body = (name: string, number: number, more: object = {}) =>
  ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", uid: `${UID}${number}`, resourceVersion: String(number) },
    ...more,
  }) as unknown as StoredBody;

const condition = (type: string, status: string, reason: string) => ({ type, status, reason });

test("two states that came about at other times are equal", () => {
  const one = stateOf([body("a", 1, { data: { owner: `${UID}1` }, status: { at: "2026-01-01T00:00:00Z", list: [] } })]);
  const other = stateOf([body("a", 2, { data: { owner: `${UID}2` }, status: { at: "2027-01-01T00:00:00Z" } })]);
  expect(stateDifferences(one, other)).toEqual([]);
});

test("a uid that belongs to nobody is another one than that of the object", () => {
  const one = stateOf([body("a", 1, { data: { owner: `${UID}1` } })]);
  const other = stateOf([body("a", 2, { data: { owner: `${UID}1` } })]);
  expect(stateDifferences(one, other)).toMatchObject([
    { path: "data.owner", wanted: "<uid of ConfigMap default/a>", found: "<uid of nobody>" },
  ]);
});

test("of conditions it counts which ones hold", () => {
  const said = (...conditions: object[]) => stateOf([body("a", 1, { status: { conditions } })]);
  const ready = said(condition("Ready", "True", "Made"));
  expect(stateDifferences(ready, said(condition("Ready", "True", "Changed")))).toEqual([]);
  const failed = condition("Failed", "False", "Never");
  expect(stateDifferences(ready, said(failed, condition("Ready", "True", "Made")))).toEqual([]);
  expect(stateDifferences(ready, said(condition("Ready", "False", "Made")))).toHaveLength(1);
});

test("names that count are equal, and names that tell of a spec are not", () => {
  const state = (...names: string[]) => stateOf(names.map((name, i) => body(name, i)));
  const counted = withoutCounters(state("a-1-0", "a-1-1"), state("a-2-0", "a-2-1"), [{ size: 7 }, { size: 9 }]);
  expect(counted && stateDifferences(counted.wanted, counted.found)).toEqual([]);
  expect(withoutCounters(state("a-81"), state("a-80"), [{ port: 80 }, { port: 81 }])).toBeUndefined();
  expect(withoutCounters(state("a-0"), state("a-0", "a-1"), [])).toBeUndefined();
});

test("places are ignored everywhere, or in one object", () => {
  const difference = { title: "ConfigMap default/a", path: "status.log[0].text", wanted: 1, found: 2 };
  expect(isIgnored(difference, new Set(["status.log"]))).toBe(true);
  expect(isIgnored(difference, new Set(["status.lo"]))).toBe(false);
  expect(isIgnored(difference, new Set(["ConfigMap default/a: status"]))).toBe(true);
  expect(isIgnored(difference, new Set(["ConfigMap default/b: status"]))).toBe(false);
});
