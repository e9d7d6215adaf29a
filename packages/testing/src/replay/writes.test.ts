import type { TapeAsk } from "lotse/tape";
import { describe, expect, it } from "vitest";
import { storyOf } from "./text.ts";
import { differencesOf, isWrite, type ReplayedWrite } from "./writes.ts";

const shop = (name: string) => `/apis/example.com/v1/namespaces/default/shops/${name}`;
const ask = (id: number, path: string, body: unknown): TapeAsk => ({ k: "ask", id, method: "PATCH", path, body });
const at = (one: TapeAsk) => ({ ask: one, at: one.id * 1_000 });
const write = (path: string, body: unknown, recorded?: TapeAsk): ReplayedWrite => {
  return { method: "PATCH", path, body, at: 9_000, handlers: ["open"], recorded };
};

describe("writes of a replay", () => {
  const first = ask(1, shop("a"), { spec: { size: 1 } });
  const second = ask(2, `${shop("a")}/status`, { status: { at: "2026-01-01T00:00:00Z" } });
  const recorded = [first, second].map(at);

  it("are equal when they say the same, whatever the order of keys", () => {
    const one = ask(1, shop("a"), { a: 1, b: [{ c: null }] });
    expect(differencesOf([at(one)], [write(one.path, { b: [{ c: null }], a: 1 }, one)], { lenient: false })).toEqual(
      [],
    );
  });

  it("are missing, additional and changed, in the order of time", () => {
    const changed = write(second.path, { status: {} }, second);
    const more = write(shop("b"), { spec: {} });
    const differences = differencesOf(recorded, [changed, more], { lenient: false });
    expect(differences).toMatchObject([
      { type: "missing", at: "1970-01-01T00:00:01.000Z", request: `PATCH ${shop("a")}`, recorded: first.body },
      { type: "changed", at: "1970-01-01T00:00:02.000Z", handlers: ["open"], replayed: { status: {} } },
      { type: "additional", at: "1970-01-01T00:00:09.000Z", replayed: { spec: {} } },
    ]);
  });

  it("of one object in another order are told, those of several objects are not", () => {
    const other = ask(3, shop("b"), {});
    const replayed = [
      write(other.path, {}, other),
      write(second.path, second.body, second),
      write(first.path, first.body, first),
    ];
    const differences = differencesOf([...recorded, at(other)], replayed, { lenient: false });
    expect(differences).toMatchObject([{ type: "reordered", request: `PATCH ${shop("a")}` }]);
  });

  it("of a recording of one object may differ in times, and are not compared elsewhere", () => {
    const later = write(second.path, { status: { at: "2026-01-01T00:00:05Z" } }, second);
    const elsewhere = write(shop("b"), {});
    const replayed = [write(first.path, first.body, first), later, elsewhere];
    expect(differencesOf(recorded, replayed, { lenient: true })).toEqual([]);
    expect(differencesOf(recorded, replayed, { lenient: false }).map(({ type }) => type)).toEqual([
      "changed",
      "additional",
    ]);
  });

  it("are no reads, no questions, and not who leads", () => {
    const paths = [
      ["GET", shop("a")],
      ["POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"],
      ["PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/mine"],
      ["DELETE", shop("a")],
    ] as const;
    expect(paths.map(([method, path]) => isWrite({ method, path }))).toEqual([false, false, false, true]);
  });

  it("are told as a story with the first ten of them", () => {
    const body = (size: number) => ({ spec: { size, gone: null } });
    const many = Array.from({ length: 12 }, (_, i) => ask(i + 1, shop(`s${i}`), body(1)));
    const replayed = many.map((one) => write(one.path, body(2), one));
    const differences = differencesOf(many.map(at), replayed, { lenient: false });
    const story = storyOf(differences, { file: "night.jsonl", writes: 12 });
    expect(story.split("\n\n")).toHaveLength(12);
    expect(story).toContain(
      `1970-01-01T00:00:01.000Z PATCH ${shop("s0")} (handler open): says something else\n  - spec.size: 1\n  + spec.size: 2`,
    );
    expect(story.endsWith("… and 2 more")).toBe(true);
  });
});
