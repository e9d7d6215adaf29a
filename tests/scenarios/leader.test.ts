import { type Client, ConfigMap, Event } from "@lotse/client";
import {
  FencedError,
  leader,
  Operator,
  type SettingsInput,
  type StartOptions,
  TemporaryError,
  type WokenObject,
} from "lotse";
import { beforeEach, expect, it } from "vitest";
import { fastClock } from "../faults/clock.ts";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import {
  freeLease,
  listsOf,
  type Replica,
  startReplica,
  stateOf,
  stealLease,
  Task,
  writesOf,
} from "./replicas-stage.ts";
import { aborted, gate } from "./sample.ts";
import { useStage } from "./stage.ts";

describeOn(clustersUnderTest(), "of two replicas with a leader", (cluster) => {
  const stage = useStage(cluster, "leader");
  const { eventually, quiet, logs } = stage;
  let client: Client;
  /** What has happened in whom: `a: create one`. */
  let notes: string[];

  beforeEach(() => {
    ({ client } = stage);
    notes = [];
  });

  const task = (name: string, size = 1) => client.create(new Task({ metadata: { name }, spec: { size } }));
  const get = async (name: string) => (await client.get(Task, name)).body;
  const working = (replica: Replica) => eventually(() => expect(stateOf(replica)).toBe("working"));

  /** An operator whose handlers say in which replica they run. */
  function tasks(replica: string, settings: SettingsInput = {}): Operator {
    const operator = new Operator({ name: "tasks", settings });
    const note = (text: string) => notes.push(`${replica}: ${text}`);
    operator.on.create(Task, function made({ name, spec, patch }) {
      note(`create ${name}`);
      patch.status.size = spec.size;
      patch.status.by = replica;
    });
    operator.on.update(Task, function changed({ name, spec, patch }) {
      note(`update ${name} to ${spec.size}`);
      patch.status.size = spec.size;
      patch.status.by = replica;
    });
    return operator;
  }

  /** Two replicas, of which the first one leads. */
  async function two(make: (replica: string) => Operator, options?: StartOptions): Promise<[Replica, Replica]> {
    const a = await startReplica(stage, cluster(), "a", make("a"), options);
    await working(a);
    return [a, await startReplica(stage, cluster(), "b", make("b"), options)];
  }

  it("one works, and the other one is warm: ready, with full indexes, and without a handler or a write", async () => {
    const make = (replica: string) => {
      const operator = tasks(replica);
      operator.index(Task, { id: "bySize" }, ({ spec, name }) => ({ [spec.size]: name }));
      operator.on.probe(({ indexes }) => {
        const index = indexes({ id: "bySize" });
        return [...index.keys()].map(String).toSorted();
      });
      return operator;
    };
    const [a, b] = await two(make);
    await task("one", 1);
    await task("two", 2);
    await eventually(async () => expect((await get("two")).status).toMatchObject({ by: "a" }));
    await eventually(() => expect(b.running.metrics()).toMatch(/lotse_objects\{kind="Task"\} 2/));
    await quiet();
    expect(notes.toSorted()).toEqual(["a: create one", "a: create two"]);
    expect([stateOf(a), stateOf(b)]).toEqual(["working", "standby"]);
    const { phase, missing, streams } = b.running.health();
    expect({ phase, missing }).toEqual({ phase: "ready", missing: [] });
    expect(streams.filter((stream) => stream.phase === "waiting" && !stream.optional)).toEqual([]);
    expect(writesOf(b).filter((one) => !one.includes("customresourcedefinitions"))).toEqual([]);
    expect(Object.values(await b.running.probe())).toEqual([["1", "2"]]);
    expect(a.running.metrics()).toMatch(/lotse_owned_objects\{kind="Task"\} 2/);
    expect(b.running.metrics()).toMatch(/lotse_owned_objects\{kind="Task"\} 0/);
    expect(logs.filter(({ message }) => message === "the operator is ready and stands by")).toHaveLength(2);
    const { namespace } = stage;
    const question = { kind: "Task", namespace, name: "one" };
    const holder = a.running.health().coordination?.identity;
    expect(b.running.explain(question)).toMatchObject({ state: "elsewhere", elsewhere: { state: "standby", holder } });
    expect(b.running.retry(question)).toMatchObject({ handlers: [], elsewhere: { holder } });
    expect(a.running.explain(question)).toMatchObject({ state: "waits" });
  });

  it("the other one goes on after a clean stop, with what is new and what is pending, and without a list", async () => {
    const begun = gate();
    const make = (replica: string) => {
      const operator = tasks(replica);
      operator.on.create(Task, { id: "slow", labels: { slow: "yes" } }, async ({ name, signal, patch }) => {
        if (replica === "a") {
          begun.open();
          notes.push(`a: ${name} was stopped by ${await aborted(signal)}`);
          signal.throwIfAborted();
        }
        notes.push(`${replica}: ${name} is done`);
        patch.status.beats = 1;
      });
      return operator;
    };
    const [a, b] = await two(make);
    await task("one");
    await eventually(async () => expect((await get("one")).status).toMatchObject({ by: "a" }));
    await client.create(new Task({ metadata: { name: "pending", labels: { slow: "yes" } }, spec: {} }));
    await begun.passed;
    await eventually(() => expect(b.running.metrics()).toMatch(/lotse_objects\{kind="Task"\} 2/));
    const lists = listsOf(b).length;
    await a.running.stop();
    await working(b);
    await (await client.get(Task, "one")).patch({ spec: { size: 7 } });
    await task("new");
    await eventually(async () => {
      expect((await get("one")).status).toMatchObject({ size: 7, by: "b" });
      expect((await get("new")).status).toMatchObject({ by: "b" });
      expect((await get("pending")).status).toMatchObject({ beats: 1 });
    });
    await quiet();
    expect(notes.toSorted()).toEqual(
      [
        "a: create one",
        "a: create pending",
        "a: pending was stopped by shutdown",
        "b: pending is done",
        "b: update one to 7",
        "b: create new",
      ].toSorted(),
    );
    expect(listsOf(b)).toHaveLength(lists);
    expect(b.running.explain({ kind: "Task", namespace: stage.namespace, name: "pending" })?.turns[0]).toMatchObject({
      woke: [{ by: "taken over" }],
    });
  });

  it("who loses the Lease is told by its signal, none of its writes leaves, and it stands by", async () => {
    const refused: unknown[] = [];
    const begun = gate();
    const operator = new Operator({ name: "tasks" });
    operator.on.create(Task, { id: "work", retries: 1 }, async ({ name, object, client, signal, patch, adopt }) => {
      begun.open();
      const why = await aborted(signal);
      notes.push(why);
      const writes = [
        () => client.create(adopt(ConfigMap.gen({ name: `of-${name}` }))),
        () => object.patch({ metadata: { labels: { late: "yes" } } }),
        () => client.delete(Task, name),
      ];
      for (const write of writes) await write().catch((error: unknown) => refused.push(error));
      patch.status.by = "the loser";
      if (name === "throws") throw refused[0];
      return "too late";
    });
    const one = await startReplica(stage, cluster(), "a", operator);
    await working(one);
    await task("throws");
    await begun.passed;
    await stealLease(client, "a thief");
    await eventually(() => expect(stateOf(one)).toBe("standby"));
    await eventually(() => expect(refused).toHaveLength(3));
    await quiet();
    expect(notes).toEqual(["ownership"]);
    expect(refused.map((error) => error instanceof FencedError)).toEqual([true, true, true]);
    expect(await get("throws")).not.toHaveProperty("status");
    expect((await get("throws")).metadata?.labels).toBeUndefined();
    expect(await client.list(ConfigMap, { labelSelector: "!kube" }).toArray()).not.toContainEqual(
      expect.objectContaining({ name: "of-throws" }),
    );
    // No failure: no retry was used up, and nobody is warned.
    const problems = logs.filter(({ level, message }) => level === "error" || /failed/.test(message));
    expect(problems).toEqual([]);
    expect(logs.filter(({ message }) => message === "handler was stopped")).toMatchObject([
      { fields: { why: "ownership" } },
    ]);
    expect(await client.list(Event).toArray()).toEqual([]);
    const { turns = [], elsewhere } =
      one.running.explain({ kind: "Task", namespace: stage.namespace, name: "throws" }) ?? {};
    expect(elsewhere).toMatchObject({ holder: "a thief" });
    expect(turns.at(-1)).toMatchObject({ ran: [{ handler: "work", outcome: "stopped" }], wrote: [] });
    expect(one.running.health().phase).toBe("ready");
  });

  it("a handler that ends in spite of its signal has worked in vain: its result is dropped, and made anew", async () => {
    const begun = gate();
    const lost = gate();
    let runs = 0;
    const operator = new Operator({ name: "tasks" });
    operator.on.create(Task, async function work({ patch, logger }) {
      if (++runs === 1) {
        begun.open();
        await lost.passed;
        logger.info("goes on");
      }
      patch.status.beats = runs;
    });
    const one = await startReplica(stage, cluster(), "a", operator);
    await working(one);
    await task("one");
    await begun.passed;
    await stealLease(client, "a thief");
    await eventually(() => expect(one.running.health().coordination?.holder).toBe("a thief"));
    lost.open();
    await eventually(() => expect(stateOf(one)).toBe("standby"));
    await eventually(() =>
      expect(logs.map(({ message }) => message)).toContain("what was done for the object is not written here"),
    );
    expect(await get("one")).not.toHaveProperty("status");
    await freeLease(client);
    await eventually(async () => expect((await get("one")).status).toMatchObject({ beats: 2 }));
  });

  it("each is told when it leads and when it follows, and their handlers end nothing when they fail", async () => {
    const make = (replica: string) => {
      const operator = tasks(replica);
      operator.on.lead(async function begins({ activity, client, signal }) {
        notes.push(`${replica}: ${activity}`);
        await client.apply(ConfigMap.gen({ name: "led", data: { by: replica } }));
        notes.push(`${replica}: ends by ${await aborted(signal)}`);
        await client.apply(ConfigMap.gen({ name: "led", data: { by: "a late word" } })).catch((error: unknown) => {
          notes.push(`${replica}: ${error instanceof FencedError ? "refused" : "stopped"}`);
        });
      });
      operator.on.lead({ errors: "permanent" }, function fails() {
        throw new Error("no");
      });
      operator.on.follow(function ends({ activity }) {
        notes.push(`${replica}: ${activity}`);
      });
      return operator;
    };
    const a = await startReplica(stage, cluster(), "a", make("a"));
    await working(a);
    await eventually(async () => expect((await client.get(ConfigMap, "led")).data).toEqual({ by: "a" }));
    await stealLease(client, "a thief");
    await eventually(() => expect(notes).toEqual(["a: lead", "a: ends by ownership", "a: refused", "a: follow"]));
    expect(logs.filter(({ message }) => message === "lead handler failed for good")).toHaveLength(1);
    expect(a.running.health()).toMatchObject({ phase: "ready", coordination: { state: "standby" } });
    const b = await startReplica(stage, cluster(), "b", make("b"));
    notes.splice(0);
    await a.running.stop();
    await freeLease(client);
    await working(b);
    await eventually(async () => expect((await client.get(ConfigMap, "led")).data).toEqual({ by: "b" }));
    await b.running.stop();
    expect(notes).toEqual(["b: lead", "b: ends by shutdown", "b: stopped"]);
  });

  it("sources and schedules run in the one that leads, and move with the Lease", async () => {
    const make = (replica: string) => {
      // Of the clock below: it has to be long enough on a busy machine.
      const operator = tasks(replica, { process: { killAfter: "2h" } });
      const once = (text: string) => notes.includes(`${replica}: ${text}`) || notes.push(`${replica}: ${text}`);
      operator.timer(Task, { interval: "1d", id: "woken", initialDelay: "1d" }, ({ name }) => {
        once(`${name} was woken`);
      });
      operator.source("bell", async function* ({ signal, sleep }): AsyncGenerator<WokenObject> {
        notes.push(`${replica}: the source begins`);
        try {
          for (;;) {
            yield { kind: Task, namespace: stage.namespace, name: "one" };
            await sleep("10s");
          }
        } finally {
          notes.push(`${replica}: the source ends by ${await aborted(signal)}`);
        }
      });
      operator.schedule("tick", { schedule: "* * * * *" }, async ({ client }) => {
        await client.apply(ConfigMap.gen({ name: "ticks", data: { by: replica } }), { force: true });
        once("ticks");
      });
      return operator;
    };
    // A minute takes half a second, and the Lease has hours.
    const clock = fastClock(Date.now(), 120);
    const coordination = leader({ name: "tasks", duration: "4h", renew: "3h", retry: "1m" });
    const [a, b] = await two(make, { clock, coordination });
    await eventually(() => expect(notes).toEqual(expect.arrayContaining(["a: the source begins", "a: ticks"])));
    expect(notes.filter((one) => one.startsWith("b"))).toEqual([]);
    await task("one");
    await eventually(async () => expect((await get("one")).status).toMatchObject({ by: "a" }));
    await stealLease(client, "a thief");
    await eventually(() => expect(notes).toContain("a: the source ends by ownership"));
    expect([stateOf(a), notes.filter((one) => one.startsWith("b"))]).toEqual(["standby", []]);
    await a.running.stop();
    await freeLease(client);
    await working(b);
    await eventually(() =>
      expect(notes).toEqual(expect.arrayContaining(["b: the source begins", "b: one was woken", "b: ticks"])),
    );
  });

  it("daemons and timers run where their object is, never in both", async () => {
    const beating = new Set<string>();
    let most = 0;
    const make = (replica: string) => {
      const operator = new Operator({ name: "tasks" });
      operator.daemon(Task, async function beat({ signal, patch, sleep }) {
        beating.add(replica);
        most = Math.max(most, beating.size);
        try {
          for (let beats = 1; ; beats++) {
            patch.status.beats = beats;
            patch.status.by = replica;
            await patch.flush();
            await sleep("20ms");
          }
        } finally {
          notes.push(`${replica}: the daemon ends by ${(signal.reason as { why?: string } | undefined)?.why}`);
          beating.delete(replica);
        }
      });
      operator.timer(Task, { interval: "50ms", id: "tick" }, () => {
        if (stateOfNow(replica) !== "working") notes.push(`${replica}: ticks without the Lease`);
        if (!notes.includes(`${replica}: ticks`)) notes.push(`${replica}: ticks`);
      });
      return operator;
    };
    const replicas = new Map<string, Replica>();
    const stateOfNow = (name: string) => {
      const replica = replicas.get(name);
      return replica ? stateOf(replica) : "working";
    };
    const [a, b] = await two(make);
    replicas.set("a", a).set("b", b);
    await task("one");
    await eventually(async () => expect((await get("one")).status).toMatchObject({ by: "a", beats: 3 }));
    await stealLease(client, "a thief");
    await eventually(() => expect(notes).toContain("a: the daemon ends by ownership"));
    await eventually(() => expect(stateOf(a)).toBe("standby"));
    await a.running.stop();
    await freeLease(client);
    await eventually(async () => expect((await get("one")).status).toMatchObject({ by: "b", beats: 3 }));
    expect([most, notes]).toEqual([1, expect.not.arrayContaining([expect.stringContaining("without the Lease")])]);
    await eventually(() => expect(notes).toContain("b: ticks"));
    expect(logs.filter(({ message }) => message.includes("daemon failed"))).toEqual([]);
  });

  it("a retry that waits moves with its deadline and its count of attempts", async () => {
    const make = (replica: string) => {
      const operator = new Operator({ name: "tasks" });
      operator.on.create(Task, { id: "tries" }, ({ retry, started, patch }) => {
        notes.push(`${replica}: attempt ${retry}, begun ${started.toISOString()}`);
        if (retry === 0) throw new TemporaryError("not yet", { delay: "1h" });
        if (retry === 1) throw new TemporaryError("not yet", { delay: 0 });
        patch.status.by = replica;
      });
      return operator;
    };
    const [a, b] = await two(make);
    await task("one");
    await eventually(() => expect(notes).toHaveLength(1));
    const question = { kind: "Task", namespace: stage.namespace, name: "one" };
    await eventually(() =>
      expect(a.running.explain(question)?.open).toMatchObject([{ handler: "tries", attempts: 1 }]),
    );
    const [waiting] = a.running.explain(question)?.open ?? [];
    // The one that stands by reads the same from the object.
    await eventually(() => expect(b.running.explain(question)).toMatchObject({ state: "elsewhere", open: [waiting] }));
    await a.running.stop();
    await working(b);
    await eventually(() => expect(b.running.explain(question)).toMatchObject({ state: "waits", open: [waiting] }));
    await quiet();
    expect(notes).toHaveLength(1);
    expect(b.running.retry(question)?.handlers).toEqual(["tries"]);
    await eventually(async () => expect((await get("one")).status).toMatchObject({ by: "b" }));
    const begun = notes[0]?.split("begun ")[1];
    expect(notes.slice(1)).toEqual([`b: attempt 1, begun ${begun}`, `b: attempt 2, begun ${begun}`]);
  });
});
