import { type Client, ConfigMap, type KindDescription, type KubeBody, NotFoundError } from "@lotse/client";
import { identityKeyOf, objectKeyOf } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { covers, type Kept, keptText, type ReconcileHandler, unionOf } from "../declare/index.ts";
import { newMemory } from "../turn/index.ts";
import { KindView } from "./kind-view.ts";
import { ObjectReader } from "./reader.ts";
import { ReadSession } from "./session.ts";
import { TestObjects } from "./test-objects.ts";
import { TrackedKinds } from "./tracked-kinds.ts";

const KIND = ConfigMap.description;

/** One object with one reconciler, and the config maps that it sees. */
function stage(live: Partial<Client> = {}) {
  const objects = new TestObjects();
  const followed: string[] = [];
  const views = new Map<string, KindView>();
  const viewOf = (kind: KindDescription) => {
    const view = views.get(kind.plural) ?? new KindView(kind, undefined, objects);
    views.set(kind.plural, view);
    return view;
  };
  const tracked = new TrackedKinds(async (kind) => {
    followed.push(kind.plural);
    return viewOf(kind);
  });
  tracked.add(viewOf(KIND));
  const woken: string[] = [];
  const handler = { id: "look" } as ReconcileHandler;
  const memory = newMemory(identityKeyOf(objectKeyOf("one", "t"), "u"), "u", 0);
  const reader = new ObjectReader(handler, memory, (key) => woken.push(key));
  const client = live as Client;
  const session = () => {
    reader.timing = { ...reader.timing, due: false };
    reader.session = new ReadSession({
      onRead: () => {},
      reader,
      tracked,
      client: () => client,
      indexes: (() => new Map([["k", ["v"]]])) as never,
      namespace: "one",
    });
    return reader.session;
  };
  const end = (complete = true) => {
    const over = reader.session as ReadSession;
    reader.session = undefined;
    reader.remember(over, complete);
    return reader.timing.due;
  };
  let version = 0;
  const put = (name: string, labels: Record<string, string> = {}, by?: ObjectReader): KubeBody => {
    const before = objects.get(`one/${name}`);
    const metadata = { namespace: "one", name, labels, uid: `uid-${name}`, resourceVersion: String(++version) };
    const now = { apiVersion: "v1", kind: "ConfigMap", metadata } as KubeBody;
    objects.all.set(`one/${name}`, now);
    viewOf(KIND).changed(before, now, by);
    return now;
  };
  const remove = (name: string, by?: ObjectReader) => {
    const before = objects.get(`one/${name}`);
    objects.all.delete(`one/${name}`);
    viewOf(KIND).changed(before, undefined, by);
    return before as KubeBody;
  };
  return { session, end, put, remove, reader, woken, tracked, followed, reads: viewOf(KIND).reads };
}

describe("a run that has read something", () => {
  it("is woken by a change of it afterwards, and told which read it was", async () => {
    const { session, end, put, woken, reader } = stage();
    await session().reads.get(ConfigMap, "a");
    expect(end()).toBe(false);
    put("b");
    expect(woken).toEqual([]);
    put("a");
    expect(woken).toEqual([identityKeyOf(objectKeyOf("one", "t"), "u")]);
    expect(reader.memory.journal.woke?.map(({ by, what }) => `${by}: ${what}`)).toEqual([
      "read: ConfigMap one/a: one/a appeared, version 2",
    ]);
  });

  it("is due again when somebody else changes it during the run", async () => {
    const { session, end, put } = stage();
    await session().reads.list(ConfigMap, { labelSelector: { app: "web" } });
    put("a", { app: "web" });
    expect(end()).toBe(true);
  });

  it("is not due for what changed before it was read", async () => {
    const { session, end, put } = stage();
    const { reads } = session();
    put("a", { app: "web" });
    expect(await reads.list(ConfigMap, { labelSelector: { app: "web" } })).toHaveLength(1);
    expect(end()).toBe(false);
  });

  it("depends on what it read before as well when it did not get to its end", async () => {
    const { session, end, put, woken, reads } = stage();
    await session().reads.get(ConfigMap, "a");
    end();
    await session().reads.get(ConfigMap, "b");
    end(false);
    expect(reads.size).toBe(2);
    put("a");
    expect(woken).toHaveLength(1);
    await session().reads.get(ConfigMap, "b");
    end();
    expect(reads.size).toBe(1);
  });

  it("depends on nothing any more when it is released", async () => {
    const { session, end, put, reader, woken, reads } = stage();
    await session().reads.get(ConfigMap, "a");
    await reader.session?.reads.exists(ConfigMap, "b");
    end();
    reader.release();
    expect([reads.size, reader.points]).toEqual([0, []]);
    put("a");
    expect(woken).toEqual([]);
  });
});

describe("own writes", () => {
  it("outdate what was read before them, until it is read again", async () => {
    const { session, put, end, reader } = stage();
    const run = session();
    await run.reads.get(ConfigMap, "a");
    expect(run.isStale).toBe(false);
    put("a", {}, reader);
    expect(run.isStale).toBe(true);
    await run.reads.get(ConfigMap, "a");
    expect(run.isStale).toBe(false);
    expect(end()).toBe(false);
  });

  it("that the stream shows before their answer are claimed by the answer, and are then no news", async () => {
    const { session, put, end, reader } = stage();
    const run = session();
    await run.reads.get(ConfigMap, "a");
    await run.reads.list(ConfigMap);
    const written = put("a");
    expect(run.unclaimed).toHaveLength(1);
    reader.claim(written, false);
    expect(run.unclaimed).toEqual([]);
    // Both reads are outdated by it, as by any write of its own.
    expect(run.isStale).toBe(true);
    await run.reads.get(ConfigMap, "a");
    expect(run.isStale).toBe(true);
    await run.reads.list(ConfigMap);
    expect(run.isStale).toBe(false);
    expect(end()).toBe(false);
  });

  it("that are deletions are claimed by uid, whatever the version of the answer", async () => {
    const { session, put, remove, end, reader } = stage();
    put("a");
    const run = session();
    await run.reads.exists(ConfigMap, "a");
    const gone = remove("a");
    reader.claim({ metadata: { ...gone.metadata, resourceVersion: "999" } } as KubeBody, true);
    expect(run.unclaimed).toEqual([]);
    expect(end()).toBe(false);
  });

  it("claim nothing of somebody else's", async () => {
    const { session, put, end, reader } = stage();
    await session().reads.get(ConfigMap, "a");
    const written = put("a");
    const theirs = put("a");
    expect(theirs.metadata?.resourceVersion).not.toBe(written.metadata?.resourceVersion);
    reader.claim(written, false);
    expect(reader.session?.unclaimed).toEqual(["ConfigMap one/a: one/a changed, version 2"]);
    expect(end()).toBe(true);
  });

  it("are known to a run that has looked after all of them itself", async () => {
    const { session, put, reader } = stage();
    const run = session();
    await run.reads.get(ConfigMap, "a");
    put("a", {}, reader);
    run.refresh();
    expect(run.isStale).toBe(false);
  });
});

describe("a read", () => {
  it("is of the object's own namespace unless told", async () => {
    const { session, put, reads } = stage();
    put("a");
    const { reads: read } = session();
    expect((await read.get(ConfigMap, "a"))?.name).toBe("a");
    expect(await read.get(ConfigMap, "a", { namespace: "two" })).toBeUndefined();
    expect(await read.list(ConfigMap, { namespace: "two" })).toEqual([]);
    expect(await read.list(ConfigMap, { namespace: "*" })).toHaveLength(1);
    expect(await read.exists(ConfigMap, "a")).toBe(true);
    expect(reads.size).toBe(5);
  });

  it("gives what nobody can change by accident", async () => {
    const { session, put } = stage();
    put("a", { app: "web" });
    const found = await session().reads.get(ConfigMap, "a");
    expect(Object.isFrozen(found?.body.metadata?.labels)).toBe(true);
  });

  it("of a kind that nobody follows begins to follow it, once for all who ask at the same time", async () => {
    const { session, followed } = stage();
    const secret = { ...KIND, kind: "Secret", plural: "secrets" };
    const { reads } = session();
    await Promise.all([reads.get(secret, "a"), reads.list(secret)]);
    expect(followed).toEqual(["secrets"]);
  });

  it("of the server itself is not remembered, and finds nothing where there is nothing", async () => {
    const get = async () => {
      throw new NotFoundError("not found", { status: 404 } as never);
    };
    const { session, reads } = stage({ get } as never);
    expect(await session().reads.get.live(ConfigMap, "a")).toBeUndefined();
    expect(reads.size).toBe(0);
  });

  it("of an index is remembered under its key", async () => {
    const { session, end, tracked, reader, woken } = stage();
    expect(await session().reads.list({ id: "byNode" } as never, "k" as never)).toEqual(["v"]);
    end();
    tracked.indexReads("byNode").indexChanged("k", { before: undefined, now: undefined, by: undefined });
    expect(woken).toEqual([]);
    const [point] = reader.points;
    expect(point?.text).toBe('index byNode["k"]');
    tracked.indexReads("byNode").indexChanged('"k"', { before: undefined, now: undefined, by: undefined });
    expect(woken).toHaveLength(1);
  });
});

describe("what is read of an object", () => {
  /** A kind of which only some is kept, and which learns more when it is asked for. */
  function narrow(declared?: Kept) {
    const asked: string[] = [];
    let kept: Kept = [];
    const view = new KindView(KIND, undefined, new TestObjects(), (wanted) => covers(kept, wanted));
    const tracked = new TrackedKinds(async (_kind, _class, wanted) => {
      asked.push(keptText(wanted));
      kept = unionOf([kept, wanted]);
      return view;
    });
    tracked.add(view);
    const { reads } = new ReadSession({
      onRead: () => {},
      reader: undefined,
      wanted: () => declared,
      tracked,
      client: () => ({}) as Client,
      indexes: (() => new Map()) as never,
      namespace: "one",
    });
    return { reads, asked };
  }

  it("is all of it where nobody says otherwise, and is asked for once", async () => {
    const { reads, asked } = narrow();
    await reads.list(ConfigMap);
    await reads.get(ConfigMap, "a");
    expect(asked).toEqual(["all"]);
  });

  it("is its metadata where only that it is there is asked", async () => {
    const { reads, asked } = narrow();
    await reads.exists(ConfigMap, "a");
    expect(asked).toEqual([]);
  });

  it("is what the reconciler has declared, or what the read itself says", async () => {
    const { reads, asked } = narrow([["data", "a"]]);
    await reads.get(ConfigMap, "a");
    await reads.get(ConfigMap, "a", { keep: ["data.b"] });
    await reads.list(ConfigMap, { keep: ["data.b", "data.a"] });
    expect(asked).toEqual(['keep: ["data.a"]', 'keep: ["data.b"]']);
  });

  it("is also what a selector looks at: a field that is not kept would match as if it were empty", async () => {
    const { reads, asked } = narrow([]);
    await reads.list(ConfigMap, { fieldSelector: "data.a=1,metadata.name=x" });
    expect(asked).toEqual(['keep: ["data.a"]']);
  });
});
