import { ConfigMap, type KubeBody, Namespace, Secret } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, type ReconcileContext, requeue, resource, TemporaryError } from "lotse";
import { expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

const Team = resource({
  group: "reconcile.example.com",
  version: "v1",
  kind: "Team",
  spec: z.object({ size: z.number().int().default(1), note: z.string().optional() }),
  status: z.object({ members: z.number().optional(), seen: z.string().optional() }),
});

const Member = resource({
  group: "reconcile.example.com",
  version: "v1",
  kind: "Member",
  spec: z.object({ name: z.string().optional() }),
});

const team = (name: string, size = 1) => new Team({ metadata: { name }, spec: { size } });
const member = (name: string, of: string) => new Member({ metadata: { name, labels: { team: of } }, spec: {} });

describeOn(clustersUnderTest(), "a reconciler", (cluster) => {
  const stage = useStage(cluster, "reconcile");

  it("runs for each object at the start, and for changes by others, not for its own writes", async () => {
    const runs: string[] = [];
    const operator = new Operator({ name: "level" });
    operator.reconcile(Team, async function count({ name, spec, patch }) {
      runs.push(`${name} ${spec.size}`);
      patch.status.members = spec.size;
    });
    await stage.start(operator);
    await stage.client.create(team("a", 2));
    await stage.eventually(async () => expect((await stage.client.get(Team, "a")).status?.members).toBe(2));
    await stage.quiet();
    expect(runs).toEqual(["a 2"]);
    await stage.client.patch(Team, "a", { spec: { size: 3 } });
    await stage.eventually(async () => expect((await stage.client.get(Team, "a")).status?.members).toBe(3));
    await stage.quiet();
    expect(runs).toEqual(["a 2", "a 3"]);
  });

  it("writes nothing of what it did for an object onto the one that has its name now", async () => {
    const uids: string[] = [];
    let replaced = () => {};
    const replacement = new Promise<void>((resolve) => {
      replaced = resolve;
    });
    const operator = new Operator({ name: "level" });
    operator.reconcile(Team, async function count({ uid, patch }) {
      uids.push(uid);
      if (uids.length > 1) {
        patch.status.seen = uid;
        replaced();
        return;
      }
      await stage.client.delete(Team, "a");
      await stage.client.create(team("a", 2));
      // The second one has its own turn meanwhile: whatever this one says now is about an object that is no more.
      await replacement;
      patch.status.members = 99;
    });
    await stage.start(operator);
    await stage.client.create(team("a", 1));
    await stage.eventually(async () => expect((await stage.client.get(Team, "a")).status?.seen).toBe(uids[1]));
    await stage.quiet();
    expect(uids).toHaveLength(2);
    expect((await stage.client.get(Team, "a")).status).toMatchObject({ seen: uids[1] });
    expect((await stage.client.get(Team, "a")).status?.members).toBeUndefined();
  });

  it("is woken by what it has read: objects that come into a list, change in it, and leave it", async () => {
    const operator = new Operator({ name: "level" });
    operator.reconcile(Team, { owns: [Member] }, async function count({ name, list, patch }) {
      const members = await list(Member, { labelSelector: { team: name } });
      patch.status.seen = members.map((one) => `${one.name}:${one.spec?.name ?? ""}`).join(",");
    });
    await stage.start(operator);
    const { client } = stage;
    const seen = (name: string, text: string) =>
      stage.eventually(async () => expect((await client.get(Team, name)).status?.seen).toBe(text));
    await client.create(team("a"));
    await client.create(team("b"));
    await seen("a", "");
    await client.create(member("x", "a"));
    await seen("a", "x:");
    await client.patch(Member, "x", { spec: { name: "Ada" } });
    await seen("a", "x:Ada");
    await client.patch(Member, "x", { metadata: { labels: { team: "b" } } });
    await seen("a", "");
    await seen("b", "x:Ada");
    await client.delete(Member, "x");
    await seen("b", "");
  });

  it("follows kinds that nobody declared once it reads them, and says so", async () => {
    const operator = new Operator({ name: "level" });
    const runs: (string | undefined)[] = [];
    operator.reconcile(Team, async function look({ get, exists }) {
      const map = await get(ConfigMap, "settings");
      runs.push(`${map?.data?.mode} ${await exists("secrets", "key")}`);
    });
    await stage.start(operator);
    const { client } = stage;
    await client.create(team("a"));
    await stage.eventually(() => expect(runs).toEqual(["undefined false"]));
    await client.create(ConfigMap.gen({ name: "settings", data: { mode: "one" } }));
    await stage.eventually(() => expect(runs).toEqual(["undefined false", "one false"]));
    await client.create(ConfigMap.gen({ name: "other", data: { mode: "no" } }));
    await client.create(Secret.gen({ name: "key", stringData: { a: "b" } }));
    await stage.eventually(() => expect(runs.at(-1)).toBe("one true"));
    await client.patch(Secret, "key", { stringData: { a: "c" } });
    await client.patch(ConfigMap, "settings", { data: { mode: "two" } });
    await stage.eventually(() => expect(runs.at(-1)).toBe("two true"));
    await stage.quiet();
    expect(runs).toEqual(["undefined false", "one false", "one true", "two true"]);
    const said = stage.logs.filter(({ message }) => message === "a kind is followed because a reconciler reads it");
    expect(said.map(({ fields }) => fields?.kind).sort()).toEqual(["configmaps", "secrets"]);
  });

  it("fails with the reason when it reads a kind that it may not, keeps nobody waiting, and goes on once it may", async () => {
    const wire = await Wire.to(stage.client);
    wire.fault = ({ path }) => (path.includes("secrets") ? { type: "answer", status: 403 } : undefined);
    const operator = new Operator({ name: "level" });
    const runs: string[] = [];
    operator.reconcile(
      Team,
      { concurrency: 1, backoff: { initial: "100ms", max: "100ms" } },
      async function look({ name, exists }) {
        if (name === "a") runs.push(`${name} ${await exists(Secret, "key")}`);
        else runs.push(name);
      },
    );
    await stage.start(operator, { client: wire.client, crds: "wait" });
    const { client } = stage;
    await client.create(team("a"));
    await stage.eventually(() =>
      expect(stage.logs.some(({ message, fields }) => /^reconciling failed/.test(message) && fields?.error)).toBe(true),
    );
    await client.create(team("b"));
    await stage.eventually(() => expect(runs).toEqual(["b"]));
    wire.fault = () => undefined;
    await stage.eventually(() => expect(runs).toEqual(["b", "a false"]));
  });

  it("works on no more objects at once than it says", async () => {
    const operator = new Operator({ name: "level" });
    let now = 0;
    let most = 0;
    const seen = new Set<string>();
    operator.reconcile(Team, { concurrency: 2 }, async function look({ name }) {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      seen.add(name);
    });
    await stage.start(operator);
    const names = ["a", "b", "c", "d", "e", "f"];
    await Promise.all(names.map((name) => stage.client.create(team(name))));
    await stage.eventually(() => expect([...seen].sort()).toEqual(names));
    expect(most).toBeLessThanOrEqual(2);
  });

  it("looks only at changes that it asks for, and at everything again in its own time", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "level" });
    const runs: string[] = [];
    operator.reconcile(Team, { filter: "generation", resync: "1h" }, async function look({ spec }) {
      runs.push(String(spec.size));
    });
    await stage.start(operator, { clock });
    const { client } = stage;
    await client.create(team("a", 1));
    await stage.eventually(() => expect(runs).toEqual(["1"]));
    await client.patch(Team, "a", { metadata: { labels: { seen: "no" } } });
    await stage.quiet();
    expect(runs).toEqual(["1"]);
    await client.patch(Team, "a", { spec: { size: 2 } });
    await stage.eventually(() => expect(runs).toEqual(["1", "2"]));
    await clock.advance(66 * 60_000);
    await stage.eventually(() => expect(runs).toEqual(["1", "2", "2"]));
  });

  it("runs no more often for one object than its limit allows", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "level" });
    const runs: string[] = [];
    operator.reconcile(Team, { rateLimit: { runs: 1, per: "1m" } }, async function look({ spec }) {
      runs.push(String(spec.size));
    });
    await stage.start(operator, { clock });
    await stage.client.create(team("a", 1));
    await stage.eventually(() => expect(runs).toEqual(["1"]));
    for (const size of [2, 3, 4]) await stage.client.patch(Team, "a", { spec: { size } });
    await stage.quiet();
    expect(runs).toEqual(["1"]);
    await clock.advance(61_000);
    await stage.eventually(() => expect(runs).toEqual(["1", "4"]));
  });

  it("that keeps waking itself is slowed down, and said to be", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "level" });
    let runs = 0;
    operator.reconcile(Team, { owns: [Member] }, async function restless({ list, client }) {
      await list(Member);
      await client.create(member(`m-${++runs}`, "a"));
    });
    await stage.start(operator, { clock });
    await stage.client.create(team("a"));
    const said = "a reconciler is woken by its own writes again and again, it is slowed down";
    await stage.eventually(() => expect(stage.logs.map(({ message }) => message)).toContain(said));
    await stage.quiet();
    const before = runs;
    await stage.quiet();
    expect(runs).toBe(before);
  });

  it("is no longer woken by what it no longer reads", async () => {
    const operator = new Operator({ name: "level" });
    const runs: string[] = [];
    operator.reconcile(Team, { owns: [ConfigMap] }, async function look({ spec, get }) {
      const map = await get(ConfigMap, `map-${spec.size}`);
      runs.push(`${spec.size} ${map?.data?.x}`);
    });
    await stage.start(operator);
    const { client } = stage;
    await client.create(team("a", 1));
    await stage.eventually(() => expect(runs).toHaveLength(1));
    await client.patch(Team, "a", { spec: { size: 2 } });
    await stage.eventually(() => expect(runs).toHaveLength(2));
    await client.create(ConfigMap.gen({ name: "map-1", data: { x: "old" } }));
    await client.create(ConfigMap.gen({ name: "map-2", data: { x: "new" } }));
    await stage.eventually(() => expect(runs).toHaveLength(3));
    await stage.quiet();
    expect(runs).toEqual(["1 undefined", "2 undefined", "2 new"]);
  });

  it("sees its own writes at once, in lists too, and runs again only for those that it has not read afterwards", async () => {
    const operator = new Operator({ name: "level" });
    const counts: number[][] = [];
    operator.reconcile(Team, { owns: [Member] }, async function fill({ object, name, spec, list, adopt, client }) {
      const before = await list(Member, { ownedBy: object });
      for (let at = 0; at < spec.size; at++) {
        const child = `${name}-${at}`;
        if (!before.some((one) => one.name === child)) await client.create(adopt(member(child, name)));
      }
      const after = await list(Member, { ownedBy: object });
      counts.push([before.length, after.length]);
    });
    await stage.start(operator);
    await stage.client.create(team("a", 3));
    await stage.eventually(() => expect(counts).toHaveLength(1));
    await stage.quiet();
    expect(counts).toEqual([[0, 3]]);
    await stage.client.delete(Member, "a-1");
    await stage.eventually(() => expect(counts).toHaveLength(2));
    await stage.quiet();
    expect(counts).toEqual([
      [0, 3],
      [2, 3],
    ]);
  });

  it("sees its own deletions at once", async () => {
    const operator = new Operator({ name: "level" });
    const counts: number[][] = [];
    operator.reconcile(Team, { owns: [Member] }, async function empty({ name, list, client }) {
      const before = await list(Member, { labelSelector: { team: name } });
      for (const one of before) await client.delete(Member, one.name);
      counts.push([before.length, (await list(Member, { labelSelector: { team: name } })).length]);
    });
    await stage.start(operator);
    await stage.client.create(member("x", "a"));
    await stage.client.create(team("a"));
    await stage.eventually(() => expect(counts.at(-1)).toEqual([1, 0]));
    await stage.quiet();
    expect(counts.filter(([before]) => (before ?? 0) > 0)).toEqual([[1, 0]]);
  });

  it("sees a namespace that it has deleted until what is in it is gone", { timeout: 300_000 }, async () => {
    const [operator, namespace] = [new Operator({ name: "level" }), `${stage.namespace}-emptied`];
    const held = ConfigMap.gen({ name: "held", namespace, finalizers: ["example.com/held"] });
    const seen: string[] = [];
    const remove = async ({ get, client, requeue }: Pick<ReconcileContext<KubeBody>, "get" | "client" | "requeue">) => {
      const live = await get(Namespace, namespace);
      seen.push(live ? (live.metadata.deletionTimestamp ? "going" : "there") : "gone");
      if (!live) return undefined;
      if (!live.metadata.deletionTimestamp) await client.delete(Namespace, namespace);
      return requeue("1h");
    };
    operator.reconcile(Team, { onDelete: remove }, async function open({ patch }) {
      patch.status.seen = "yes";
    });
    await stage.start(operator);
    await stage.client.create(Namespace.gen({ name: namespace }));
    await stage.client.create(held);
    const owner = await stage.client.create(team("a"));
    await owner.wait(({ status }) => status?.seen === "yes");
    await owner.delete();
    await stage.eventually(() => expect(seen.at(-1)).toBe("going"));
    await stage.quiet();
    expect(await owner.exists()).toBe(true);
    await held.patch({ metadata: { finalizers: null } });
    await owner.wait("delete", { timeout: "60s" });
    expect([...new Set(seen)]).toEqual(["there", "going", "gone"]);
  });

  it("is woken through its owners and its mapping functions, which get the old and the new state", async () => {
    const operator = new Operator({ name: "level" });
    const runs: string[] = [];
    operator.reconcile(
      Team,
      { watches: [[Member, (one: InstanceType<typeof Member>) => one.labels.team]] },
      async function look({ name }) {
        runs.push(name);
      },
    );
    await stage.start(operator);
    const { client } = stage;
    await client.create(team("a"));
    await client.create(team("b"));
    await stage.eventually(() => expect([...runs].sort()).toEqual(["a", "b"]));
    await client.create(member("x", "a"));
    await stage.eventually(() => expect(runs.slice(2)).toEqual(["a"]));
    await client.patch(Member, "x", { metadata: { labels: { team: "b" } } });
    await stage.eventually(() => expect(runs.slice(3).sort()).toEqual(["a", "b"]));
    await stage.quiet();
    expect(runs).toHaveLength(5);
  });

  it("comes again when it asks for it, after errors, and not after permanent ones until something changes", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "level" });
    const runs: string[] = [];
    operator.reconcile(Team, async function look({ name, spec, retry }) {
      runs.push(`${name} ${spec.note} ${retry}`);
      if (spec.note === "later") return requeue("5s");
      if (spec.note === "temporary") throw new TemporaryError("not yet", { delay: "7s" });
      if (spec.note === "permanent") throw new PermanentError("never");
      return undefined;
    });
    await stage.start(operator, { clock });
    const { client } = stage;
    const noted = (name: string, note: string) => new Team({ metadata: { name }, spec: { size: 1, note } });
    for (const note of ["later", "temporary", "permanent"]) await client.create(noted(note, note));
    const count = (name: string) => runs.filter((one) => one.startsWith(`${name} `)).length;
    await stage.eventually(() => expect(runs).toHaveLength(3));
    await clock.advance(4_000);
    await stage.quiet();
    expect(runs).toHaveLength(3);
    await clock.advance(4_000);
    await stage.eventually(() => expect([count("later"), count("temporary"), count("permanent")]).toEqual([2, 2, 1]));
    expect(runs).toContain("temporary temporary 1");
    await client.patch(Team, "permanent", { spec: { note: "fine" } });
    await stage.eventually(() => expect(runs).toContain("permanent fine 1"));
  });

  it("holds an object until its onDelete is done, which is tried again when what it reads changes", async () => {
    const operator = new Operator({ name: "level" });
    const looks: number[] = [];
    operator.reconcile(
      Team,
      {
        owns: [Member],
        onDelete: async ({ name, list, requeue }) => {
          const left = await list(Member, { labelSelector: { team: name } });
          looks.push(left.length);
          return left.length > 0 ? requeue("1h") : undefined;
        },
      },
      async function idle() {},
    );
    await stage.start(operator);
    const { client } = stage;
    await client.create(member("x", "a"));
    await client.create(team("a"));
    await stage.eventually(async () => expect((await client.get(Team, "a")).metadata.finalizers).toHaveLength(1));
    await client.delete(Team, "a");
    await stage.eventually(() => expect(looks).toEqual([1]));
    await client.delete(Member, "x");
    await stage.eventually(() => expect(looks).toEqual([1, 0]));
    await client.wait(Team, "a", "delete", { timeout: "170s" });
  });

  it("keeps conditions and observedGeneration where it is told to", async () => {
    const operator = new Operator({ name: "level" });
    operator.reconcile(Team, { conditions: true }, async function look({ spec }) {
      if (spec.note === "bad") throw new PermanentError("bad note");
    });
    await stage.start(operator);
    const { client } = stage;
    await client.create(team("a"));
    const conditions = async () => {
      const { status } = await client.get(Team, "a");
      const { conditions = [], observedGeneration } = status as {
        conditions?: { type: string; status: string; message: string }[];
        observedGeneration?: number;
      };
      return [observedGeneration, ...conditions.map((one) => `${one.type}=${one.status} ${one.message}`.trim())];
    };
    await stage.eventually(async () => expect(await conditions()).toEqual([1, "Ready=True"]));
    await client.patch(Team, "a", { spec: { note: "bad" } });
    await stage.eventually(async () =>
      expect(await conditions()).toEqual([2, "Ready=False bad note", "Stalled=True bad note"]),
    );
    await client.patch(Team, "a", { spec: { note: "good" } });
    await stage.eventually(async () => expect(await conditions()).toEqual([3, "Ready=True"]));
  });

  it("tells which read has woken an object", async () => {
    const operator = new Operator({ name: "level" });
    operator.reconcile(Team, { owns: [Member] }, async function look({ name, list }) {
      await list(Member, { labelSelector: { team: name } });
    });
    const running = await stage.start(operator);
    await stage.client.create(team("a"));
    await stage.eventually(() =>
      expect(running.explain({ kind: "Team", namespace: stage.namespace, name: "a" })?.turns).toHaveLength(1),
    );
    await stage.client.create(member("x", "a"));
    await stage.eventually(() => {
      const turns = running.explain({ kind: "Team", namespace: stage.namespace, name: "a" })?.turns ?? [];
      const wakes = turns.flatMap(({ woke }) => woke).filter(({ by }) => by === "read");
      expect(wakes.map(({ what }) => what?.replace(/\d+$/, "N"))).toEqual([
        `list of Member in ${stage.namespace} with team=a: ${stage.namespace}/x appeared, version N`,
      ]);
    });
  });
});
