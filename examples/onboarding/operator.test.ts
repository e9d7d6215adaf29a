import { startHarness } from "@lotse/testing";
import { loadManifests, Namespace, ResourceQuota } from "lotse/client";
import { describe, expect, it } from "vitest";
import { TEAM } from "./objects.ts";
import operator, { Team } from "./operator.ts";
import { scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

describe("the role that it is deployed with", { timeout: 300_000 }, () => {
  it("suffices for a whole life, together with the permission to bind", async () => {
    const objects = await loadManifests(new URL("manifests/bind.yaml", import.meta.url));
    await using harness = await startHarness(operator, { rbac: true, objects });
    const { client } = harness;
    await client.create(Namespace.gen({ name: "legacy" }));
    const teams = ["legacy", "shop"].map((name) => {
      return new Team({ metadata: { name }, spec: { group: name, adopt: true, onRemoval: "Delete" } });
    });
    for (const team of teams) await client.create(team);
    await harness.settle();
    for (const team of teams) await team.patch({ spec: { role: "admin", quota: { pods: 7 } } });
    await harness.settle();
    await client.patch(ResourceQuota, "team", { spec: { hard: { pods: "9" } } }, { namespace: "shop" });
    await client.patch(Namespace, "shop", { metadata: { labels: { [TEAM]: null } } });
    await harness.settle();
    for (const team of teams) await team.wait("condition=Ready");
    expect((await client.get(Team, "shop")).status?.drift).toHaveLength(2);
    for (const team of teams) await team.delete({ wait: true });
    expect(await client.list(Namespace, { labelSelector: TEAM }).toArray()).toEqual([]);
    expect(harness.refusals()).toEqual([]);
  });

  it("does not let it give access without that permission, which the Team tells", async () => {
    await using harness = await startHarness(operator, { rbac: true });
    const team = await harness.client.create(new Team({ metadata: { name: "solo" }, spec: { group: "solo" } }));
    await harness.settle();
    const { conditions = [] } = (await team.refresh()).status ?? {};
    expect(conditions.find(({ type }) => type === "Ready")).toMatchObject({ status: "False" });
    expect(JSON.stringify(conditions)).toContain("is attempting to grant RBAC permissions not currently held");
  });
});
