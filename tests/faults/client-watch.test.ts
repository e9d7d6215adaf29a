/**
 * Everything that can happen to a watch, as one list, for each of the client's three ways to watch: nothing is missed,
 * nothing is told twice, deletions that nobody saw are made up, and nothing is left behind.
 */
import { getEventListeners } from "node:events";
import { Client, ConfigMap, Namespace, type StreamState } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { ChaosProxy, type LineFault, type ChaosDecision as Rule } from "@lotse/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fastClock } from "./clock.ts";
import { countingClock, FOLLOWED, type Follower, WAYS } from "./followers.ts";
import { SPEED } from "./pace.ts";
import { CONCURRENT, eventually } from "./trial.ts";

const map = (name: string) => ConfigMap.gen({ name, labels: FOLLOWED, data: { turn: "0" } });

/** What changes while things go wrong: every kind of event, and an object that is another one under the same name. */
async function change(client: Client): Promise<void> {
  await client.patch(ConfigMap, "a", { data: { turn: "1" } });
  await client.delete(ConfigMap, "b");
  await client.create(map("d"));
  await client.delete(ConfigMap, "c");
  await client.create(map("c"));
  await client.patch(ConfigMap, "a", { data: { turn: "2" } });
  await client.delete(ConfigMap, "d");
  await client.create(map("e"));
}

interface Stage {
  readonly proxy: ChaosProxy;
  /** Goes straight to the cluster. */
  readonly direct: Client;
  readonly follower: Follower;
}

interface Fault {
  /** Does harm to a stream that runs while things change. */
  happen(stage: Stage): Promise<void>;
  /** Whether the stream has to list anew: then states in between are nobody's to know. */
  readonly relists: boolean | "perhaps";
}

/** Breaks each event once. */
function atEveryEvent(fault: LineFault, relists = false): Fault {
  return {
    relists,
    async happen({ proxy, direct }) {
      const broken = new Set<string>();
      const each = (line: string) => {
        if (fault !== "twice" && broken.has(line)) return "pass";
        broken.add(line);
        return fault;
      };
      proxy.rule = ({ verb }) => (verb === "watch" ? { type: "lines", each } : undefined);
      proxy.cutWatches();
      await change(direct);
    },
  };
}

/** The first `count` watches from now on; those after them pass. */
function firstWatches(count: number, fault: ReturnType<Rule>): Rule {
  let left = count;
  return ({ verb }) => (verb === "watch" && left-- > 0 ? fault : undefined);
}

/** Nobody gets through while things change; then `next` decides. */
async function cutOff({ proxy }: Stage, next: Rule, meanwhile: () => Promise<void>): Promise<void> {
  proxy.rule = () => ({ type: "reset" });
  proxy.cutWatches();
  await meanwhile();
  proxy.rule = next;
}

const waits = (states: readonly StreamState[], status: number) =>
  states.filter(
    ({ phase, error }) => phase === "waiting" && (error as { status?: number } | undefined)?.status === status,
  );

const FAULTS: Readonly<Record<string, Fault>> = {
  "is cut before each event": atEveryEvent("cut before"),
  "is cut after each event": atEveryEvent("cut after"),
  "brings half a line of each event": atEveryEvent("cut inside"),
  "brings each event twice": atEveryEvent("twice"),
  "is told by an event at each event that its version is gone (410)": atEveryEvent("expire", true),
  "stalls in the middle": {
    relists: false,
    async happen({ proxy, direct }) {
      let count = 0;
      const each = () => (++count === 3 ? "stall" : "pass");
      proxy.rule = ({ verb }) => (verb === "watch" ? { type: "lines", each } : undefined);
      proxy.cutWatches();
      await change(direct);
    },
  },
  "gets no answer at all": {
    relists: false,
    async happen({ proxy, direct }) {
      proxy.rule = firstWatches(1, { type: "mute" });
      proxy.cutWatches();
      await change(direct);
    },
  },
  "is told by a status that its version is gone (410)": {
    relists: true,
    happen: (stage) => cutOff(stage, firstWatches(2, { type: "answer", status: 410 }), () => change(stage.direct)),
  },
  "is told to come back later (429 with Retry-After)": {
    relists: false,
    async happen({ proxy, direct, follower }) {
      proxy.rule = firstWatches(2, { type: "answer", status: 429, retryAfter: 20 });
      proxy.cutWatches();
      await change(direct);
      await eventually(() => expect(waits(follower.states, 429)).toHaveLength(2));
      for (const { since, retryAt = 0 } of waits(follower.states, 429)) expect(retryAt - since).toBeGreaterThan(15_000);
    },
  },
  "is refused by a server that is going down (500)": {
    relists: "perhaps",
    happen: (stage) => cutOff(stage, firstWatches(3, { type: "answer", status: 500 }), () => change(stage.direct)),
  },
  "finds an empty list where objects were": {
    relists: true,
    async happen(stage) {
      await cutOff(stage, firstWatches(1, { type: "answer", status: 410 }), async () => {
        for (const name of ["a", "b", "c"]) await stage.direct.delete(ConfigMap, name);
      });
      await eventually(() => expect(stage.follower.ledger.held).toEqual([]));
    },
  },
  "finds a list that is cut in the middle": {
    relists: true,
    happen: (stage) => {
      let lists = 0;
      const gone = firstWatches(1, { type: "answer", status: 410 });
      const rule: Rule = (request) => {
        if (request.verb !== "list") return gone(request);
        return ++lists <= 2 ? { type: "halve" } : undefined;
      };
      return cutOff(stage, rule, () => change(stage.direct));
    },
  },
};

/** `npm test` tries each fault with one of the ways, `npm run test:full` with all of them. */
const tried = (way: string) => {
  const turn = Object.keys(WAYS).indexOf(way);
  const all = Object.entries(FAULTS);
  return process.env.LOTSE_FULL === "1" ? all : all.filter((_, i) => i % Object.keys(WAYS).length === turn);
};

describe.each(Object.entries(WAYS))("%s", (way, follow) => {
  let cluster: Cluster;
  let admin: Client;
  const epoch = Date.now();
  const ended: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, clock: fastClock(epoch, SPEED) });
    admin = await cluster.connect();
  });

  afterAll(async () => {
    await Promise.all(ended.map((end) => end()));
    await admin?.close();
    await cluster?.stop();
  });

  /** A namespace with objects, a proxy before the cluster, one who follows through it, and one who needs no proxy. */
  async function stage() {
    const { name: namespace } = await admin.create(Namespace.gen({ generateName: "watch-" }));
    const direct = admin.inNamespace(namespace);
    await direct.create(["a", "b", "c"].map(map));
    const proxy = await ChaosProxy.open(cluster.url);
    const clock = countingClock(fastClock(epoch, SPEED));
    // Ten minutes of the fast clock: a busy machine must not look like a server that does not answer.
    const { token } = cluster;
    const client = await Client.connect({ url: proxy.url, token, namespace, clock, random: () => 0, timeout: "10m" });
    const stop = new AbortController();
    const follower = follow(client, stop.signal);
    const witness = follow(direct, stop.signal);
    const close = async () => {
      stop.abort(new Error("the test is over"));
      await Promise.all([follower.ended, witness.ended]);
      await client.close();
    };
    ended.push(async () => {
      await close();
      await proxy.close();
    });
    const listening = ({ states }: Follower) => expect(states.at(-1)?.phase).toBe("watching");
    await eventually(() => [follower, witness].map(listening));
    return { proxy, direct, client, clock, follower, witness, close, stop };
  }

  it.for(tried(way))("that %s tells the truth", CONCURRENT, async ([, fault]) => {
    const { proxy, direct, clock, follower, witness, close, stop } = await stage();
    await fault.happen({ proxy, direct, follower });
    await direct.create(map("last"));
    const listed = await direct.list(ConfigMap, { labelSelector: FOLLOWED }).toArray();
    const truth = listed.map(({ name, metadata }) => `${name}@${metadata.resourceVersion}`).sort();
    await eventually(() => {
      expect(witness.ledger.held).toEqual(truth);
      expect(follower.ledger.held).toEqual(truth);
    });
    expect(follower.ledger.wrong).toEqual([]);
    expect(proxy.injected).toBeGreaterThan(0);
    const lists = proxy.requests.filter(({ verb }) => verb === "list").length;
    if (fault.relists === true) expect(lists).toBeGreaterThan(1);
    if (fault.relists === false) {
      expect(follower.ledger.entries).toEqual(witness.ledger.entries);
      expect(lists).toBe(1);
    }
    await close();
    expect(clock.pending).toBe(0);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
    await eventually(() => expect(proxy.connections).toBe(0));
  });

  it("keeps nothing of connections that are over", { timeout: 300_000 }, async () => {
    const { proxy, direct, clock, follower, close, stop } = await stage();
    const complaints: Error[] = [];
    const onWarning = (warning: Error) => complaints.push(warning);
    process.on("warning", onWarning);
    let cuts = 0;
    const each = (): LineFault => {
      cuts++;
      return "cut after";
    };
    const reconnect = async (times: number) => {
      proxy.rule = ({ verb }) => (verb === "watch" ? { type: "lines", each } : undefined);
      proxy.cutWatches();
      const target = follower.ledger.entries.length + times;
      for (let i = 0; i < times; i++) await direct.patch(ConfigMap, "a", { data: { turn: `${target}-${i}` } });
      await eventually(() => expect(follower.ledger.entries).toHaveLength(target));
      proxy.rule = () => undefined;
      proxy.cutWatches();
    };
    /** What is there when everything is calm: one connection, and one timer that looks after it. */
    const calm = (expected: object) =>
      eventually(() => {
        const kept = { timers: clock.pending, listeners: getEventListeners(stop.signal, "abort").length };
        expect(follower.states.at(-1)?.phase).toBe("watching");
        expect(proxy.connections).toBeLessThanOrEqual(2);
        expect({ ...kept, objects: follower.kept }).toMatchObject({ timers: 1, ...expected });
        return { ...kept, objects: follower.kept };
      });
    await reconnect(10);
    const early = await calm({});
    await reconnect(40);
    await calm(early);
    expect(cuts).toBeGreaterThanOrEqual(50);
    expect(proxy.requests.filter(({ verb }) => verb === "list")).toHaveLength(1);
    expect(follower.ledger.wrong).toEqual([]);
    await close();
    process.off("warning", onWarning);
    expect(complaints).toEqual([]);
  });

  it("lives through an hour in which nothing happens, and then hears what does", async () => {
    const clock = new VirtualClock();
    await using quiet = await Cluster.start({ tls: false, clock, random: () => 0 });
    await using client = await quiet.connect({ clock, random: () => 0 });
    await using other = await quiet.connect({ clock });
    await client.create(map("a"));
    const stop = new AbortController();
    const follower = follow(client, stop.signal);
    await eventually(() => expect(follower.states.at(-1)?.phase).toBe("watching"));
    for (let seconds = 0; seconds < 3_600; seconds += 15) {
      // The cluster lives on elsewhere and forgets its past: only bookmarks keep the version young.
      if (seconds % 300 === 150) {
        await other.create(ConfigMap.gen({ name: `elsewhere-${seconds}` }));
        quiet.compact();
      }
      await clock.advance(15_000);
      // Sockets know nothing of virtual time: what was written is read before an answer to a later request is.
      for (let i = 0; i < 2; i++) await other.raw({ method: "GET", path: "/readyz" });
    }
    expect(follower.ledger.entries).toHaveLength(1);
    await client.patch(ConfigMap, "a", { data: { turn: "1" } });
    await eventually(() => expect(follower.ledger.entries).toHaveLength(2));
    expect(follower.states.filter(({ phase }) => phase === "listing")).toHaveLength(1);
    expect(follower.states.filter(({ phase }) => phase === "waiting")).toEqual([]);
    // The server ends each watch after five minutes, as it was asked to.
    expect(follower.states.filter(({ phase }) => phase === "watching").length).toBeGreaterThanOrEqual(12);
    stop.abort(new Error("the test is over"));
    await follower.ended;
  });
});
