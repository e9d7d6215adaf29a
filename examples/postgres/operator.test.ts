import { type Harness, startHarness, VirtualClock } from "@lotse/testing";
import { CronJob, Job, PersistentVolumeClaim, Pod, Secret, Service, StatefulSet } from "lotse/client";
import { describe, expect, it } from "vitest";
import operator, { Postgres } from "./operator.ts";
import { versionOf } from "./parts.ts";
import { conditionOf, createSample, scenario } from "./scenario.ts";

/** Without a kubelet pods do what the test says. */
const podsPlayed = {
  async ends({ client }: Pick<Harness, "client">, job: string, how: "Complete" | "Failed") {
    const phase = how === "Complete" ? "Succeeded" : "Failed";
    const pods = await client.list(Pod, { labelSelector: { "job-name": job } }).toArray();
    expect(pods).toHaveLength(1);
    for (const pod of pods) await pod.patchStatus({ phase });
  },
  async rolls({ client }: Pick<Harness, "client">, name: string) {
    const conditions = [{ type: "Ready", status: "True" }];
    await client.patch(Pod, `${name}-0`, { status: { phase: "Running", conditions } }, { subresource: "status" });
  },
};

scenario((clock) => startHarness(operator, { rbac: true, ...(clock && { clock }) }), podsPlayed);

/** With simulated pods and the rights that it is deployed with, which suffice in each of these tests. */
async function play(test: (harness: Harness, shop: InstanceType<typeof Postgres>) => Promise<void>): Promise<void> {
  const clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
  await using harness = await startHarness(operator, { kubelet: "simulate", rbac: true, clock });
  const shop = await createSample(harness.client);
  await harness.settle();
  await test(harness, shop);
  expect(harness.refusals()).toEqual([]);
}

const jobs = async ({ client }: Harness) => (await client.list(Job).toArray()).map(({ name }) => name);
const image = async ({ client }: Harness) => versionOf(await client.get(StatefulSet, "shop"));

describe("a database whose pods run", { timeout: 300_000 }, () => {
  it("is ready when its pod is, and has all that it needs", () =>
    play(async ({ client }, shop) => {
      expect((await shop.refresh()).status?.version).toBe("16.4");
      expect(conditionOf(shop, "Ready")).toMatchObject({ status: "True", message: "3 of 3 are ready" });
      expect((await client.get(Service, "shop")).spec.ports).toMatchObject([{ port: 5432 }]);
      expect((await client.get(CronJob, "shop-backup")).spec.schedule).toBe("0 3 * * *");
      expect((await client.get(PersistentVolumeClaim, "data-shop-0")).status?.phase).toBe("Bound");
      const { rows } = await client.table(Postgres);
      expect(rows[0]?.cells.slice(0, 4)).toEqual(["shop", "16.4", "16.4", "True"]);
    }));

  it("is not ready before its pod is", async () => {
    await using harness = await startHarness(operator, { kubelet: "simulate", rbac: true, clock: new VirtualClock() });
    harness.cluster.pods.program("shop-0", { ready: "20s" });
    const shop = await createSample(harness.client);
    await harness.settle();
    expect(conditionOf(await shop.refresh(), "Ready")).toMatchObject({ status: "False", reason: "ChildrenNotReady" });
    expect(shop.status?.version).toBeUndefined();
    await harness.advance("20s");
    expect(conditionOf(await shop.refresh(), "Ready")).toMatchObject({ status: "True" });
  });

  it("has a password that is made once, cannot be changed, and is told to nobody", () =>
    play(async (harness, shop) => {
      const secret = await harness.client.get(Secret, "shop-password");
      const { password = "" } = secret.decoded;
      expect(password).toMatch(/^[\w-]{32}$/);
      await expect(secret.patch({ stringData: { password: "12345" } })).rejects.toMatchObject({ status: 422 });
      await harness.restart();
      await shop.patch({ spec: { version: "16.5" } });
      await harness.settle();
      expect((await secret.refresh()).decoded.password).toBe(password);
      expect(`${harness.logs}`).not.toContain(password);
      expect(JSON.stringify(await shop.refresh())).not.toContain(password);
    }));

  it("takes a password that is there already", async () => {
    const theirs = Secret.gen({ name: "shop-password", namespace: "default", stringData: { password: "theirs" } });
    await using harness = await startHarness(operator, { kubelet: "simulate", rbac: true, objects: [theirs] });
    const shop = await createSample(harness.client);
    await harness.settle();
    expect(conditionOf(await shop.refresh(), "Ready")).toMatchObject({ status: "True" });
    expect((await harness.client.get(Secret, "shop-password")).decoded.password).toBe("theirs");
  });

  it("is backed up at night", () =>
    play(async (harness) => {
      await harness.advance("3h1m");
      expect(await jobs(harness)).toEqual([expect.stringMatching(/^shop-backup-\d+$/)]);
      expect((await harness.client.list(Job).first())?.status?.succeeded).toBe(1);
    }));

  it("is left alone when the operator starts again, also after an upgrade", () =>
    play(async (harness, shop) => {
      harness.cluster.requests.clear();
      await harness.restart();
      expect(harness.writes()).toEqual([]);
      await shop.patch({ spec: { version: "16.5" } });
      await harness.settle();
      expect((await shop.refresh()).status?.version).toBe("16.5");
      harness.cluster.requests.clear();
      await harness.restart();
      expect(harness.writes()).toEqual([]);
    }));

  it("is upgraded in order: a backup, the image, and the version when it is rolled out", () =>
    play(async (harness, shop) => {
      const { cluster } = harness;
      cluster.pods.program({ labels: "app=postgres-backup" }, { exit: { after: "1m" } });
      cluster.pods.program({ image: "postgres:16.5", labels: "app=postgres" }, { ready: "30s" });
      await shop.patch({ spec: { version: "16.5" } });
      const seen = async () => [await image(harness), (await shop.refresh()).status?.version, await jobs(harness)];
      const ready = () => conditionOf(shop, "Ready")?.status;

      await harness.settle();
      expect([...(await seen()), ready()]).toEqual(["16.4", "16.4", ["shop-before-16-5"], "False"]);
      expect(conditionOf(shop, "Reconciling")?.status).toBe("True");
      await harness.advance("1m");
      expect([...(await seen()), ready()]).toEqual(["16.5", "16.4", ["shop-before-16-5"], "False"]);
      await harness.advance("30s");
      expect([...(await seen()), ready()]).toEqual(["16.5", "16.5", [], "True"]);
      expect((await harness.client.list(Pod).toArray()).map(({ name }) => name)).toEqual(["shop-0"]);
    }));

  it("goes on with its upgrade wherever the operator was stopped", () =>
    play(async (harness, shop) => {
      harness.cluster.pods.program({ labels: "app=postgres-backup" }, { exit: { after: "1m" } });
      harness.cluster.pods.program({ image: "postgres:16.5", labels: "app=postgres" }, { ready: "30s" });
      await shop.patch({ spec: { version: "16.5" } });
      await harness.settle();
      await harness.stopOperator();
      await harness.advance("1m");
      expect(await image(harness)).toBe("16.4");
      await harness.startOperator();
      await harness.settle();
      expect(await image(harness)).toBe("16.5");
      await harness.stopOperator();
      await harness.advance("30s");
      expect((await shop.refresh()).status?.version).toBe("16.4");
      await harness.startOperator();
      await harness.settle();
      expect((await shop.refresh()).status?.version).toBe("16.5");
      const backups = harness.writes().filter(({ verb, resource }) => verb === "patch" && resource === "jobs.batch");
      expect(backups).toHaveLength(1);
    }));

  it("stays as it is when the backup before an upgrade fails, until somebody sees to it", () =>
    play(async (harness, shop) => {
      const allBroken = harness.cluster.pods.program({ labels: "app=postgres-backup" }, { exit: { code: 1 } });
      await shop.patch({ spec: { version: "16.5" } });
      await harness.settle();
      await harness.advance("1h");
      expect(await image(harness)).toBe("16.4");
      expect(conditionOf(await shop.refresh(), "Stalled")).toMatchObject({
        status: "True",
        reason: "ChildFailed",
        message: expect.stringContaining("job/shop-before-16-5"),
      });
      expect(conditionOf(shop, "Ready")?.status).toBe("False");
      allBroken();
      await harness.client.delete(Job, "shop-before-16-5", { propagationPolicy: "Background" });
      await harness.settle();
      expect((await shop.refresh()).status?.version).toBe("16.5");
      expect(conditionOf(shop, "Stalled")).toBeUndefined();
      expect(conditionOf(shop, "Ready")?.status).toBe("True");
    }));

  it("refuses another major version, and forgets it when it is taken back", () =>
    play(async (harness, shop) => {
      await shop.patch({ spec: { version: "17.0" } });
      await harness.settle();
      expect(conditionOf(await shop.refresh(), "Stalled")?.message).toContain("16.4 cannot become 17.0 in place");
      expect([await image(harness), await jobs(harness)]).toEqual(["16.4", []]);
      await shop.patch({ spec: { version: "16.4" } });
      await harness.settle();
      expect(conditionOf(await shop.refresh(), "Ready")?.status).toBe("True");
      expect(conditionOf(shop, "Stalled")).toBeUndefined();
    }));

  it("goes when its last backup is made, and not before", () =>
    play(async (harness, shop) => {
      harness.cluster.pods.program({ labels: "app=postgres-backup" }, { exit: { after: "1m" } });
      await shop.delete();
      await harness.settle();
      await harness.advance("55s");
      expect(await jobs(harness)).toEqual(["shop-last-backup"]);
      expect((await harness.client.get(Pod, "shop-0")).status?.phase).toBe("Running");
      await harness.advance("10s");
      expect(await harness.client.list(Postgres).toArray()).toEqual([]);
      await harness.settle();
      expect(await harness.client.list(StatefulSet).toArray()).toEqual([]);
      expect((await harness.client.get(PersistentVolumeClaim, "backups")).status?.phase).toBe("Bound");
    }));

  it("stays when its last backup fails, until somebody lets it go", () =>
    play(async (harness, shop) => {
      harness.cluster.pods.program({ labels: "app=postgres-backup" }, { exit: { code: 1 } });
      await shop.delete();
      await harness.settle();
      await harness.advance("10m");
      expect(conditionOf(await shop.refresh(), "DeletionFailed")).toMatchObject({
        status: "True",
        message: expect.stringContaining("the last backup failed: kubectl logs job/shop-last-backup"),
      });
      await shop.patch({ spec: { deletionPolicy: "Discard" } });
      await harness.settle();
      expect(await harness.client.list(Postgres).toArray()).toEqual([]);
    }));

  it("goes at once when nobody wants its data", () =>
    play(async (harness, shop) => {
      await shop.patch({ spec: { deletionPolicy: "Discard" } });
      await harness.settle();
      await shop.delete();
      await harness.settle();
      expect(await harness.client.list(Postgres).toArray()).toEqual([]);
      expect(await jobs(harness)).toEqual([]);
    }));
});
