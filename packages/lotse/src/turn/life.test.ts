import { describe, expect, it } from "vitest";
import { isAlive, isFirstSight, isHandled, isOver, type Life, type LifeEvent, lastOf, NEW, nextLife } from "./life.ts";

const body = { metadata: { name: "one", uid: "u" } };
const newer = { metadata: { name: "one", uid: "u", resourceVersion: "2" } };

const LIVES = {
  new: NEW,
  alive: { state: "alive" },
  "deleting, new": { state: "deleting", isNew: true, handled: false },
  "deleting, new, handled": { state: "deleting", isNew: true, handled: true },
  deleting: { state: "deleting", isNew: false, handled: false },
  "deleting, handled": { state: "deleting", isNew: false, handled: true },
  released: { state: "released", handled: false },
  "released, handled": { state: "released", handled: true },
  gone: { state: "gone", body, handled: false },
  "gone, handled": { state: "gone", body, handled: true },
} satisfies Record<string, Life>;

const EVENTS = {
  settled: { type: "settled" },
  marked: { type: "marked" },
  "deletion handled": { type: "deletion handled" },
  released: { type: "released" },
  missing: { type: "missing" },
  gone: { type: "gone", body },
} satisfies Record<string, LifeEvent>;

type Name = keyof typeof LIVES;
const NEVER = "never";

/** Every state, and what each event makes of it. */
const TABLE: Record<Name, Record<keyof typeof EVENTS, Name | typeof NEVER>> = {
  new: {
    settled: "alive",
    marked: "deleting, new",
    "deletion handled": NEVER,
    released: NEVER,
    missing: "released",
    gone: "gone",
  },
  alive: {
    settled: "alive",
    marked: "deleting",
    "deletion handled": NEVER,
    released: NEVER,
    missing: "released",
    gone: "gone",
  },
  "deleting, new": {
    settled: "deleting",
    marked: NEVER,
    "deletion handled": "deleting, new, handled",
    released: "released",
    missing: "released",
    gone: "gone",
  },
  "deleting, new, handled": {
    settled: "deleting, handled",
    marked: NEVER,
    "deletion handled": "deleting, new, handled",
    released: "released, handled",
    missing: "released, handled",
    gone: "gone, handled",
  },
  deleting: {
    settled: "deleting",
    marked: NEVER,
    "deletion handled": "deleting, handled",
    released: "released",
    missing: "released",
    gone: "gone",
  },
  "deleting, handled": {
    settled: "deleting, handled",
    marked: NEVER,
    "deletion handled": "deleting, handled",
    released: "released, handled",
    missing: "released, handled",
    gone: "gone, handled",
  },
  released: {
    settled: "released",
    marked: NEVER,
    "deletion handled": NEVER,
    released: NEVER,
    missing: "released",
    gone: "gone",
  },
  "released, handled": {
    settled: "released, handled",
    marked: NEVER,
    "deletion handled": NEVER,
    released: NEVER,
    missing: "released, handled",
    gone: "gone, handled",
  },
  gone: {
    settled: "gone",
    marked: NEVER,
    "deletion handled": "gone, handled",
    released: "gone",
    missing: "gone",
    gone: "gone",
  },
  "gone, handled": {
    settled: "gone, handled",
    marked: NEVER,
    "deletion handled": "gone, handled",
    released: "gone, handled",
    missing: "gone, handled",
    gone: "gone, handled",
  },
};
const ROWS = Object.entries(TABLE).flatMap(([from, row]) =>
  Object.entries(row).map(([event, to]) => [from as Name, event as keyof typeof EVENTS, to] as const),
);

describe("the life of an object", () => {
  it.each(ROWS)("%s, %s → %s", (from, event, to) => {
    const next = () => nextLife(LIVES[from], EVENTS[event]);
    if (to === NEVER) expect(next).toThrow(`an object that is ${LIVES[from].state} cannot become ${event}`);
    else expect(next()).toEqual(LIVES[to]);
  });

  it("keeps the newest body when it is told twice of its end", () => {
    expect(nextLife(LIVES["gone, handled"], { type: "gone", body: newer })).toEqual({
      state: "gone",
      body: newer,
      handled: true,
    });
  });

  it.each<[Name, { alive: boolean; over: boolean; first: boolean; handled: boolean; last: unknown }]>([
    ["new", { alive: true, over: false, first: true, handled: false, last: undefined }],
    ["alive", { alive: true, over: false, first: false, handled: false, last: undefined }],
    ["deleting, new", { alive: false, over: false, first: true, handled: false, last: undefined }],
    ["deleting, handled", { alive: false, over: false, first: false, handled: true, last: undefined }],
    ["released", { alive: false, over: true, first: false, handled: false, last: undefined }],
    ["released, handled", { alive: false, over: true, first: false, handled: true, last: undefined }],
    ["gone", { alive: false, over: true, first: false, handled: false, last: body }],
    ["gone, handled", { alive: false, over: true, first: false, handled: true, last: body }],
  ])("is asked what it is: %s", (name, expected) => {
    const life = LIVES[name];
    expect({
      alive: isAlive(life),
      over: isOver(life),
      first: isFirstSight(life),
      handled: isHandled(life),
      last: lastOf(life),
    }).toEqual(expected);
  });
});
