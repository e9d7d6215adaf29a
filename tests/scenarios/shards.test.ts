import { type Client, ConfigMap, Lease, Namespace } from "@lotse/client";
import { FencedError, Operator, type ShardKey, type StartOptions, shards, type WokenObject } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { type Replica, SHARED, startReplica, stateOf, Task } from "./replicas-stage.ts";
import { aborted, gate } from "./sample.ts";
import { useStage } from "./stage.ts";

/** Enough that no member of a few can be without one. */
const MANY = 40;

/** So many are worked on at once, at least. */
const AT_ONCE = 10;

describeOn(clustersUnderTest(), "replicas that share the objects", (cluster) => {
  const stage = useStage(cluster, "shards");
  const { eventually, quiet, logs } = stage;
  let client: Client;
  /** What has happened in whom: `a: create one`. */
  let notes: string[];

  beforeEach(() => {
    ({ client } = stage);
    notes = [];
  });

  const make = (name: string, size = 1) => client.create(new Task({ metadata: { name }, spec: { size } }));
  const makeMany = () => Promise.all(Array.from({ length: MANY }, (_, index) => make(`task-${index}`)));
  const all = async () => (await client.list(Task).toArray()).map(({ body }) => body);
  const healthOf = ({ running }: Replica) => running.health().coordination;
  const shareOf = (replica: Replica) => healthOf(replica)?.share ?? 0;
  const ownedBy = async (replica: string) => (await all()).filter(({ status }) => status?.by === replica);

  /** All know each other, and nothing is between two. */
  const settled = (...replicas: readonly Replica[]) =>
    eventually(() => {
      for (const replica of replicas) expect(healthOf(replica)?.members).toHaveLength(replicas.length);
      expect(replicas.reduce((sum, replica) => sum + shareOf(replica), 0)).toBe(1);
    });

  /** An operator whose handlers say in which replica they run. */
  function tasks(replica: string): Operator {
    const operator = new Operator({ name: "tasks" });
    const note = (text: string) => notes.push(`${replica}: ${text}`);
    operator.on.create(Task, function made({ name, spec, patch }) {
      note(`create ${name}`);
      Object.assign(patch.status, { size: spec.size, by: replica });
    });
    operator.on.update(Task, { field: "spec" }, function changed({ name, spec, patch }) {
      note(`update ${name} to ${spec.size}`);
      Object.assign(patch.status, { size: spec.size, by: replica });
    });
    return operator;
  }

  const start = (replica: string, operator = tasks(replica), options: StartOptions = {}) =>
    startReplica(stage, cluster(), replica, operator, { coordination: SHARED, ...options });

  /** Changes every object, and waits until that is handled. */
  async function changeAll(size: number): Promise<void> {
    for (const { metadata } of await all()) await client.patch(Task, metadata?.name ?? "", { spec: { size } });
    await eventually(async () => expect((await all()).every(({ status }) => status?.size === size)).toBe(true));
  }

  /** The Lease is renewed once more. */
  const renewed = async (name: string) => {
    const before = (await client.get(Lease, name)).body.spec?.renewTime;
    await eventually(async () => expect((await client.get(Lease, name)).body.spec?.renewTime).not.toBe(before));
  };

  it("each works on its part, each object has one of them, and each says which", async () => {
    const replicas = [await start("a"), await start("b"), await start("c")];
    await settled(...replicas);
    await makeMany();
    await eventually(async () => expect((await all()).every(({ status }) => status?.by !== undefined)).toBe(true));
    await quiet();
    expect(notes).toHaveLength(MANY);
    expect(new Set(notes.map((note) => note.slice(3))).size).toBe(MANY);
    expect(replicas.map(stateOf)).toEqual(["working", "working", "working"]);
    for (const replica of replicas) {
      const own = await ownedBy(replica.name);
      expect(own.length).toBeGreaterThan(0);
      expect(shareOf(replica)).toBeGreaterThan(0.2);
      const metrics = replica.running.metrics();
      expect(metrics).toContain(`lotse_owned_objects{kind="Task"} ${own.length}`);
      expect(metrics).toContain('lotse_shard_members{name="tasks"} 3');
      expect(metrics).toMatch(/lotse_shard_share_ratio\{name="tasks"\} 0\.3/);
      const question = { kind: "Task", namespace: stage.namespace, name: own[0]?.metadata?.name ?? "" };
      for (const other of replicas) {
        const state = other === replica ? "waits" : "elsewhere";
        const explanation = other.running.explain(question);
        if (explanation) expect(explanation.state).toBe(state);
      }
    }
    const leases = await client.list(Lease, { labelSelector: { "lotse.dev/operator": "tasks" } }).toArray();
    expect(leases.map(({ name }) => name).toSorted()).toEqual(["tasks-shard-0", "tasks-shard-1", "tasks-shard-2"]);
  });

  it("one that comes gets its part of what there is, and one that goes leaves its part to the others", async () => {
    const a = await start("a");
    await settled(a);
    await makeMany();
    await eventually(async () => expect(await ownedBy("a")).toHaveLength(MANY));
    const b = await start("b");
    await settled(a, b);
    await changeAll(2);
    expect((await ownedBy("a")).length).toBeGreaterThan(0);
    expect((await ownedBy("b")).length).toBeGreaterThan(0);
    await a.running.stop();
    await settled(b);
    await changeAll(3);
    await quiet();
    expect(await ownedBy("b")).toHaveLength(MANY);
    // Each change is handled once: what moves is known to be done.
    expect(notes).toHaveLength(3 * MANY);
    expect(new Set(notes.map((note) => note.slice(3))).size).toBe(3 * MANY);
    expect(logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("nobody begins with an object before the one that had it has ended, and who has lost it writes no more", async () => {
    const began = gate();
    const stopped = gate();
    const end = gate();
    const running = new Map<string, number>();
    let most = 0;
    const slow = (replica: string) => {
      const operator = new Operator({ name: "tasks" });
      operator.on.create(Task, async function work({ name, signal, patch, object }) {
        running.set(name, (running.get(name) ?? 0) + 1);
        most = Math.max(most, ...running.values());
        if (replica === "a") {
          if (running.size >= AT_ONCE) began.open();
          await aborted(signal);
          stopped.open();
          await end.passed;
          const late = await object.patch({ metadata: { labels: { late: "yes" } } }).catch((error: unknown) => error);
          notes.push(late instanceof FencedError ? "refused" : "late");
        }
        running.set(name, (running.get(name) ?? 0) - 1);
        patch.status.by = replica;
      });
      return operator;
    };
    const a = await start("a", slow("a"));
    await settled(a);
    await makeMany();
    await began.passed;
    const b = await start("b", slow("b"));
    await stopped.passed;
    await eventually(() => expect(healthOf(b)?.members).toHaveLength(2));
    for (let renewals = 0; renewals < 2; renewals++) await renewed("tasks-shard-1");
    // It takes part, and waits for what is not over.
    expect([shareOf(b), (await ownedBy("b")).length]).toEqual([0, 0]);
    end.open();
    await eventually(() => expect(shareOf(b)).toBeGreaterThan(0.3));
    await eventually(async () => expect((await ownedBy("b")).length).toBeGreaterThan(0));
    expect([most, new Set(notes)]).toEqual([1, new Set(["refused"])]);
    expect((await all()).filter(({ metadata }) => metadata?.labels?.late !== undefined)).toEqual([]);
  });

  it("objects of one namespace, or of one tenant, stay together where they are told to", async () => {
    const namespaces = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const name = `${stage.namespace}-${index}`;
        await client.create(Namespace.gen({ name }));
        return name;
      }),
    );
    const together = async (by: ShardKey, groupOf: (body: InstanceType<typeof Task>["body"]) => string) => {
      const coordination = shards({ ...SHARED, name: `tasks-${namespaces.length}`, by });
      const two = [
        await start("a", tasks("a"), { coordination, namespaces }),
        await start("b", tasks("b"), { coordination, namespaces }),
      ];
      await settled(...two);
      const everywhere = async () =>
        (await Promise.all(namespaces.map((namespace) => client.list(Task, { namespace }).toArray())))
          .flat()
          .map(({ body }) => body);
      for (const namespace of namespaces) {
        for (const tenant of ["x", "y", "z"]) {
          const metadata = { namespace, name: `of-${tenant}`, labels: { tenant } };
          await client.create(new Task({ metadata, spec: { size: 1 } }));
        }
      }
      await eventually(async () => expect((await everywhere()).every(({ status }) => status?.by)).toBe(true));
      const owners = new Map<string, Set<string | undefined>>();
      for (const body of await everywhere()) {
        const group = groupOf(body);
        owners.set(group, (owners.get(group) ?? new Set()).add(body.status?.by));
        await client.delete(Task, body.metadata?.name ?? "", { namespace: body.metadata?.namespace ?? "" });
      }
      for (const one of owners.values()) expect(one.size).toBe(1);
      await Promise.all(two.map(({ running }) => running.stop()));
    };
    await together("namespace", ({ metadata }) => metadata?.namespace ?? "");
    await together(
      ({ labels }) => labels.tenant ?? "",
      ({ metadata }) => metadata?.labels?.tenant ?? "",
    );
  });

  it("children are worked on where their parent is", async () => {
    const where = new Map<string, string>();
    const parents = (replica: string) => {
      const operator = new Operator({ name: "tasks" });
      operator.children(Task, { id: "maps", owns: [ConfigMap] }, ({ name, spec }) => {
        where.set(name, replica);
        return [ConfigMap.gen({ name: `of-${name}`, data: { size: String(spec.size) } })];
      });
      operator.on.event(ConfigMap, ({ name }) => {
        const note = `${replica}: ${name}`;
        if (name.startsWith("of-") && !notes.includes(note)) notes.push(note);
      });
      return operator;
    };
    const two = [await start("a", parents("a")), await start("b", parents("b"))];
    await settled(...two);
    await makeMany();
    await eventually(() => expect(notes).toHaveLength(MANY));
    await quiet();
    expect(new Set(where.values()).size).toBe(2);
    expect(notes.toSorted()).toEqual([...where].map(([name, replica]) => `${replica}: of-${name}`).toSorted());
  });

  it("timers and daemons run where their object is, sources and schedules in one of them", async () => {
    const beating = new Map<string, Set<string>>();
    let most = 0;
    const background = (replica: string) => {
      const operator = new Operator({ name: "tasks" });
      operator.daemon(Task, async function beat({ name, sleep }) {
        const others = beating.get(name) ?? new Set();
        beating.set(name, others.add(replica));
        most = Math.max(most, others.size);
        try {
          for (;;) await sleep("1m");
        } finally {
          others.delete(replica);
        }
      });
      operator.source("bell", async function* ({ sleep }): AsyncGenerator<WokenObject> {
        notes.push(`${replica}: rings`);
        for (;;) {
          yield { kind: Task, namespace: stage.namespace, name: "task-0" };
          await sleep("1m");
        }
      });
      return operator;
    };
    const beatingIn = (replica: string) => [...beating.values()].filter((one) => one.has(replica)).length;
    const a = await start("a", background("a"));
    await settled(a);
    await makeMany();
    await eventually(() => expect(beatingIn("a")).toBe(MANY));
    expect(notes).toEqual(["a: rings"]);
    const b = await start("b", background("b"));
    await settled(a, b);
    await eventually(() => {
      expect(beatingIn("b")).toBeGreaterThan(0);
      expect(beatingIn("a") + beatingIn("b")).toBe(MANY);
    });
    await a.running.stop();
    await eventually(() => expect(beatingIn("b")).toBe(MANY));
    await eventually(() => expect(notes.at(-1)).toBe("b: rings"));
    expect([most, notes.length]).toEqual([1, 2]);
  });

  it("keep only their own objects in memory, and an index over all of them where one is wanted", async () => {
    const indexed = (own: boolean) => (replica: string) => {
      const operator = tasks(replica);
      operator.index(Task, { id: "names", own }, ({ name }) => ({ all: name }));
      operator.on.probe(({ indexes }) => [...(indexes({ id: "names" } as never).get("all" as never) ?? [])].length);
      return operator;
    };
    const inMemory = ({ running }: Replica) =>
      Number(/lotse_objects\{kind="Task"\} (\d+)/.exec(running.metrics())?.[1] ?? Number.NaN);
    const inIndex = async ({ running }: Replica) => Number(Object.values(await running.probe())[0]);
    const a = await start("a", indexed(true)("a"));
    await settled(a);
    await makeMany();
    await eventually(async () => expect(await ownedBy("a")).toHaveLength(MANY));
    expect([inMemory(a), await inIndex(a)]).toEqual([MANY, MANY]);
    const b = await start("b", indexed(true)("b"));
    await settled(a, b);
    await eventually(async () => {
      expect(inMemory(a) + inMemory(b)).toBe(MANY);
      expect((await inIndex(a)) + (await inIndex(b))).toBe(MANY);
    });
    expect(inMemory(b)).toBeGreaterThan(0);
    expect(await inIndex(b)).toBe(inMemory(b));
    await a.running.stop();
    await eventually(async () => expect([inMemory(b), await inIndex(b)]).toEqual([MANY, MANY]));
    await changeAll(2);
    const c = await start("c", indexed(false)("c"));
    await eventually(async () => expect([inMemory(c), await inIndex(c)]).toEqual([MANY, MANY]));
    await quiet();
    expect(new Set(notes.map((note) => note.slice(3))).size).toBe(notes.length);
  });

  it("reconcilers read all objects of a kind, whoever works on them", async () => {
    const counting = (replica: string) => {
      const operator = tasks(replica);
      operator.reconcile(ConfigMap, { id: "count", labels: { counts: "yes" } }, async ({ name, list }) => {
        const seen = await list(Task, { namespace: stage.namespace });
        const note = `${replica}: ${name} sees ${seen.length}`;
        if (!notes.includes(note)) notes.push(note);
      });
      return operator;
    };
    const two = [await start("a", counting("a")), await start("b", counting("b"))];
    await settled(...two);
    await makeMany();
    await eventually(async () => expect((await all()).every(({ status }) => status?.by !== undefined)).toBe(true));
    for (let i = 0; i < 10; i++) {
      await client.create(new ConfigMap({ metadata: { name: `count-${i}`, labels: { counts: "yes" } } }));
    }
    await eventually(() => {
      for (let i = 0; i < 10; i++) {
        expect(notes).toContainEqual(expect.stringMatching(new RegExp(`: count-${i} sees ${MANY}$`)));
      }
    });
  });

  it("one whose Lease was taken away works on nothing until it has another, and everything is worked on", async () => {
    const a = await start("a");
    const b = await start("b");
    await settled(a, b);
    await (await client.get(Lease, "tasks-shard-0")).patch({ spec: { holderIdentity: "" } });
    await eventually(() =>
      expect(logs.map(({ message }) => message)).toContain("this process has lost its Lease, and takes part anew"),
    );
    await settled(a, b);
    await makeMany();
    await eventually(async () => expect((await all()).every(({ status }) => status?.by !== undefined)).toBe(true));
    expect(new Set(notes.map((note) => note.slice(3))).size).toBe(notes.length);
  });

  it("a pause on one of the Leases is one for all of them", async () => {
    const two = [await start("a"), await start("b")];
    await settled(...two);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const pause = (value: string | null) =>
      client.patch(Lease, "tasks-shard-1", { metadata: { annotations: { "lotse.dev/pause": value } } } as never);
    await pause(JSON.stringify({ by: "me", until }));
    await eventually(() => expect(two.map(stateOf)).toEqual(["paused", "paused"]));
    await make("one");
    await quiet();
    expect(notes).toEqual([]);
    await pause(null);
    await eventually(() => expect(notes).toHaveLength(1));
    await eventually(() => expect(two.map(stateOf)).toEqual(["working", "working"]));
  });
});
