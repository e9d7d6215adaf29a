import { expect, test } from "vitest";
import type { ExternalCall } from "../world/index.ts";
import { compare } from "./compare.ts";
import type { NotedCall } from "./director.ts";
import { Mask } from "./mask.ts";
import type { Plan } from "./plans.ts";
import { referenceOf } from "./reference.ts";
import type { ObjectsByPlace, Outcome } from "./stage.ts";
import type { WritePoint } from "./trace.ts";

const outcome = (objects: Record<string, unknown[]>, more: Partial<Outcome> = {}): Outcome => ({
  trace: { writes: [], events: [], cached: [], steps: 2, due: [], failed: new Set(), externals: [] },
  fired: { order: 10, step: 1, life: 1 },
  objects: new Map(Object.entries(objects)) as ObjectsByPlace,
  rests: [],
  turnover: [],
  calls: [],
  mask: new Mask(),
  error: undefined,
  failedAlone: false,
  complaints: [],
  ...more,
});

const CRASH: Plan = { kind: "crash", where: "after", at: { label: "create configmaps default/a", nth: 1 } };

const texts = (one: Outcome, found: Outcome, plan: Plan = CRASH, other = one) =>
  compare(referenceOf(one, other, []), found, plan).map(({ what, path, text }) =>
    [what, path, text].filter(Boolean).join(" "),
  );

test("objects may neither be missing nor left over nor differ", () => {
  const one = outcome({ "configmaps default/a": [{ data: { x: "1" } }], "configmaps default/b": [{}] });
  const found = outcome({ "configmaps default/a": [{ data: { x: "2" } }], "configmaps default/c": [{}] });
  expect(texts(one, found)).toEqual([
    'configmaps default/a .data.x is "2" instead of "1"',
    "configmaps default/b is missing",
    "configmaps default/c is left over",
  ]);
});

test("what differs by chance is not looked at, and names that are made up are counted", () => {
  const one = outcome({ "secrets default/a": [{ data: { token: "x", user: "u" } }], "pods default/p-1": [{}] });
  const other = outcome({ "secrets default/a": [{ data: { token: "y", user: "u" } }], "pods default/p-2": [{}] });
  const third = outcome({ "secrets default/a": [{ data: { token: "z", user: "u" } }], "pods default/p-3": [{}] });
  expect(texts(one, third, CRASH, other)).toEqual([]);
  const twice = outcome({
    "secrets default/a": [{ data: { token: "z", user: "v" } }],
    "pods default/p-3": [{}],
    "pods default/p-4": [{}],
  });
  expect(texts(one, twice, CRASH, other)).toEqual([
    "pods default/(of a name that is made up) there are 2 of them instead of 1",
    'secrets default/a .data.user is "v" instead of "u"',
  ]);
});

test("what is deleted and made again is found; what is made once too often and taken away is not", () => {
  const key = "configmaps default/a";
  const turn = (...types: ("created" | "deleted")[]) => types.map((type) => ({ type, key, step: 1 }));
  const one = outcome({ [key]: [{}] }, { turnover: turn("created") });
  const wrong = outcome({ [key]: [{}] }, { turnover: turn("created", "deleted", "created") });
  const surplus = outcome({ [key]: [{}] }, { turnover: turn("created", "created", "deleted") });
  expect(texts(one, wrong)).toEqual([`${key} was deleted once instead of never`]);
  expect(texts(one, surplus)).toEqual([]);
});

const call = (name: string, order: number, more: Partial<ExternalCall> = {}): NotedCall => ({
  call: {
    name,
    args: ["one"],
    life: 1,
    actor: {
      handlers: ["open"],
      object: { apiVersion: "v1", kind: "Shop", namespace: "default", name: "one" },
      type: "change",
      reason: "create",
    },
    once: false,
    idempotent: false,
    answer: { value: undefined },
    ...more,
  },
  order,
  step: 1,
});

const there = { "shops default/one": [{ kind: "Shop" }] };
const written = { label: "create x", resource: "configmaps", done: { order: 5, status: 201 }, actor: { name: "one" } };
const after = (calls: NotedCall[], writes: unknown[] = []) =>
  outcome(there, { calls, trace: { ...outcome({}).trace, writes: writes as WritePoint[] } });

test("a call is repeated where it could not be written down, and not where it could", () => {
  const one = after([call("charge", 1)]);
  const repeated = [call("charge", 1), call("charge", 20, { life: 2 })];
  expect(texts(one, after(repeated))).toEqual([]);
  expect(texts(one, after(repeated, [written]))[0]).toContain('charge("one") was called 2 times, though "create x"');
  const idempotent = repeated.map(({ call: { name, life }, order }) => call(name, order, { life, idempotent: true }));
  expect(texts(one, after(idempotent, [written]))).toEqual([]);
  const once = repeated.map(({ call: { name, life }, order }) => call(name, order, { life, once: true }));
  expect(texts(one, after(once))).toEqual(['charge("one") was called 2 times, and is said to be called once']);
});

test("a call that makes a second thing is found, and the last word has to be the same", () => {
  const one = after([call("create", 1, { answer: { value: { id: "d-1" } } })]);
  const two = after([
    call("create", 1, { answer: { value: { id: "d-1" } } }),
    call("create", 20, { answer: { value: { id: "d-2" } } }),
  ]);
  expect(texts(one, two)).toEqual(['create("one") was called 2 times, and has made two things: d-1 and d-2']);
  const removed = outcome({}, { calls: [call("create", 1), call("remove", 8)] });
  const left = outcome({}, { calls: [call("create", 1)] });
  const down: Plan = { kind: "down", from: 1, to: 2 };
  expect(texts(removed, left, down)).toEqual(['remove("one") was never called, the last word was create("one")']);
  expect(texts(removed, outcome({}), down)).toEqual([]);
});

test("a scenario that fails is the first thing to say", () => {
  expect(texts(outcome({}), outcome({}, { error: new Error("not there\nat all") }))).toEqual([
    "the scenario failed: not there",
  ]);
});
