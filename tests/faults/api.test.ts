/** Requests that are refused, broken, lost or late: the same end, no handler called twice, no hot loop, no death. */
import { afterAll, describe, expect, it } from "vitest";
import { expectCalls, expectState } from "./oracle.ts";
import type { Fault } from "./proxy.ts";
import { referenceRun } from "./reference.ts";
import { play } from "./scenario.ts";
import type { Seen } from "./seen.ts";
import { CONCURRENT, eventually, Site, SPEED } from "./trial.ts";

const site = await Site.open();
afterAll(() => site[Symbol.asyncDispose]());
const reference = await referenceRun(site);

/** The client makes five tries of its own: what shall reach the engine has to fail more often. */
const BEYOND_THE_CLIENT = 6;

const faults: readonly { readonly name: string; readonly fault: Fault; readonly times: number }[] = [
  { name: "429", fault: { type: "answer", status: 429, retryAfter: 1 }, times: BEYOND_THE_CLIENT },
  { name: "500", fault: { type: "answer", status: 500 }, times: BEYOND_THE_CLIENT },
  { name: "403", fault: { type: "answer", status: 403 }, times: 2 },
  { name: "404", fault: { type: "answer", status: 404 }, times: 2 },
  { name: "409", fault: { type: "answer", status: 409 }, times: 2 },
  { name: "a reset", fault: { type: "reset" }, times: BEYOND_THE_CLIENT },
  { name: "a lost answer", fault: { type: "lose" }, times: BEYOND_THE_CLIENT },
  { name: "half an answer", fault: { type: "halve" }, times: BEYOND_THE_CLIENT },
  { name: "a late answer", fault: { type: "delay", ms: 100 }, times: 1 },
];

const targets: readonly { readonly name: string; readonly hits: (request: Seen) => boolean }[] = [
  { name: "every get", hits: ({ verb }) => verb === "get" },
  { name: "every list", hits: ({ verb }) => verb === "list" },
  { name: "every watch", hits: ({ verb }) => verb === "watch" },
  { name: "every patch of an object", hits: ({ verb, subresource }) => verb === "patch" && subresource === "" },
  { name: "every patch of a status", hits: ({ verb, subresource }) => verb === "patch" && subresource === "status" },
  { name: "every apply by a handler", hits: ({ verb }) => verb === "apply" },
];

const cases = [
  ...faults.flatMap(({ name, fault, times }) =>
    targets.map((target) => ({ title: `${name}, ${times} times to ${target.name}`, fault, times, hits: target.hits })),
  ),
  // Once: what the client survives by itself.
  ...faults.map(({ name, fault }) => ({ title: `${name}, once to every request`, fault, times: 1, hits: () => true })),
];

describe("an API that fails", () => {
  it.for(cases)("with $title changes nothing in the end", CONCURRENT, async ({ fault, times, hits }, test) => {
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
      let endsAt = Number.POSITIVE_INFINITY;
      trial.start();
      const played = play(trial);
      // In the middle: objects are there, some are handled, some are not.
      await eventually(() => expect(proxy.writes.length).toBeGreaterThanOrEqual(6));
      endsAt = performance.now() + 30_000 / SPEED;
      proxy.rule = () => (performance.now() < endsAt ? fault : undefined);
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

  it.for(outages)("and $title when the operator starts is waited for", CONCURRENT, async ({ fault }, test) => {
    const trial = await site.trial(test);
    const { proxy } = trial;
    proxy.rule = () => (proxy.injected < 12 ? fault : undefined);
    trial.start();
    await play(trial);
    await expectState(trial, reference.state);
    expectCalls(trial.notes);
    expect(await trial.stop()).toEqual([0, null]);
  });
});
