/**
 * What Kopf's own suite does with its examples, done with these: the object is created, is given time, and is deleted.
 * No handler is called again once it has succeeded or failed for good; how often each is called is exact.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { type Harness, type HarnessOptions, startHarness } from "@lotse/testing";
import { type Duration, type Operator, peering, type RunningOperator } from "lotse";
import { type Client, Event, loadManifests, Pod } from "lotse/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import minimal from "./01-minimal.ts";
import children from "./02-children.ts";
import exceptions from "./03-exceptions.ts";
import postedEvents from "./04-events.ts";
import handlers from "./05-handlers.ts";
import giveWay from "./06-peering.ts";
import subhandlers from "./07-subhandlers.ts";
import rawEvents from "./08-events.ts";
import testing from "./09-testing.ts";
import builtins from "./10-builtins.ts";
import filtering from "./11-filtering-handlers.ts";
import { main } from "./12-embedded.ts";
import hooks from "./13-hooks.ts";
import daemons from "./14-daemons.ts";
import timers from "./15-timers.ts";
import indexing from "./16-indexing.ts";
import allAtOnce from "./99-all-at-once.ts";
import { KopfExample } from "./kopf-example.ts";

const NAME = "kopf-example-1";

/** An operator at work in time that passes when the test says so, or as fast as it can while the operator starts. */
async function open(operator: Operator, options: Omit<HarnessOptions, "clock"> = {}): Promise<Harness> {
  const clock = new VirtualClock();
  let waiting = true;
  const starting = startHarness(operator, { ...options, clock }).finally(() => {
    waiting = false;
  });
  while (waiting) {
    await clock.advance(100);
    await nextTurn();
  }
  const harness = await starting;
  onTestFinished(() => harness.stop());
  return harness;
}

async function create(harness: Harness): Promise<void> {
  for (const object of await loadManifests(new URL("obj.yaml", import.meta.url))) await harness.client.create(object);
  await harness.settle();
}

async function remove(harness: Harness): Promise<void> {
  await harness.client.delete(KopfExample, NAME, { wait: true });
  await harness.settle();
}

/** Created, given some time, deleted. */
async function live(operator: Operator, duration: Duration = "3s"): Promise<Harness> {
  const harness = await open(operator);
  await create(harness);
  await harness.advance(duration);
  await remove(harness);
  return harness;
}

/** How often each handler has been called, by its outcome: `{ "createFn succeeded": 1 }`. */
function calls({ operator }: Harness): Record<string, number> {
  const line = /^lotse_handler_runs_total\{.*handler="([^"]*)",outcome="([^"]*)"\} (\d+)$/gm;
  return Object.fromEntries(
    [...operator.metrics().matchAll(line)].map(([, handler, outcome, count]) => [
      `${handler} ${outcome}`,
      Number(count),
    ]),
  );
}

const lines = ({ logs }: Harness, message: string | RegExp) => logs.find({ message, object: NAME });
const status = async (client: Client) => (await client.get(KopfExample, NAME)).status as Record<string, unknown>;

it("01: the handler is called once, and what it returns is in the status and in kubectl's table", async () => {
  const harness = await open(minimal);
  await create(harness);
  expect(await status(harness.client)).toMatchObject({ createFn: { message: "hello world" } });
  const { columns, rows } = await harness.client.table(KopfExample);
  const message = columns.findIndex(({ name }) => name === "Message");
  expect(rows[0]?.cells[message]).toBe("hello world");
  await remove(harness);
  expect(calls(harness)).toEqual({ "createFn succeeded": 1 });
});

it("02: the pod belongs to the object, is told in its status, and goes with it", async () => {
  const harness = await open(children);
  const { client } = harness;
  await create(harness);
  const [pod, ...more] = await client.list(Pod).toArray();
  expect(more).toEqual([]);
  expect(pod?.name).toMatch(/^kopf-example-1-/);
  expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: "KopfExample", name: NAME, controller: true }]);
  expect(pod?.labels).toEqual({ somelabel: "somevalue" });
  expect(pod?.spec.containers[0]).toMatchObject({
    command: ["sh", "-c", 'echo "FIELD=$FIELD"; sleep 1m'],
    env: [{ name: "FIELD", value: "value" }],
  });
  expect(await status(client)).toMatchObject({ createFn: { children: [pod?.uid] } });
  await remove(harness);
  expect(await client.list(Pod).toArray()).toEqual([]);
  expect(calls(harness)).toEqual({ "createFn succeeded": 1 });
});

it("03: each handler fails in its own way, and none is called after its end", async () => {
  const harness = await live(exceptions, "10s");
  expect(calls(harness)).toEqual({
    "instantFailureOnPurpose failed for good": 1,
    "eventualSuccess waits": 3,
    "eventualSuccess succeeded": 1,
    "eventualFailure failed": 3,
    "instantFailureByAccident failed for good": 1,
  });
  const givenUp = lines(harness, "handler failed for good").map(({ fields }) => fields.handler);
  expect(givenUp.sort()).toEqual(["eventualFailure", "instantFailureByAccident", "instantFailureOnPurpose"]);
});

it("04: the Events are about the object, and about another one", async () => {
  const harness = await live(postedEvents);
  const told: string[] = [];
  for await (const { body } of harness.client.list(Event)) {
    told.push(`${body.type} ${body.reason} ${body.involvedObject.name}: ${body.message}`);
  }
  expect(told.sort()).toEqual([
    "Normal HandlerSucceeded kopf-example-1: createFn succeeded",
    "Normal OtherReason somebody-else: any object can be spoken of",
    "Normal SomeReason kopf-example-1: all is well",
    "Warning SomeReason kopf-example-1: RangeError: an error says its own message",
    "Warning SomeReason kopf-example-1: something is odd",
  ]);
});

describe("05", () => {
  it("all handlers of a cause run once, in their order, and those of other causes do not", async () => {
    const harness = await live(handlers);
    expect(calls(harness)).toEqual({
      "createFn1 succeeded": 1,
      "createFn2 succeeded": 1,
      "fieldFn/spec.field succeeded": 1,
      "deleteFn1 succeeded": 1,
      "deleteFn2 succeeded": 1,
    });
    expect(lines(harness, /^(created|deleted)/).map(({ message }) => message)).toEqual([
      "created, the first",
      "created, the second",
      "deleted, the first",
      "deleted, the second",
    ]);
  });

  it("an object that was handled before is resumed after a restart, and a change is told to those whom it concerns", async () => {
    const harness = await open(handlers);
    await create(harness);
    await harness.restart();
    expect(calls(harness)).toEqual({ "resumeFn1 succeeded": 1, "resumeFn2 succeeded": 1 });
    await harness.client.patch(KopfExample, NAME, { spec: { duration: "2m" } });
    await harness.settle();
    await harness.client.patch(KopfExample, NAME, { spec: { field: "other" } });
    await harness.settle();
    expect(calls(harness)).toMatchObject({ "updateFn succeeded": 2, "fieldFn/spec.field succeeded": 1 });
    expect(lines(harness, "the field has changed").at(-1)?.fields).toMatchObject({ old: "value", new: "other" });
  });
});

it("06: the higher priority works, the other pauses and goes on when it leaves, and both pause while frozen", async () => {
  const kinds = await loadManifests(new URL("peering-kinds.yaml", import.meta.url));
  const objects = [...kinds, ...(await loadManifests(new URL("peering.yaml", import.meta.url)))];
  // With exactly the role that `lotse generate deploy` makes of it.
  const harness = await startHarness(giveWay, { objects, rbac: { rules: [] } });
  onTestFinished(() => harness.stop());
  const { client } = harness;
  const said: string[] = [];
  const state = (one: RunningOperator) => one.health().coordination?.state;
  const becomes = (one: RunningOperator, expected: string) =>
    vi.waitFor(() => expect(state(one)).toBe(expected), { timeout: 170_000 });
  const handled = async (name: string) => {
    await client.create(new KopfExample({ metadata: { name }, spec: {} }));
    const who = () => [
      ...harness.logs.find({ message: "something is logged here", object: name }).map(() => "deployed"),
      ...said.filter((one) => one === name).map(() => "developer"),
    ];
    await vi.waitFor(() => expect(who()).not.toEqual([]), { timeout: 170_000 });
    return who();
  };
  const deployed = harness.operator;
  await becomes(deployed, "working");
  expect(await handled("first")).toEqual(["deployed"]);
  const developer = giveWay.start({
    client: await harness.cluster.connect(),
    coordination: peering({ priority: 666 }),
    log: ({ message, object }) => message === "something is logged here" && said.push(object?.name ?? ""),
  });
  await becomes(developer, "working");
  expect(deployed.health().coordination).toMatchObject({
    state: "paused",
    holder: developer.health().coordination?.identity,
  });
  expect(await handled("second")).toEqual(["developer"]);
  await developer.stop();
  await becomes(deployed, "working");
  expect(await handled("third")).toEqual(["deployed"]);
  // As `lotse freeze --peering default` and `kopf freeze --peering default` do.
  const freeze = (record: object | null) =>
    client.patch("clusterkopfpeerings.kopf.dev", "default", { status: { ada: record } } as never);
  await freeze({ priority: 100, lifetime: 600, lastseen: new Date().toISOString() });
  await becomes(deployed, "paused");
  await freeze(null);
  expect(await handled("fourth")).toEqual(["deployed"]);
  expect(harness.refusals()).toEqual([]);
});

it("07: each item is handled once, in a step of its own", async () => {
  const harness = await live(subhandlers);
  expect(lines(harness, "the item is handled").map(({ fields }) => fields.item)).toEqual(["item1", "item2"]);
  expect(calls(harness)).toEqual({ "createFn succeeded": 1 });
});

it("08: both handlers get every event, the failing one disturbs nobody, and nothing is written", async () => {
  const harness = await live(rawEvents);
  expect(lines(harness, "an event").map(({ fields }) => fields.type)).toEqual(["ADDED", "DELETED"]);
  expect(lines(harness, "event handler failed").map(({ fields }) => fields.error)).toEqual(["oops", "oops"]);
  expect(harness.writes()).toEqual([]);
});

it("09: what the handler logs is about its object", async () => {
  const harness = await live(testing);
  expect(harness.logs.messages({ object: `default/${NAME}`, handler: "createFn" })).toEqual([
    "something is logged here",
    "handler succeeded",
  ]);
});

describe("10", () => {
  const pod = (name: string) => Pod.gen({ name, image: "busybox", command: ["sh", "-c", "sleep 1"] });

  it("a pod is killed after 30 seconds", async () => {
    const harness = await open(builtins);
    await harness.client.create(pod("short"));
    await harness.advance("29s");
    expect(await Pod.ref("short", { client: harness.client }).exists()).toBe(true);
    await harness.advance("2s");
    expect(await Pod.ref("short", { client: harness.client }).exists()).toBe(false);
    expect(harness.logs.messages({ object: "short", handler: "podKiller" })).toContain("the pod is killed now");
  });

  it("a pod that somebody else deletes is not, and pods of the system never are", async () => {
    const harness = await open(builtins, { namespaces: ["default", "kube-like"] });
    await harness.client.create(pod("gone"));
    await harness.client.inNamespace("kube-like").create(pod("system"));
    await harness.settle();
    await harness.client.delete(Pod, "gone", { wait: true });
    await harness.settle();
    expect(harness.logs.messages({ object: "gone", level: "info" })).toEqual([
      "the pod is killed in 30 s",
      "the killing is cancelled",
    ]);
    await harness.advance("1m");
    expect(await Pod.ref("system", { client: harness.client, namespace: "kube-like" }).exists()).toBe(true);
    expect(harness.logs.find({ object: "system" })).toEqual([]);
  });
});

it("11: the handlers run whose filters match, and the daemon as long as its filter does", async () => {
  const harness = await open(filtering);
  await create(harness);
  await harness.advance("5s");
  await harness.client.patch(KopfExample, NAME, { spec: { field: "changed" } });
  await harness.advance("2s");
  await remove(harness);
  expect(Object.keys(calls(harness)).sort()).toEqual(
    [
      "annotationIsAbsent succeeded",
      "annotationIsPresent succeeded",
      "annotationMatches succeeded",
      "changeMatches/spec.field succeeded",
      "daemonMatches/spec.field stopped",
      "filterPasses succeeded",
      "labelIsAbsent succeeded",
      "labelIsPresent succeeded",
      "labelMatches succeeded",
      "labelPasses succeeded",
      "valueIsPresent/spec.field succeeded",
      "valueMatches/spec.field succeeded",
    ].sort(),
  );
  expect(new Set(Object.values(calls(harness)))).toEqual(new Set([1]));
  expect(lines(harness, "the daemon's field matches")).toHaveLength(6);
});

it("12: the program works with its own operator, and goes on when that has stopped", async () => {
  const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  await using cluster = await Cluster.start();
  await using client = await cluster.connect();
  const greetings = await main(client);
  printed.mockRestore();
  expect(greetings).toEqual(["Hello, kopf-example-0!", "Hello, kopf-example-1!", "Hello, kopf-example-2!"]);
  expect(await client.list(KopfExample).toArray()).toEqual([]);
});

describe("13", () => {
  const said = ({ logs }: Pick<Harness, "logs">, handler: string) => logs.messages({ handler, level: "info" });

  it("the hooks run once in their order, the one that fails is tried again, and probes see what is served", async () => {
    const harness = await open(hooks);
    await harness.client.create(Pod.gen({ name: "web", image: "busybox" }));
    await harness.advance("6s");
    expect(await harness.operator.probe()).toEqual({ tasksCount: 1, monitoredObjects: ["default/web"] });
    expect(harness.logs.messages({ object: "web", handler: "podTask", level: "info" })).toEqual([
      "the pod is served in the background",
    ]);
    await harness.stopOperator();
    expect(said(harness, "startupFnSimple")).toEqual(["the list of pods is empty"]);
    expect(said(harness, "startupFnRetried")).toEqual([
      ...Array(3).fill("startup handler failed, will be tried again"),
      "started after all",
    ]);
    expect(harness.logs.find({ handler: "cleanupFn" })).toMatchObject([{ fields: { stillServed: 0 } }]);
  });

  it("the login is asked for the credentials when nobody has brought a client", async () => {
    await using cluster = await Cluster.start();
    const clock = new VirtualClock();
    const messages: string[] = [];
    const folder = await mkdtemp(path.join(tmpdir(), "lotse-kopf-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const kubeconfig = path.join(folder, "config");
    await cluster.writeKubeconfig(kubeconfig);
    vi.stubEnv("KUBECONFIG", kubeconfig);
    onTestFinished(() => void vi.unstubAllEnvs());
    const running = hooks.start({ clock, log: ({ message }) => messages.push(message) });
    onTestFinished(() => running.stop());
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      expect(messages).toContain("the operator is ready");
    }, 170_000);
    expect(messages.filter((message) => message === "started after all")).toHaveLength(1);
    expect(cluster.requests.filter({ resource: "pods" })[0]?.user).toBe("kubernetes-admin");
  });
});

describe("14", () => {
  it("a daemon that fails begins again, and one that ends does so once", async () => {
    const harness = await open(daemons);
    await create(harness);
    expect(await status(harness.client)).toMatchObject({ message: "failed 1 times" });
    await harness.advance("3s");
    expect(await status(harness.client)).toMatchObject({ message: "failed 3 times" });
    await harness.advance("60s");
    expect(await status(harness.client)).toMatchObject({ message: "the company is over" });
    expect(lines(harness, "ping from the one that ends")).toHaveLength(7);
    expect(lines(harness, "ping from the one that stays")).toHaveLength(13);
  });

  it("both end with their object, and see its newest state until then", async () => {
    const harness = await open(daemons);
    await create(harness);
    await harness.advance("4s");
    await harness.client.patch(KopfExample, NAME, { spec: { field: "newer" } });
    await harness.advance("5s");
    await remove(harness);
    const pings = lines(harness, /^ping/);
    expect(new Set(pings.slice(-2).map(({ fields }) => fields.field))).toEqual(new Set(["newer"]));
    await harness.advance("1m");
    expect(lines(harness, /^ping/)).toHaveLength(pings.length);
  });
});

it("15: timers run at their intervals, once the object has been left alone", async () => {
  const harness = await open(timers);
  await create(harness);
  await harness.advance("20s");
  // At 5, 7, 9 … 19 s, and at 10, 14, 18 s.
  expect(calls(harness)).toEqual({ "everyTwoSeconds succeeded": 8, "everyFourSeconds succeeded": 3 });
  await harness.client.patch(KopfExample, NAME, { spec: { field: "newer" } });
  await harness.advance("4s");
  expect(calls(harness)).toEqual({ "everyTwoSeconds succeeded": 8, "everyFourSeconds succeeded": 3 });
  await remove(harness);
  await harness.advance("1m");
  expect(calls(harness)).toEqual({ "everyTwoSeconds succeeded": 8, "everyFourSeconds succeeded": 3 });
  expect(harness.writes()).toEqual([]);
});

it("16: the timer and the probes see the pods as they are", async () => {
  const harness = await open(indexing);
  const { client } = harness;
  await create(harness);
  for (const name of ["web", "db"]) await client.create(Pod.gen({ name, image: "busybox", labels: { app: name } }));
  await client.patch(Pod, "web", { status: { phase: "Running" } }, { subresource: "status" });
  await harness.advance("5s");
  expect(await status(client)).toMatchObject({ runningPods: ["default/web"] });
  expect(await harness.operator.probe()).toEqual({ podCount: 2, podNames: ["db", "web"] });
  const [line] = lines(harness, "pods by label").slice(-1);
  expect(line?.fields.pods).toEqual([
    [["app", "web"], ["web"]],
    [["app", "db"], ["db"]],
  ]);
  await client.delete(Pod, "web", { wait: true });
  await harness.advance("5s");
  expect(await status(client)).toMatchObject({ runningPods: [] });
});

it("99: everything at once, and each handler succeeds as often as it should", async () => {
  const harness = await open(allAtOnce);
  await create(harness);
  await harness.advance("5s");
  expect(await status(harness.client)).toMatchObject({ create1: { jobStatus: 100 }, create2: { jobStatus: 100 } });
  await harness.client.patch(KopfExample, NAME, { spec: { lst: ["a"] } });
  await harness.settle();
  await remove(harness);
  const { "examplePodChange succeeded": podChanges, ...counted } = calls(harness);
  expect(counted).toEqual({
    "startupFnSimple succeeded": 1,
    "startupFnRetried waits": 3,
    "startupFnRetried succeeded": 1,
    "create1 succeeded": 1,
    "create2 failed": 1,
    "create2 succeeded": 1,
    "createPod succeeded": 1,
    "update succeeded": 1,
    "updateLst/spec.lst succeeded": 1,
    "delete succeeded": 1,
  });
  expect(podChanges).toBeGreaterThanOrEqual(1);
  await harness.stopOperator();
  for (const [handler, message] of [
    ["startupFnSimple", "about to start"],
    ["startupFnRetried", "started after all"],
    ["cleanupFn", "cleaned up"],
  ] as const) {
    expect(harness.logs.find({ handler, message })).toHaveLength(1);
  }
});
