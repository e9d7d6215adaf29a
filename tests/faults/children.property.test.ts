/**
 * Whatever happens to parents, children and objects of others, with an operator that dies at its writes and streams that
 * stall, break or forget: when all is calm exactly the wanted children are there, nothing of others was touched, and
 * whoever looks again writes nothing.
 */
import { ApiError, ConfigMap } from "@lotse/client";
import type { FaultHandle } from "@lotse/cluster";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import {
  presentChildren,
  Site,
  type SiteSpec,
  sitesOperator,
  WAYS,
  type Way,
  wantedChildren,
} from "./children-model.ts";
import { Strangers } from "./children-strangers.ts";
import { Ground, type Plot } from "./reconcile-stage.ts";

const ground = await Ground.open([Site]);
afterAll(() => ground[Symbol.asyncDispose]());

const SITES = ["a", "b"];
const PAGES = ["x", "y", "z"];
const KINDS = ["sites.faults.example.com", "configmaps", "secrets"];

type Step =
  | { readonly do: "create" | "change" | "replace"; readonly site: string; readonly spec: SiteSpec }
  | { readonly do: "relabel"; readonly site: string; readonly group: string }
  | { readonly do: "delete"; readonly site: string }
  | {
      readonly do: "meddle";
      readonly child: string;
      readonly how: "delete" | "overwrite" | "empty" | "relabel" | "add";
    }
  | {
      readonly do: "stranger";
      readonly name: string;
      readonly how: "create" | "create owned" | "change" | "delete";
    }
  | { readonly do: "crash"; readonly writes: number; readonly when: "before" | "after" }
  | { readonly do: "stall" | "cut"; readonly kind: string }
  | { readonly do: "flow" | "forget" | "calm" | "revive" };

const site = fc.constantFrom(...SITES);
const child = fc.constantFrom(...SITES.flatMap((name) => PAGES.map((page) => `${name}-${page}`)));
const spec = fc.record({
  pages: fc.subarray(PAGES),
  text: fc.constantFrom("one", "two"),
  locked: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("create" as const), site, spec }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("change" as const), site, spec }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("replace" as const), site, spec }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("relabel" as const), site, group: fc.constantFrom("red", "blue") }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), site }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("meddle" as const),
      child,
      how: fc.constantFrom(
        "delete" as const,
        "overwrite" as const,
        "empty" as const,
        "relabel" as const,
        "add" as const,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("stranger" as const),
      name: fc.oneof(child, fc.constant("a-stranger")),
      how: fc.constantFrom("create" as const, "create owned" as const, "change" as const, "delete" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("crash" as const),
      writes: fc.nat({ max: 4 }),
      when: fc.constantFrom("before" as const, "after" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("stall" as const, "cut" as const),
      kind: fc.constantFrom(...KINDS),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constantFrom("calm" as const, "calm" as const, "revive" as const, "flow" as const, "forget" as const),
    }),
  },
);

/** Plays a script in a namespace of its own. */
class Play {
  readonly #plot: Plot;
  readonly #strangers: Strangers;
  readonly #stalls: FaultHandle[] = [];

  constructor(plot: Plot) {
    this.#plot = plot;
    this.#strangers = new Strangers(plot.client);
  }

  async step(step: Step): Promise<void> {
    switch (step.do) {
      case "stranger":
        return this.#stranger(step.name, step.how);
      case "crash":
        return this.#crash(step.writes, step.when);
      case "stall":
        this.#stalls.push(this.#fault(step.kind, { stallWatch: true }));
        return;
      case "cut":
        this.#fault(step.kind, { dropWatch: true }).remove();
        return;
      case "flow":
        for (const stall of this.#stalls.splice(0)) stall.remove();
        return;
      case "forget":
        ground.cluster.compact();
        return;
      case "calm":
        return this.#plot.quiet();
      case "revive":
        return this.#plot.revive();
      default:
        // Who comes too late, or too early, has no effect.
        await this.#write(step).catch((error: unknown) => {
          if (!(error instanceof ApiError && (error.status === 404 || error.status === 409))) throw error;
        });
    }
  }

  async #write(step: Extract<Step, { site: string } | { child: string }>): Promise<void> {
    const { client } = this.#plot;
    switch (step.do) {
      case "create":
        await client.create(new Site({ metadata: { name: step.site }, spec: step.spec as never }));
        return;
      case "change":
        await client.patch(Site, step.site, { spec: step.spec });
        return;
      case "relabel":
        await client.patch(Site, step.site, { metadata: { labels: { group: step.group } } });
        return;
      case "delete":
        await client.delete(Site, step.site);
        return;
      case "replace":
        await client.delete(Site, step.site);
        await client.create(new Site({ metadata: { name: step.site }, spec: step.spec as never }));
        return;
      case "meddle":
        return this.#meddle(step.child, step.how);
    }
  }

  async #meddle(name: string, how: Extract<Step, { do: "meddle" }>["how"]): Promise<void> {
    // What is a stranger's is left to them: they would notice.
    if (this.#strangers.names.has(name)) return;
    const { client } = this.#plot;
    if (how === "delete") await client.delete(ConfigMap, name);
    else if (how === "overwrite") await client.patch(ConfigMap, name, { data: { text: "meddled" } });
    else if (how === "empty") await client.patch(ConfigMap, name, { data: null });
    else if (how === "relabel") await client.patch(ConfigMap, name, { metadata: { labels: { group: "meddled" } } });
    else await client.patch(ConfigMap, name, { metadata: { labels: { seen: "yes" } } });
  }

  async #stranger(name: string, how: Extract<Step, { do: "stranger" }>["how"]): Promise<void> {
    if (how === "change") return this.#strangers.change(name, "changed");
    if (how === "delete") return this.#strangers.delete(name);
    const owner =
      how === "create" ? undefined : await this.#plot.client.get(Site, name.slice(0, 1)).catch(() => undefined);
    await this.#strangers.create(name, owner?.body);
  }

  async #crash(writes: number, when: "before" | "after"): Promise<void> {
    let left = writes;
    this.#plot.line.rule = { dies: () => (left-- === 0 ? when : undefined) };
  }

  #fault(resource: string, fault: { stallWatch: true } | { dropWatch: true }): FaultHandle {
    const { namespace } = this.#plot;
    return ground.cluster.faults.add({ match: { verb: "watch", resource, namespace }, ...fault });
  }

  /** What has to be true when all is calm. */
  async end(way: Way): Promise<void> {
    const { client } = this.#plot;
    await this.step({ do: "flow" });
    this.#plot.line.rule = {};
    await this.#strangers.check();
    // Children that wait for one whose name is taken stay as they are: then nobody can say what shall be there.
    if (way === "ordered" || way === "reverse") {
      for (const name of this.#strangers.names) await this.#strangers.delete(name);
    }
    await this.#plot.settled(async () => {
      const taken = this.#strangers.names;
      expect(await presentChildren(client, taken)).toEqual(await wantedChildren(client, taken, way));
    });
    await this.#strangers.check();
    expect(await this.#plot.secondPass(), "writes of a second pass").toEqual([]);
  }

  async stop(): Promise<void> {
    for (const stall of this.#stalls.splice(0)) stall.remove();
    await this.#plot.stop();
  }
}

async function play(way: Way, first: readonly SiteSpec[], script: readonly Step[]): Promise<void> {
  const plot = await ground.plot(() => sitesOperator(way));
  const play = new Play(plot);
  try {
    await plot.start();
    for (const [at, spec] of first.entries()) await play.step({ do: "create", site: SITES[at] as string, spec });
    for (const step of script) await play.step(step);
    await play.end(way);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${plot.story()}`, { cause: error });
  } finally {
    await play.stop();
  }
}

// A few in `npm test`, many in `npm run test:full`; with LOTSE_FAULTS_RUNS and LOTSE_FAULTS_SEED as many others as one likes.
const numRuns = Number(process.env.LOTSE_FAULTS_RUNS ?? (process.env.LOTSE_FULL === "1" ? 12 : 3));

describe("children", () => {
  it.each(WAYS)(
    "(%s) end as exactly the wanted ones, whatever happens",
    async (way) => {
      const first = fc.tuple(spec, spec);
      const scripts = fc.array(step, { minLength: 6, maxLength: 30, size: "max" });
      await fc.assert(
        fc.asyncProperty(first, scripts, (sites, script) => play(way, sites, script)),
        { numRuns, seed: Number(process.env.LOTSE_FAULTS_SEED ?? 8), endOnFailure: true },
      );
    },
    330_000,
  );
});
