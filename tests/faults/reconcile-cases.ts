/** The same job as a reconciler and as children, and what happens to the sites while something goes wrong. */
import { ConfigMap } from "@lotse/client";
import { Operator } from "lotse";
import { expect } from "vitest";
import { OPERATOR, presentChildren, Site, type SiteSpec, sitesOperator, wantedChildren } from "./children-model.ts";
import type { Plot } from "./reconcile-stage.ts";

/** One way to do the job. */
export interface Case {
  readonly title: string;
  readonly make: () => Operator;
  /** Whether the framework keeps marks on children. */
  readonly marks: boolean;
}

export const CASES: readonly Case[] = [
  { title: "a reconciler", make: reconciler, marks: false },
  { title: "children", make: () => sitesOperator("found"), marks: true },
  { title: "children in order", make: () => sitesOperator("reverse"), marks: true },
];

/** Keeps a config map for each page, as one would write it by hand: look, and make it right. */
function reconciler(): Operator {
  const operator = new Operator({ name: OPERATOR });
  operator.reconcile(
    Site,
    { id: "pages", owns: [ConfigMap], onDelete: () => {} },
    async ({ object, name, spec, list, adopt, client, patch }) => {
      const { pages, text } = spec as SiteSpec;
      const present = await list(ConfigMap, { ownedBy: object });
      const wanted = new Set(pages.map((page) => `${name}-${page}`));
      for (const { name: surplus, uid } of present.filter((one) => !wanted.has(one.name))) {
        await client.delete(ConfigMap, surplus, { preconditions: { uid }, ignoreNotFound: true });
      }
      for (const page of wanted) {
        const known = present.find((one) => one.name === page);
        const data = { text };
        if (!known) {
          await client.create(adopt(new ConfigMap({ metadata: { name: page, labels: { group: "none" } }, data })));
        } else if (known.data?.text !== text) {
          await client.patch(ConfigMap, page, { metadata: { uid: known.uid }, data });
        }
      }
      patch.status.text = text;
    },
  );
  return operator;
}

export const spec = (pages: readonly string[], text: string) => ({ pages: [...pages], text, locked: false });

export async function createSite({ client }: Plot, name: string, pages: readonly string[], text: string) {
  return await client.create(new Site({ metadata: { name }, spec: spec(pages, text) }));
}

/** Every site has exactly the config maps that it shall have; names in `taken` are somebody else's. */
export async function expectWanted(plot: Plot, { marks }: Case, taken: ReadonlySet<string> = new Set()): Promise<void> {
  const { client } = plot;
  const wanted = await wantedChildren(client, taken);
  expect(await presentChildren(client, taken)).toEqual(wanted.map((one) => ({ ...one, marked: marks })));
  if (marks) return;
  for await (const { body } of client.list(Site)) expect(body.status?.text).toBe((body.spec as SiteSpec).text);
}

/** The names that config maps have in the course of the scenario. */
const NAMES = ["a-x", "a-y", "a-z", "b-x", "b-y"];

/** How often each config map was created and deleted. */
export function livesIn(plot: Plot): Record<string, unknown> {
  return Object.fromEntries(NAMES.map((name) => [name, plot.lifeOf("configmaps", name)]));
}

/** The scenario: one site that grows, shrinks and goes, one that stays. Waits each time until all is as it shall be. */
export async function playScenario(plot: Plot, one: Case): Promise<void> {
  const { client } = plot;
  const settled = () => plot.settled(() => expectWanted(plot, one));
  await createSite(plot, "a", ["x", "y"], "one");
  await createSite(plot, "b", ["x", "y"], "one");
  await settled();
  await client.patch(Site, "a", { spec: spec(["x", "y", "z"], "two") });
  await settled();
  await client.patch(Site, "a", { spec: spec(["z"], "two") });
  await client.patch(Site, "b", { spec: spec(["x"], "one") });
  await settled();
  await client.delete(Site, "a");
  await plot.settled(async () => {
    expect((await client.list(Site).toArray()).map(({ name }) => name)).toEqual(["b"]);
    await expectWanted(plot, one);
  });
}
