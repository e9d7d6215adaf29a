import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { ConfigMap, Node } from "../builtin/index.ts";
import { type Reply, testClient } from "../client/test-cluster.ts";
import { VirtualClock } from "../meta/index.ts";

const map = (name: string, version: string, o: object = {}) => ({
  metadata: { name, namespace: "default", uid: `u-${name}`, resourceVersion: version, ...o },
});

/** A cluster whose lists and watches the test feeds. */
async function cluster(items: object[]) {
  const clock = new VirtualClock();
  const state = { items, events: new PassThrough() };
  const { client, transport } = await testClient(
    ({ query, path }): Reply => {
      if (path.startsWith("/api/v1/namespaces/forbidden")) return { status: 403, body: {} };
      if (query?.watch) {
        state.events = new PassThrough();
        return { events: state.events };
      }
      return { body: { metadata: { resourceVersion: "10" }, items: state.items } };
    },
    { clock },
  );
  const send = async (type: string, object: object) => {
    state.events.write(`${JSON.stringify({ type, object })}\n`);
    await clock.advance(0);
  };
  return { client, transport, clock, state, send };
}

describe("an informer", () => {
  it("makes up deletions and changes that it has missed", async () => {
    const { client, clock, state, send } = await cluster([map("a", "1"), map("b", "2"), map("c", "3")]);
    const informer = client.informer(ConfigMap);
    await informer.synced;
    const told: string[] = [];
    informer.on("added", ({ name }) => told.push(`+${name}`));
    informer.on("updated", ({ name }) => told.push(`~${name}`));
    const stop = informer.on("deleted", ({ name }) => told.push(`-${name}`));
    await clock.advance(0);
    state.items = [map("b", "12"), map("c", "13", { uid: "another" })];
    await send("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    await clock.advance(60_000);
    expect(told).toEqual(["-a", "~b", "-c", "+c"]);
    stop();
    await send("DELETED", map("b", "14"));
    expect(told).toHaveLength(4);
    expect(informer.list().map(({ name }) => name)).toEqual(["c"]);
    expect([...informer]).toHaveLength(1);
    expect(informer.size).toBe(1);
    await informer.close();
    expect(clock.pending).toBe(0);
  });

  it("keeps its indexes when keys change and objects go", async () => {
    const { client, clock, send } = await cluster([map("a", "1", { labels: { x: "1", y: "2" } })]);
    const informer = client.informer(ConfigMap, { indexes: { label: ({ labels }) => Object.keys(labels) } });
    await informer.synced;
    await clock.advance(0);
    expect(informer.by("label", "x").map(({ name }) => name)).toEqual(["a"]);
    await send("MODIFIED", map("a", "11", { labels: { y: "2" } }));
    expect(informer.by("label", "x")).toEqual([]);
    expect(informer.by("label", "y")).toHaveLength(1);
    await send("DELETED", map("a", "12"));
    expect(informer.by("label", "y")).toEqual([]);
    expect(() => informer.by("none", "x")).toThrow('no index "none"');
    await informer.close();
  });

  it("knows objects by namespace and name, and those without a namespace", async () => {
    const { client } = await cluster([map("a", "1"), map("a", "2", { namespace: "other", uid: "o" })]);
    await using informer = client.informer(ConfigMap, { namespace: "*" });
    await informer.synced;
    expect(informer.get("a", { namespace: "other" })?.uid).toBe("o");
    expect(informer.has("a")).toBe(false);
    expect(informer.list({ namespace: "default" })).toHaveLength(1);
    const { client: nodes } = await cluster([{ metadata: { name: "n", uid: "n" } }]);
    await using known = nodes.informer(Node);
    await known.synced;
    expect(known.get("n")).toBeInstanceOf(Node);
  });

  it("tells what it waits for", async () => {
    const { client, clock } = await cluster([]);
    await using informer = client.informer(ConfigMap, { namespace: "forbidden" });
    const phases: string[] = [];
    informer.on("state", ({ phase }) => phases.push(phase));
    await clock.advance(0);
    expect(phases).toContain("waiting");
    expect(informer.state).toMatchObject({ phase: "waiting", error: { status: 403 } });
  });

  it("ends with its signal, and says so to those who still wait", async () => {
    const { client, clock } = await cluster([]);
    const ended = new AbortController();
    const informer = client.informer(ConfigMap, { namespace: "forbidden", signal: ended.signal });
    const waiting = informer.synced.catch((error: unknown) => error);
    await clock.advance(0);
    ended.abort(new Error("enough"));
    expect(await waiting).toMatchObject({ message: "enough" });
    await informer.closed;
  });

  it("fails with the listener that threw", async () => {
    const { client, clock, send } = await cluster([]);
    const informer = client.informer(ConfigMap);
    await informer.synced;
    await clock.advance(0);
    informer.on("added", () => {
      throw new Error("my mistake");
    });
    const closed = informer.closed.catch((error: unknown) => error);
    await send("ADDED", map("a", "11"));
    expect(await closed).toMatchObject({ message: "my mistake" });
  });
});
