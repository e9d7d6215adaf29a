/** Streams that are cut, stalled, doubled or forgotten end in the same state as a perfect one. */

import type { ChaosFault as Fault, LineFault } from "@lotse/testing";
import { afterAll, describe, expect, it } from "vitest";
import { Thing } from "./kinds.ts";
import { expectCalls, expectState, stateOf } from "./oracle.ts";
import { referenceRun } from "./reference.ts";
import { sampled } from "./sample.ts";
import { begun, create, gone, handled, play } from "./scenario.ts";
import { CONCURRENT, eventually, Site, type Trial } from "./trial.ts";

const site = await Site.open();
afterAll(() => site[Symbol.asyncDispose]());
const reference = await referenceRun(site);

/** Asks for each line of every watch of things. */
function onLines(trial: Trial, each: (line: string, count: number) => LineFault): void {
  let count = 0;
  trial.proxy.rule = ({ verb, resource }) =>
    verb === "watch" && resource === "things" ? { type: "lines", each: (line) => each(line, count++) } : undefined;
}

async function expectSameEnd(trial: Trial): Promise<void> {
  trial.start();
  await play(trial);
  await expectState(trial, reference.state);
  expectCalls(trial.notes);
  expect(trial.proxy.injected).toBeGreaterThan(0);
}

const watchesOf = ({ proxy }: Trial) => proxy.requests.filter(({ verb }) => verb === "watch").length;

describe("a stream", () => {
  it.for(sampled(["cut before", "cut inside", "cut after", "expire"] as const))(
    "that is broken once at every event (%s) misses nothing",
    CONCURRENT,
    async (fault, test) => {
      const trial = await site.trial(test);
      const broken = new Set<string>();
      onLines(trial, (line) => {
        if (broken.has(line)) return "pass";
        broken.add(line);
        return fault;
      });
      await expectSameEnd(trial);
      expect(watchesOf(trial)).toBeLessThanOrEqual(2 * trial.proxy.injected + 5);
      expect(await trial.stop()).toEqual([0, null]);
    },
  );

  it("that shows every event twice calls nobody twice", CONCURRENT, async (test) => {
    const trial = await site.trial(test);
    onLines(trial, () => "twice");
    await expectSameEnd(trial);
    expect(await trial.stop()).toEqual([0, null]);
  });

  it.for(sampled([3, 0, 8]))(
    "that falls silent after %i events is given up and opened again",
    CONCURRENT,
    async (events, test) => {
      const trial = await site.trial(test);
      onLines(trial, (_, count) => (count === events ? "stall" : "pass"));
      await expectSameEnd(trial);
      expect(await trial.stop()).toEqual([0, null]);
    },
  );

  it("that never begins is given up and opened again", CONCURRENT, async (test) => {
    const trial = await site.trial(test);
    trial.proxy.rule = ({ verb, index }) => (verb === "watch" && index === 0 ? { type: "mute" } : undefined);
    await expectSameEnd(trial);
    expect(await trial.stop()).toEqual([0, null]);
  });

  it("that shows a deletion later than an own write does not hide it", CONCURRENT, async (test) => {
    const trial = await site.trial(test);
    trial.proxy.rule = ({ verb, index }) => (verb === "watch" && index === 0 ? { type: "mute" } : undefined);
    await create(trial, "moved");
    trial.start();
    await begun(trial, "moved");
    await trial.client.delete(Thing, "moved");
    // The operator cannot know yet: it finishes, and hears of the deletion from its own write.
    trial.openGate("moved");
    await gone(trial, "moved");
    const done = trial.notes.filter(({ phase }) => phase === "done").map(({ handler }) => handler);
    expect(done).toEqual(["audit", "build", "release"]);
    expect(await trial.stop()).toEqual([0, null]);
  });

  it("whose version is too old from the start is listed again", CONCURRENT, async (test) => {
    const trial = await site.trial(test);
    const gone: Fault = { type: "answer", status: 410 };
    trial.proxy.rule = ({ verb, index }) => (verb === "watch" && index < 3 ? gone : undefined);
    await expectSameEnd(trial);
    await eventually(() => expect(watchesOf(trial)).toBe(4));
    expect(trial.proxy.requests.filter(({ verb }) => verb === "list")).toHaveLength(4);
    expect(await trial.stop()).toEqual([0, null]);
  });
});

describe("a stream that is away while the cluster forgets the past", () => {
  it("finds out what was deleted, created again, changed and created meanwhile", { timeout: 300_000 }, async (test) => {
    const trial = await site.trial(test);
    const { proxy, client } = trial;
    trial.start();
    for (const [name, guard] of Object.entries({ changed: "yes", marked: "yes", light: "no", reborn: "no" })) {
      await create(trial, name, { guard });
      await handled(trial, name);
    }
    await trial.quiet();
    const notes = () =>
      trial.notes.slice(before).map(({ object, handler, phase, saw }) => `${object} ${handler} ${phase} ${saw}`);
    const { length: before } = trial.notes;

    let away = true;
    proxy.rule = ({ verb }) => (away && (verb === "watch" || verb === "list") ? { type: "reset" } : undefined);
    proxy.cutWatches();
    await eventually(() => expect(proxy.injected).toBeGreaterThan(0));
    await client.patch(Thing, "changed", { spec: { size: 7 } });
    await client.delete(Thing, "marked");
    for (const name of ["light", "reborn"]) {
      await client.delete(Thing, name);
      await gone(trial, name);
    }
    await create(trial, "reborn", { size: 5, guard: "no" });
    await create(trial, "late", { guard: "no" });
    site.cluster.compact();
    expect(notes()).toEqual([]);
    away = false;

    await handled(trial, "late");
    await handled(trial, "reborn", 5);
    await gone(trial, "marked");
    await handled(trial, "changed", 7);
    await trial.quiet();
    const done = notes().filter((note) => !note.includes("begin"));
    expect(done.sort()).toEqual(
      [
        'changed audit done {"size":7}',
        'changed resize done {"size":7}',
        'late audit done {"size":1}',
        'late build done {"size":1}',
        'light farewell done {"size":1}',
        'marked release done {"size":1}',
        'reborn audit done {"size":5}',
        'reborn build done {"size":5}',
        'reborn farewell done {"size":1}',
      ].sort(),
    );
    expect(Object.keys(await stateOf(trial)).sort()).toEqual(["Thing/changed", "Thing/late", "Thing/reborn"]);
    expect(await trial.stop()).toEqual([0, null]);
  });
});
