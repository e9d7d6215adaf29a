/** What only whole operators show of giving way to each other: whose handlers run, what stops, and that nothing is lost. */
import { rmSync, writeFileSync } from "node:fs";
import { Client, Lease } from "@lotse/client";
import { Cable } from "@lotse/testing";
import { Operator, type PeeringCoordination, peering, TemporaryError } from "lotse";
import { beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { beginRun, runCommand } from "../../packages/lotse/src/cli/terminal/test-io.ts";
import {
  installPeering,
  peeringCrd,
  peeringObject,
} from "../../packages/lotse/src/coordination/peering/test-peering-kinds.ts";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { type Replica, startReplica, stateOf, Task } from "./replicas-stage.ts";
import { aborted, gate } from "./sample.ts";
import { useStage } from "./stage.ts";

describeOn(clustersUnderTest(), "operators that give way", (cluster) => {
  const stage = useStage(cluster, "peering");
  const { eventually, quiet, logs } = stage;
  let client: Client;
  /** What has happened in whom: `low: create one`. */
  let notes: string[];

  beforeAll(async () => {
    const admin = await cluster().connect();
    await installPeering(admin, peeringCrd(true));
    await installPeering(admin, peeringCrd(false));
  });

  beforeEach(() => {
    ({ client } = stage);
    notes = [];
  });

  const meet = () => client.create(peeringObject(stage.namespace));
  const task = (name: string, size = 1) => client.create(new Task({ metadata: { name }, spec: { size } }));
  const resize = async (name: string, size: number) => (await client.get(Task, name)).patch({ spec: { size } });
  const get = async (name: string) => (await client.get(Task, name)).body;
  const by = (name: string, expected: object) =>
    eventually(async () => expect((await get(name)).status).toMatchObject(expected));
  const becomes = (replica: Replica, state: string) => eventually(() => expect(stateOf(replica)).toBe(state));
  const reason = ({ running }: Replica) => running.health().coordination?.reason;

  /** An operator whose handlers say in which process they run. */
  function tasks(process: string): Operator {
    const operator = new Operator({ name: "tasks" });
    const note = (text: string) => notes.push(`${process}: ${text}`);
    operator.on.create(Task, function made({ name, spec, patch }) {
      note(`create ${name}`);
      patch.status.size = spec.size;
      patch.status.by = process;
    });
    operator.on.update(Task, function changed({ name, spec, patch }) {
      note(`update ${name} to ${spec.size}`);
      patch.status.size = spec.size;
      patch.status.by = process;
    });
    operator.on.delete(Task, function removed({ name }) {
      note(`delete ${name}`);
    });
    return operator;
  }

  function peer(name: string, plan: Partial<PeeringCoordination> = {}, operator = tasks(name), as?: Client) {
    const coordination = peering({ identity: name, ...plan });
    return startReplica(stage, cluster(), name, operator, { coordination, ...(as && { client: as }) });
  }

  /** The command as a person has it, in this process. */
  const lotse = (...argv: string[]) =>
    runCommand([...argv, "-n", stage.namespace], {
      env: { KUBECONFIG: cluster().kubeconfigPath, USER: "ada" },
    });

  it("the highest priority works, the others pause and go on when it leaves: each change is handled once", async () => {
    await meet();
    const low = await peer("low");
    await becomes(low, "working");
    await task("one");
    await by("one", { by: "low" });
    const high = await peer("high", { priority: 10 });
    await becomes(high, "working");
    expect(stateOf(low)).toBe("paused");
    expect(reason(low)).toBe("high has the higher priority 10");
    await task("two");
    await resize("one", 7);
    await by("one", { by: "high", size: 7 });
    await by("two", { by: "high" });
    const question = { kind: "Task", namespace: stage.namespace, name: "two" };
    expect(low.running.explain(question)).toMatchObject({ state: "elsewhere", elsewhere: { holder: "high" } });
    expect(
      [low, high].map(({ running }) => /^lotse_peering_working\{.*\} (\d)$/m.exec(running.metrics())?.[1]),
    ).toEqual(["0", "1"]);
    await high.running.stop();
    await becomes(low, "working");
    await resize("two", 8);
    await by("two", { by: "low", size: 8 });
    await quiet();
    expect(notes).toEqual([
      "low: create one",
      ...notes.filter((note) => note.startsWith("high")),
      "low: update two to 8",
    ]);
    expect(notes.filter((note) => note.startsWith("high")).toSorted()).toEqual([
      "high: create two",
      "high: update one to 7",
    ]);
  });

  it("equal ones take turns: the first works, the next takes over what the first has begun", async () => {
    await meet();
    const begun = gate();
    const make = (process: string) => {
      const operator = new Operator({ name: "tasks" });
      operator.on.create(Task, { id: "slow" }, async ({ signal, retry, patch }) => {
        if (retry === 0) throw new TemporaryError("not yet", { delay: 0 });
        notes.push(`${process}: attempt ${retry}`);
        if (process === "first") {
          begun.open();
          notes.push(`first: stopped by ${await aborted(signal)}`);
          signal.throwIfAborted();
        }
        patch.status.by = process;
      });
      return operator;
    };
    const first = await peer("first", {}, make("first"));
    await becomes(first, "working");
    const second = await peer("second", {}, make("second"));
    await becomes(second, "standby");
    expect(reason(second)).toBe("first has the same priority and came first");
    await task("one");
    await begun.passed;
    await first.running.stop();
    await by("one", { by: "second" });
    expect(notes).toEqual(["first: attempt 1", "first: stopped by shutdown", "second: attempt 1"]);
  });

  it("one that is cut off stops before the next begins, and gets its work back when it is there again", async () => {
    await meet();
    const cable = await Cable.open(cluster().url);
    onTestFinished(() => cable.close());
    const far = await connectBy(cable);
    const low = await peer("low");
    // Long enough for a busy machine to renew it, short enough to wait for its end.
    const high = await peer("high", { priority: 10, lifetime: "12s" }, tasks("high"), far);
    await becomes(high, "working");
    await becomes(low, "paused");
    cable.cut();
    await task("one");
    await by("one", { by: "low" });
    expect(stateOf(high)).not.toBe("working");
    expect(reason(high)).toBeDefined();
    await eventually(() =>
      expect(logs.map(({ message }) => message)).toContain("dead peers are removed from the peering object"),
    );
    cable.heal();
    await becomes(high, "working");
    await becomes(low, "paused");
    await resize("one", 5);
    await by("one", { by: "high", size: 5 });
    await quiet();
    expect(notes).toEqual(["low: create one", "high: update one to 5"]);
  });

  it("all stop for `lotse freeze --peering`, and after `lotse resume` nothing of that time is lost", async () => {
    await meet();
    const beating = new Set<string>();
    const begun = gate();
    const operator = tasks("a");
    operator.daemon(Task, { id: "beat", labels: { beats: "yes" } }, async ({ name, signal }) => {
      beating.add(name);
      notes.push(`a: ${name} stops beating by ${await aborted(signal)}`);
      beating.delete(name);
    });
    let runs = 0;
    operator.on.create(Task, { id: "long", labels: { long: "yes" } }, async ({ name, signal, patch }) => {
      patch.status.beats = ++runs;
      if (runs > 1) return;
      begun.open();
      notes.push(`a: ${name} is interrupted by ${await aborted(signal)}`);
    });
    const a = await peer("a", {}, operator);
    await becomes(a, "working");
    await client.create(new Task({ metadata: { name: "beating", labels: { beats: "yes" } }, spec: {} }));
    await task("changed");
    await task("removed");
    await by("removed", { by: "a" });
    await by("changed", { by: "a" });
    await eventually(() => expect([...beating]).toEqual(["beating"]));
    await client.create(new Task({ metadata: { name: "long", labels: { long: "yes" } }, spec: {} }));
    await begun.passed;
    const frozen = await lotse("freeze", "--peering", "default", "--lifetime", "1h", "--message", "a restore");
    expect(frozen.code, frozen.err).toBe(0);
    // It was waited for: nothing runs any more when the command ends.
    expect([stateOf(a), [...beating]]).toEqual(["paused", []]);
    expect(reason(a)).toMatch(/^ada@.* has the higher priority 100: a restore$/);
    expect(notes).toEqual(
      expect.arrayContaining(["a: beating stops beating by ownership", "a: long is interrupted by ownership"]),
    );
    notes.splice(0);
    await task("new", 3);
    await resize("changed", 2);
    await resize("changed", 4);
    await client.delete(Task, "removed");
    await task("unseen");
    await client.delete(Task, "unseen", { wait: true });
    await quiet();
    expect(notes).toEqual([]);
    expect((await get("removed")).metadata?.deletionTimestamp).toBeDefined();
    expect((await lotse("resume", "--peering", "default")).code).toBe(0);
    await by("new", { size: 3 });
    await by("changed", { size: 4 });
    await by("long", { beats: 2 });
    await eventually(async () => expect(await names()).toEqual(["beating", "changed", "long", "new"]));
    await eventually(() => expect([...beating]).toEqual(["beating"]));
    await quiet();
    // What ran in the turn that was interrupted was not written down, and counts as not done.
    expect(notes.toSorted()).toEqual([
      "a: create long",
      "a: create new",
      "a: delete removed",
      "a: update changed to 4",
    ]);
  });

  it("a developer's process has priority 666: the deployed one pauses until it ends, by its peering", async () => {
    await meet();
    const deployed = await peer("deployed", { priority: 100 });
    await becomes(deployed, "working");
    await using developer = develop({ peering: "default" });
    await becomes(deployed, "paused");
    expect(reason(deployed)).toMatch(/ has the higher priority 666$/);
    await task("one");
    await by("one", { by: "developer" });
    expect(await developer.end()).toBe(0);
    await becomes(deployed, "working");
    await resize("one", 2);
    await by("one", { by: "deployed", size: 2 });
    await quiet();
    expect(notes).toEqual(["developer: create one", "deployed: update one to 2"]);
  });

  it("a developer's process has the deployed one pause by its Lease where there is no peering", async () => {
    const deployed = await startReplica(stage, cluster(), "deployed", tasks("deployed"));
    await becomes(deployed, "working");
    await using developer = develop({});
    await becomes(deployed, "paused");
    expect(reason(deployed)).toMatch(/^paused by .*: lotse run --dev$/);
    await task("one");
    await by("one", { by: "developer" });
    expect(await developer.end()).toBe(0);
    await becomes(deployed, "working");
    await resize("one", 2);
    await by("one", { by: "deployed", size: 2 });
    await quiet();
    expect(notes).toEqual(["developer: create one", "deployed: update one to 2"]);
  });

  it("replicas with a Lease pause by an annotation alone, and go on with what has happened meanwhile", async () => {
    const a = await startReplica(stage, cluster(), "a", tasks("a"));
    await becomes(a, "working");
    const b = await startReplica(stage, cluster(), "b", tasks("b"));
    await task("changed");
    await task("removed");
    await by("removed", { by: "a" });
    await by("changed", { by: "a" });
    await quiet();
    notes.splice(0);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await annotate(JSON.stringify({ by: "ada", until, message: "a restore" }));
    for (const one of [a, b]) {
      await becomes(one, "paused");
      expect(reason(one)).toBe("paused by ada: a restore");
    }
    await task("new", 3);
    await resize("changed", 4);
    await client.delete(Task, "removed");
    await quiet();
    expect(notes).toEqual([]);
    const question = { kind: "Task", namespace: stage.namespace, name: "new" };
    await eventually(() =>
      expect(a.running.explain(question)).toMatchObject({ state: "elsewhere", elsewhere: { state: "paused" } }),
    );
    await annotate(null);
    await by("new", { by: "a", size: 3 });
    await by("changed", { by: "a", size: 4 });
    await eventually(async () => expect(await names()).toEqual(["changed", "new"]));
    await quiet();
    expect(stateOf(b)).toBe("standby");
    expect(notes.toSorted()).toEqual(["a: create new", "a: delete removed", "a: update changed to 4"]);
  });

  it("replicas with a Lease stop for `lotse freeze`, until `lotse resume` or the end of the time", async () => {
    const a = await startReplica(stage, cluster(), "a", tasks("a"));
    await becomes(a, "working");
    expect(await lotse("freeze", "tasks", "--lifetime", "1h")).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^peering-\d+\/tasks: paused for 1h by ada@.* with priority 100, .* writes nothing any more\n/,
      ),
    });
    expect(stateOf(a)).toBe("paused");
    await task("one");
    expect(await lotse("resume", "tasks")).toMatchObject({ code: 0, out: expect.stringContaining("is over") });
    await by("one", { by: "a" });
    expect((await lotse("freeze", "tasks", "--lifetime", "2s")).code).toBe(0);
    await resize("one", 2);
    await by("one", { by: "a", size: 2 });
    await quiet();
    expect(notes).toEqual(["a: create one", "a: update one to 2"]);
    expect(logs.filter(({ message }) => message === "the pause is over")).toHaveLength(2);
  });

  const names = async () => (await client.list(Task).toArray()).map(({ name }) => name).toSorted();

  /** As `kubectl annotate lease tasks` does. */
  const annotate = (value: string | null) =>
    client.patch(Lease, "tasks", { metadata: { annotations: { "lotse.dev/pause": value } } } as never);

  /** A client whose connection the test can cut. */
  async function connectBy(cable: Cable): Promise<Client> {
    const config = cluster().kubeconfig as { clusters?: { name: string; cluster: object }[] };
    const clusters = config.clusters?.map((one) => ({ ...one, cluster: { ...one.cluster, server: cable.url } }));
    const file = `${cluster().kubeconfigPath}-${stage.namespace}`;
    writeFileSync(file, JSON.stringify({ ...config, clusters }), { mode: 0o600 });
    const far = await Client.connect({ kubeconfig: file });
    onTestFinished(async () => {
      await far.close();
      rmSync(file);
    });
    return far.inNamespace(stage.namespace);
  }

  /** `lotse run --dev` of the same operator. */
  function develop(flags: { readonly peering?: string }) {
    const options = { ...flags, dev: true, yes: true, kubeconfig: cluster().kubeconfigPath, installCrds: false };
    const loaded = [{ file: "tasks.ts", operator: tasks("developer") }];
    return beginRun(loaded, { ...options, namespace: [stage.namespace] }, { env: { USER: "ada" } });
  }
});
