/** Requests that are refused, broken, lost or late: the same end, no handler called twice, no hot loop, no death. */

import type { ChaosRequest, ChaosFault as Fault } from "@lotse/testing";
import { afterAll, describe, expect, it } from "vitest";
import { expectCalls, expectState } from "./oracle.ts";
import { SPEED } from "./pace.ts";
import { referenceRun } from "./reference.ts";
import { sampled } from "./sample.ts";
import { play } from "./scenario.ts";
import { CONCURRENT, eventually, Site } from "./trial.ts";

const site = await Site.open();
afterAll(() => site[Symbol.asyncDispose]());
const reference = await referenceRun(site);

interface Case {
  readonly title: string;
  readonly fault: Fault;
  /** How often the same request is hit. */
  readonly times: number;
  readonly hits: (request: ChaosRequest) => boolean;
}

/** What happens to a request, and how often it has to happen to the same one until the engine hears of it. */
const FAULTS: Readonly<Record<string, { readonly fault: Fault; readonly times: number }>> = {
  // The client makes five tries of its own before it gives up.
  "429": { fault: { type: "answer", status: 429, retryAfter: 1 }, times: 6 },
  "500": { fault: { type: "answer", status: 500 }, times: 6 },
  "a reset": { fault: { type: "reset" }, times: 6 },
  "a lost answer": { fault: { type: "lose" }, times: 6 },
  "half an answer": { fault: { type: "halve" }, times: 6 },
  // It makes none here.
  "403": { fault: { type: "answer", status: 403 }, times: 2 },
  "404": { fault: { type: "answer", status: 404 }, times: 2 },
  "409": { fault: { type: "answer", status: 409 }, times: 2 },
};

const all: readonly Case[] = Object.entries(FAULTS).flatMap(([name, { fault, times }]) => [
  // Streams have their own patience, the client has none for them.
  { title: `${name}, twice to every read`, fault, times: 2, hits: ({ write }) => !write },
  { title: `${name}, ${times} times to every write`, fault, times, hits: ({ write }) => write },
  { title: `${name}, once to every request`, fault, times: 1, hits: () => true },
]);

describe("an API that fails", () => {
  it.for(sampled(all))("with $title changes nothing in the end", CONCURRENT, async ({ fault, times, hits }, test) => {
    const trial = await site.trial(test);
    const { proxy } = trial;
    proxy.rule = (request) => (hits(request) && request.index < times ? fault : undefined);
    trial.start();
    await play(trial);
    await expectState(trial, reference.state);
    expectCalls(trial.notes, { failing: true });
    expect(proxy.injected).toBeGreaterThan(0);
    // Each failed request may cost another try and a look at the object.
    const { length: usual } = reference.trial.proxy.requests;
    expect(proxy.requests.length).toBeLessThanOrEqual(usual + 3 * proxy.injected + 10);
    expect(trial.lives).toHaveLength(1);
    expect(await trial.stop()).toEqual([0, null]);
  });

  it("that loses answers is not guessed about, also while the stream shows nothing", CONCURRENT, async (test) => {
    const trial = await site.trial(test);
    trial.proxy.rule = ({ verb, write, index }) => {
      if (index > 0) return undefined;
      return write ? { type: "lose" } : verb === "watch" ? { type: "mute" } : undefined;
    };
    trial.start();
    await play(trial);
    await expectState(trial, reference.state);
    expectCalls(trial.notes);
    expect(await trial.stop()).toEqual([0, null]);
  });

  const outages: readonly { readonly title: string; readonly fault: Fault }[] = [
    { title: "breaks every connection", fault: { type: "reset" } },
    { title: "answers 500 to everything", fault: { type: "answer", status: 500 } },
    { title: "forbids everything", fault: { type: "answer", status: 403 } },
  ];

  it.for(outages)(
    "and $title for half a minute is asked patiently, and all goes on afterwards",
    CONCURRENT,
    async ({ fault }, test) => {
      const trial = await site.trial(test);
      const { proxy } = trial;
      let endsAt: number | undefined;
      trial.start();
      const played = play(trial);
      // In the middle: objects are there, some are handled, some are not.
      await eventually(() => expect(proxy.writes.length).toBeGreaterThanOrEqual(6));
      proxy.rule = () => {
        // From the first request that it hits on: on a busy machine the operator may not make any for a while.
        endsAt ??= performance.now() + 30_000 / SPEED;
        return performance.now() < endsAt ? fault : undefined;
      };
      proxy.cutWatches();
      await played;
      await expectState(trial, reference.state);
      expectCalls(trial.notes, { failing: true });
      // Five objects and a stream, thirty seconds: more than ten tries a second are a hot loop.
      expect(proxy.injected).toBeGreaterThan(0);
      expect(proxy.injected).toBeLessThanOrEqual(300);
      expect(await trial.stop()).toEqual([0, null]);
    },
  );

  const starts = outages.flatMap(({ title, fault }) =>
    (["wait", "install"] as const).map((crds) => ({ title: `${title} when it starts (crds: ${crds})`, fault, crds })),
  );

  it.for(sampled(starts))("and $title is waited for", CONCURRENT, async ({ fault, crds }, test) => {
    const trial = await site.trial(test);
    const { proxy } = trial;
    proxy.rule = () => (proxy.injected < 12 ? fault : undefined);
    const life = trial.start({ crds });
    await Promise.race([play(trial), life.ended.then((end) => expect(end, "it has died").toBeUndefined())]);
    await expectState(trial, reference.state);
    expectCalls(trial.notes);
    expect(await trial.stop()).toEqual([0, null]);
  });

  it("and answers late is waited for", CONCURRENT, async (test) => {
    const trial = await site.trial(test);
    trial.proxy.rule = ({ index }) => (index === 0 ? { type: "delay", ms: 100 } : undefined);
    trial.start();
    await play(trial);
    await expectState(trial, reference.state);
    expectCalls(trial.notes);
    expect(await trial.stop()).toEqual([0, null]);
  });
});
