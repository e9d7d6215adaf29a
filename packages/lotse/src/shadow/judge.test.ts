import type { ObjectKey } from "@lotse/client/meta";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Aliases } from "./aliases.ts";
import { ABOUT_THE_SAME } from "./compare.ts";
import { fieldsOfPatch } from "./fields.ts";
import { wrote } from "./fork.ts";
import { Judge, type JudgeParts } from "./judge.ts";
import type { KindWorld } from "./kind-world.ts";
import { kindWorld, lens, map, OLD, worker } from "./test-builders.ts";

const KEY = "default/one" as ObjectKey;
const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "one", uid: "u1" };
const who = { handlers: ["keep"], object };

/** A judge over a world of ConfigMaps, which compares what has not changed for a second. */
function court(more: Partial<JudgeParts> = {}) {
  const clock = new VirtualClock();
  const heard: string[] = [];
  const own = lens();
  const judge: Judge = new Judge({
    clock,
    bench: { lens: own, same: ABOUT_THE_SAME, worker },
    settleMs: 1_000,
    isCurrent: () => true,
    isBusy: () => false,
    goesWithOwner: () => false,
    onFound: ({ verdict, name }) => void heard.push(`${verdict} ${name}`),
    onOver: ({ verdict, name }) => void heard.push(`over: ${verdict} ${name}`),
    ...more,
  });
  const world = kindWorld({ lens: own, onChanged: (one, key) => judge.changed(one, key) });
  return { clock, heard, judge, world };
}

/** The shadow writes data. */
function write(world: KindWorld, data: Record<string, string>): void {
  world.put(KEY, wrote(world.fork(KEY), { ...map({}), data }, fieldsOfPatch({ data }), who));
}

describe("a judge", () => {
  it("compares an object when neither world has changed it for as long as it has to settle", async () => {
    const { clock, heard, judge, world } = court();
    world.shown(map({ a: "1" }), true);
    expect(judge.unsettled).toBe(0);
    write(world, { a: "2" });
    await clock.advance(900);
    write(world, { a: "3" });
    await clock.advance(900);
    expect([heard, judge.unsettled, judge.quietMs]).toEqual([[], 1, 0]);
    await clock.advance(400);
    expect(heard).toEqual(["would-change one"]);
    expect(judge.differences).toMatchObject([
      {
        fields: [{ path: "data.a", is: "1", would: "3" }],
        handlers: ["keep"],
        diff: [" data:", '-  a: "1"', '+  a: "3"'],
      },
    ]);
    expect(judge.counts).toEqual({ compared: 1, over: 0 });
  });

  it("waits while somebody works for it, or the cluster is not seen", async () => {
    let [busy, current] = [true, false];
    const { clock, heard, world } = court({ isBusy: () => busy, isCurrent: () => current });
    world.shown(map({ a: "1" }), true);
    write(world, { a: "2" });
    await clock.advance(10_000);
    busy = false;
    await clock.advance(10_000);
    expect(heard).toEqual([]);
    current = true;
    await clock.advance(1_000);
    expect(heard).toEqual(["would-change one"]);
  });

  it("tells when a difference is over, and is quiet from then on", async () => {
    const { clock, heard, judge, world } = court();
    world.shown(map({ a: "1" }), true);
    write(world, { a: "2" });
    await clock.advance(2_000);
    world.shown(map({ a: "2" }, OLD, { resourceVersion: "2" }), false);
    await clock.advance(2_000);
    expect(heard).toEqual(["would-change one", "over: would-change one"]);
    expect(judge.differences).toEqual([]);
    expect(judge.counts).toEqual({ compared: 2, over: 1 });
    const { quietMs } = judge;
    await clock.advance(5_000);
    expect(judge.quietMs).toBe(quietMs + 5_000);
  });

  it("compares again what differed, when one of both names is known to mean the other", async () => {
    const aliases: Aliases = new Aliases(() => judge.reconsider());
    const own = { ...lens(), aliases };
    const { clock, heard, judge, world } = court({ bench: { lens: own, same: ABOUT_THE_SAME, worker } });
    world.shown(map({ child: "real" }), true);
    write(world, { child: "own" });
    await clock.advance(2_000);
    expect(heard).toEqual(["would-change one"]);
    aliases.add("own", "real");
    await clock.advance(2_000);
    expect([heard.at(-1), judge.differences]).toEqual(["over: would-change one", []]);
  });

  it("keeps in mind what the old version deleted and the new one would not have, until it makes up for it", async () => {
    const { clock, heard, judge, world } = court();
    const owned = { ownerReferences: [{ apiVersion: "v1", kind: "Box", name: "b", uid: "box" }] };
    const old = map({ a: "1" }, OLD, owned);
    world.shown(old, true);
    world.vanished(old);
    await clock.advance(2_000);
    expect(judge.differences).toMatchObject([{ verdict: "would-keep", name: "one" }]);
    const again = { ...map({ a: "1" }, OLD, { ...owned, uid: "shadows" }) };
    world.put(KEY, wrote(undefined, again, fieldsOfPatch({ data: { a: "1" } }), who));
    expect(heard).toEqual(["would-keep one", "over: would-keep one"]);
  });

  it("does not judge what may only differ because something could not be tried", async () => {
    const { clock, judge, world } = court();
    world.shown(map({}, "kubectl"), true);
    world.shown(map({ a: "1" }, OLD, { resourceVersion: "2" }), false);
    await clock.advance(2_000);
    expect([judge.differences.length, judge.undecided.length]).toEqual([1, 0]);
    expect(judge.untriedBy("exec in pods default/web", true, who)).toBe(true);
    expect(judge.untriedBy("exec in pods default/web", true, who)).toBe(false);
    expect([judge.differences.length, judge.undecided.length]).toEqual([0, 1]);
    expect(judge.untried).toMatchObject([{ times: 2, handlers: ["keep"], refused: true }]);
  });

  it("compares nothing any more when it is closed", async () => {
    const { clock, heard, judge, world } = court();
    world.shown(map({ a: "1" }), true);
    write(world, { a: "2" });
    judge.close();
    await clock.advance(10_000);
    expect(heard).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
