/**
 * Kills the operator before and after each of its writes. The points are those of a run without faults: each object's
 * writes come in the same order in every run.
 */

import type { ChaosRequest } from "@lotse/testing";
import { afterAll, describe, expect, it } from "vitest";
import { alarmsIn, type Crash, crashOf, expectCalls, expectQuietRestart, expectState } from "./oracle.ts";
import { referenceRun } from "./reference.ts";
import { sampled } from "./sample.ts";
import { create, handled, play } from "./scenario.ts";
import { CONCURRENT, Site, type Trial } from "./trial.ts";

const site = await Site.open();
afterAll(() => site[Symbol.asyncDispose]());
const reference = await referenceRun(site);
// Events are courtesies: they may be missing or come late, and nothing follows from them.
const writes = reference.trial.proxy.writes.filter(({ resource }) => resource !== "events");

/** Objects that are changed while they are being handled: how their writes are divided is a matter of moments. */
const DIVIDED = /^patch things\/(moved|hasty)\b/;

/**
 * Plays the scenario; starts the operator again when the proxy has killed it. Undefined where the write was part of
 * another one this time, so that nobody was killed.
 */
async function playWithRestart(trial: Trial, label: string): Promise<Crash | undefined> {
  const life = trial.start();
  const crash = life.ended.then(async ([code, signal]) => {
    expect([code, signal]).toEqual([null, "SIGKILL"]);
    const found = await crashOf(trial, life.pid);
    trial.start();
    return found;
  });
  // If there is no crash, the last line below says so.
  crash.catch(() => {});
  await play(trial);
  // The last writes may come after what the scenario looks at.
  if (trial.proxy.injected === 0) await trial.quiet();
  if (trial.proxy.injected === 0 && DIVIDED.test(label)) return undefined;
  expect(trial.proxy.injected, "the point is never reached").toBe(1);
  return await crash;
}

describe("kill -9", () => {
  it("is tried at every write of a scenario that works", async () => {
    const { trial } = reference;
    expectCalls(trial.notes);
    expect(writes.length).toBeGreaterThanOrEqual(15);
    await expectQuietRestart(trial);
  });

  it("is tried on an operator that has nothing to complain about otherwise", () => {
    const alarming = alarmsIn(reference.trial.log);
    // Those that fail on purpose.
    const expected = alarming.filter(({ message }) => message === "handler failed, will be tried again");
    expect(alarming).toEqual(expected);
  });

  const points = (["before", "after"] as const).flatMap((when) =>
    writes.map(({ label, index }) => ({ when, label, index, title: `${when} ${label} #${index + 1}` })),
  );

  it.for(sampled(points))("$title changes nothing in the end", CONCURRENT, async ({ when, label, index }, test) => {
    const trial = await site.trial(test);
    trial.proxy.rule = (request) =>
      trial.proxy.injected === 0 && request.label === label && request.index === index
        ? { type: "kill", when }
        : undefined;
    const crash = await playWithRestart(trial, label);
    await expectState(trial, reference.state);
    expectCalls(trial.notes, crash && { crash });
    expect(await trial.stop()).toEqual([0, null]);
  });
});

describe("kill -9 while a CRD is installed", () => {
  it.for(sampled(["after", "before"] as const))("%s the write ends well", CONCURRENT, async (when, test) => {
    await using empty = await Site.open({ crds: false });
    const trial = await empty.trial(test);
    const ofCrds = (request: ChaosRequest) => request.write && request.resource === "customresourcedefinitions";
    trial.proxy.rule = (request) =>
      trial.proxy.injected === 0 && ofCrds(request) ? { type: "kill", when } : undefined;
    expect(await trial.start({ crds: "install" }).ended).toEqual([null, "SIGKILL"]);
    trial.start({ crds: "install" });
    await trial.quiet();
    await create(trial, "flaky");
    await handled(trial, "flaky");
    expect(await trial.stop()).toEqual([0, null]);
    // Whoever finds it installed does not write it again.
    expect(trial.proxy.requests.filter(ofCrds)).toHaveLength(when === "before" ? 2 : 1);
  });
});
