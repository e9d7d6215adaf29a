/**
 * The ways in which level-based controllers are known to fail, one by one, for a reconciler and for children: they were
 * stopped in the middle, did not hear the answer, saw an old state, missed one, or took one object for another.
 */
import { ConfigMap, NotFoundError } from "@lotse/client";
import { afterAll, describe, expect, it } from "vitest";
import { Site } from "./children-model.ts";
import { Strangers } from "./children-strangers.ts";
import { CASES, type Case, createSite, expectWanted, livesIn, playScenario, spec } from "./reconcile-cases.ts";
import type { LineWrite } from "./reconcile-line.ts";
import { Ground, OPERATOR_AGENT, type Plot } from "./reconcile-stage.ts";
import { sampled } from "./sample.ts";

const ground = await Ground.open([Site]);
afterAll(() => ground[Symbol.asyncDispose]());

const TIMEOUT = 60_000;
const WRITES = ["create", "update", "patch", "delete"];

/** Runs `body` with an operator at work; whoever fails tells what happened. */
async function onPlot<T>(one: Case, body: (plot: Plot) => Promise<T>): Promise<T> {
  const plot = await ground.plot(one.make);
  try {
    return await body(plot);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${plot.story()}`, { cause: error });
  } finally {
    await plot.stop();
  }
}

interface Reference {
  readonly one: Case;
  readonly writes: readonly LineWrite[];
  readonly lives: Record<string, unknown>;
}

/** Runs to which nothing bad happens. */
async function referenceOf(one: Case): Promise<Reference> {
  return await onPlot(one, async (plot) => {
    await plot.start();
    await playScenario(plot, one);
    return { one, writes: plot.writes, lives: livesIn(plot) };
  });
}

const references: Reference[] = [];
for (const one of CASES) references.push(await referenceOf(one));

const named = (writes: readonly LineWrite[]) =>
  writes.map((write) => [`${write.label} #${write.index + 1}`, write] as const);

const same = (a: LineWrite, b: LineWrite) => a.label === b.label && a.index === b.index;

describe.each(references)("$one.title", ({ one, writes, lives }) => {
  it("does the scenario with no more than it needs, and a second pass writes nothing", {
    timeout: TIMEOUT,
  }, async () => {
    expect(writes.length).toBeGreaterThanOrEqual(10);
    expect(lives).toMatchObject({ "b-x": { created: 1, deleted: 0 }, "b-y": { created: 1, deleted: 1 } });
    await onPlot(one, async (plot) => {
      await plot.start();
      await createSite(plot, "a", ["x", "y"], "one");
      await plot.settled(() => expectWanted(plot, one));
      expect(await plot.secondPass()).toEqual([]);
    });
  });

  describe.each(["before", "after"] as const)("that dies %s a write", (when) => {
    it.each(sampled(named(writes)))("(%s) ends as if nothing had happened", { timeout: TIMEOUT }, async (_, point) => {
      await onPlot(one, async (plot) => {
        let died = false;
        await plot.start({
          dies: (write) => {
            if (died || !same(write, point)) return undefined;
            died = true;
            return when;
          },
        });
        await playScenario(plot, one);
        expect(died, "the point is reached").toBe(true);
        expect(livesIn(plot)).toEqual(lives);
      });
    });
  });

  it.each(sampled(writes.map((_, at) => at)))(
    "that does not hear the answer to its write number %i makes nothing twice",
    { timeout: TIMEOUT },
    async (skip) => {
      await onPlot(one, async (plot) => {
        await plot.start();
        const { namespace } = plot;
        using fault = ground.cluster.faults.add({
          match: {
            verb: WRITES,
            namespace,
            userAgent: OPERATOR_AGENT,
            when: ({ resource }) => resource !== "events" && resource !== "events.events.k8s.io",
            skip,
            count: 1,
          },
          reset: "after",
        });
        await playScenario(plot, one);
        expect(fault.hits).toBe(1);
        expect(livesIn(plot)).toEqual(lives);
      });
    },
  );

  describe("whose view of the children is old", () => {
    const stall = ({ namespace }: Plot) =>
      ground.cluster.faults.add({ match: { verb: "watch", resource: "configmaps", namespace }, stallWatch: true });

    it.each([
      ["takes away", spec(["y"], "one")],
      ["would change", spec(["x", "y"], "two")],
    ])("leaves alone what has taken the place of one that it %s", { timeout: TIMEOUT }, async (_, next) => {
      await onPlot(one, async (plot) => {
        const { client } = plot;
        const strangers = new Strangers(client);
        await plot.start();
        await createSite(plot, "a", ["x", "y"], "one");
        await plot.settled(() => expectWanted(plot, one));
        const { length: before } = plot.writes;
        const fault = stall(plot);
        await client.delete(ConfigMap, "a-x");
        await strangers.create("a-x", undefined);
        await client.patch(Site, "a", { spec: next });
        await plot.quiet();
        await strangers.check();
        // It tries again, and not as fast as it can.
        expect(plot.writes.length - before).toBeLessThan(30);
        fault.remove();
        await plot.quiet();
        await strangers.check();
        await strangers.delete("a-x");
        await plot.settled(() => expectWanted(plot, one));
        expect(await plot.secondPass()).toEqual([]);
      });
    });

    it("finds one that somebody has made where it sees nothing", { timeout: TIMEOUT }, async () => {
      await onPlot(one, async (plot) => {
        const strangers = new Strangers(plot.client);
        await plot.start();
        await createSite(plot, "a", ["x"], "one");
        await plot.settled(() => expectWanted(plot, one));
        const fault = stall(plot);
        await strangers.create("a-y", undefined);
        await plot.client.patch(Site, "a", { spec: spec(["x", "y"], "one") });
        await plot.quiet();
        fault.remove();
        await plot.quiet();
        await strangers.check();
        await strangers.delete("a-y");
        await plot.settled(() => expectWanted(plot, one));
      });
    });

    it("neither makes nor deletes any for a list that is older than what it has seen", {
      timeout: TIMEOUT,
    }, async () => {
      await onPlot(one, async (plot) => {
        const { client, namespace } = plot;
        const { faults } = ground.cluster;
        const match = { verb: "watch", resource: "configmaps", namespace };
        const relist = () => {
          faults.add({ match: { ...match, count: 1 }, status: 410 });
          faults.add({ match, dropWatch: true }).remove();
        };
        await plot.start();
        await createSite(plot, "a", ["x", "y"], "one");
        await plot.settled(() => expectWanted(plot, one));
        plot.line.remember("configmaps");
        relist();
        await plot.quiet();
        await client.patch(Site, "a", { spec: spec(["y", "z"], "two") });
        await plot.settled(() => expectWanted(plot, one));
        const before = livesIn(plot);
        // The old list, and then silence.
        plot.line.travelBack("configmaps");
        const silence = stall(plot);
        relist();
        await plot.quiet();
        await client.patch(Site, "a", { metadata: { labels: { touched: "yes" } } });
        await plot.quiet();
        expect(plot.line.travels).toBe(1);
        expect(livesIn(plot)).toEqual(before);
        silence.remove();
        await plot.settled(() => expectWanted(plot, one));
        expect(livesIn(plot)).toEqual(before);
      });
    });
  });

  // One that is written by hand knows nothing of garbage collectors, and a finalizer keeps them away.
  const isCollected = one.title === "children";
  it.each(isCollected ? [one] : [])(
    "whose view of the sites is old makes none for a site that is gone",
    { timeout: TIMEOUT },
    async () => {
      await onPlot(one, async (plot) => {
        const { client, namespace } = plot;
        await plot.start();
        await createSite(plot, "a", ["x", "y"], "one");
        await plot.settled(() => expectWanted(plot, one));
        const match = { verb: "watch", resource: "sites.faults.example.com", namespace };
        using _silence = ground.cluster.faults.add({ match, stallWatch: true });
        const before = livesIn(plot);
        await client.delete(Site, "a");
        // The garbage collector takes the children, and nobody makes them again.
        await plot.settled(() => expectWanted(plot, one));
        const once = { created: 1, deleted: 1 };
        expect(livesIn(plot)).toEqual({ ...before, "a-x": once, "a-y": once });
      });
    },
  );

  it("that misses states on the way comes to the last one", { timeout: TIMEOUT }, async () => {
    await onPlot(one, async (plot) => {
      const { client, namespace } = plot;
      const { faults } = ground.cluster;
      await plot.start();
      await createSite(plot, "a", ["x", "y"], "one");
      await createSite(plot, "b", ["x"], "one");
      await plot.settled(() => expectWanted(plot, one));
      const kinds = { verb: "watch", resource: ["configmaps", "sites.faults.example.com"], namespace };
      const silence = faults.add({ match: kinds, stallWatch: true });
      // Changed again and again; come and gone; gone and come back; changed and changed back.
      for (const text of ["two", "three", "four"]) await client.patch(Site, "a", { spec: spec(["y", "z"], text) });
      await createSite(plot, "c", ["x"], "one");
      await client.delete(Site, "c");
      await client.delete(ConfigMap, "a-x");
      await client.patch(ConfigMap, "b-x", { data: { text: "meddled" } });
      await client.delete(ConfigMap, "a-y");
      await client.create(ConfigMap.gen({ name: "a-z", data: { text: "theirs" } }));
      await client.delete(ConfigMap, "a-z");
      // Nobody will ever be shown what happened: the streams break, and the cluster has forgotten.
      ground.cluster.compact();
      faults.add({ match: kinds, dropWatch: true }).remove();
      silence.remove();
      await plot.settled(() => expectWanted(plot, one));
      expect(await plot.secondPass()).toEqual([]);
    });
  });

  describe("whose site is deleted and made again under its name", () => {
    const points = writes.filter(({ name, index }) => name.startsWith("a") && index < 2);

    it.each(sampled(named(points)))(
      "at its write (%s) never acts for the old one",
      { timeout: TIMEOUT },
      async (_, point) => {
        await onPlot(one, async (plot) => {
          const { client } = plot;
          let successor: string | undefined;
          await plot.start({
            meanwhile: async (write) => {
              if (successor !== undefined || !same(write, point)) return;
              successor = "";
              await client.delete(Site, "a");
              await client.patch(Site, "a", { metadata: { finalizers: null } }).catch(ignoreMissing);
              successor = (await createSite(plot, "a", ["x", "y"], "new")).uid;
            },
          });
          const { uid: first } = await createSite(plot, "a", ["x", "y"], "one");
          await plot.settled(() => expectWanted(plot, one));
          if (successor === undefined) await client.patch(Site, "a", { spec: spec(["y", "z"], "two") });
          await plot.settled(() => expectWanted(plot, one));
          if (successor === undefined) return;
          expect(successor).not.toBe(first);
          const sites = plot
            .statesOf("sites.faults.example.com", "a")
            .filter(({ body }) => body.metadata?.uid === successor);
          for (const { body } of sites) expect([undefined, "new"]).toContain((body.status as { text?: string })?.text);
          for (const name of ["a-x", "a-y"]) {
            const own = plot.statesOf("configmaps", name).filter(({ body }) => isOwnedBy(body, successor));
            expect(own.filter(({ type }) => type === "created")).toHaveLength(1);
            expect(own.filter(({ type }) => type === "deleted")).toEqual([]);
            for (const { body } of own) expect((body as { data?: unknown }).data).toEqual({ text: "new" });
          }
          expect(await plot.secondPass()).toEqual([]);
        });
      },
    );
  });

  describe("whose child is deleted and made by somebody else", () => {
    const points = writes.filter(({ resource, name }) => resource === "configmaps" && name.startsWith("a"));

    it.each(sampled(named(points)))("at its write (%s) leaves that alone", { timeout: TIMEOUT }, async (_, point) => {
      await onPlot(one, async (plot) => {
        const { client } = plot;
        const strangers = new Strangers(client);
        let met = false;
        await plot.start({
          meanwhile: async (write) => {
            if (met || !same(write, point)) return;
            met = true;
            await client.delete(ConfigMap, write.name, { ignoreNotFound: true });
            await strangers.create(write.name, undefined);
          },
        });
        await createSite(plot, "a", ["x", "y"], "one");
        for (const next of [spec(["x", "y", "z"], "two"), spec(["z"], "two")]) {
          await plot.quiet();
          await client.patch(Site, "a", { spec: next });
        }
        await plot.quiet();
        await client.delete(Site, "a");
        await plot.quiet();
        expect(met, "the point is reached").toBe(true);
        await strangers.check();
        for (const name of strangers.names) await strangers.delete(name);
        await plot.settled(() => expectWanted(plot, one));
      });
    });
  });
});

function isOwnedBy(
  { metadata }: { metadata?: { ownerReferences?: readonly { uid: string }[] } },
  uid: string | undefined,
) {
  return metadata?.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}
