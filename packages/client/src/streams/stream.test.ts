import { describe, expect, it } from "vitest";
import { describeKind, type KubeBody } from "../kinds/index.ts";
import { VirtualClock } from "../meta/index.ts";
import type { StreamOptions, StreamState } from "./contract.ts";
import { type Answer, type Connection, ScriptedServer } from "./scripted-server.ts";
import { openStream } from "./stream.ts";

const kind = describeKind({ group: "", version: "v1", kind: "Pod" });

const pod = (name: string, resourceVersion: string, extra: object = {}): KubeBody => ({
  metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion, ...extra },
});

const page = (resourceVersion: string, items: KubeBody[], token?: string): Answer => ({
  json: { kind: "PodList", metadata: { resourceVersion, continue: token }, items },
});

const quiet: Answer = { watch: () => undefined };
const watch = (script: (connection: Connection) => void): Answer => ({ watch: script });

async function start(script: Answer[], o: StreamOptions = {}) {
  const clock = new VirtualClock();
  const server = new ScriptedServer(...script);
  const stop = new AbortController();
  const seen: string[] = [];
  const states: StreamState[] = [];
  const bodies: KubeBody[] = [];
  const done = openStream<KubeBody>(
    server,
    kind,
    { namespace: "default", clock, random: () => 0, ...o },
    {
      replace: (items, version) => {
        bodies.push(...items);
        seen.push(`replace ${items.map((item) => item.metadata?.name).join(",")} @${version}`);
      },
      apply: (body, type) => {
        bodies.push(body);
        seen.push(`${type} ${body.metadata?.name}`);
      },
      remove: (body) => seen.push(`remove ${body.metadata?.name}`),
      bookmark: (version) => seen.push(`bookmark @${version}`),
      state: (state) => states.push(state),
    },
    stop.signal,
  );
  await clock.advance(0);
  return { clock, server, stop, seen, states, bodies, done };
}

describe("openStream", () => {
  it("lists page by page, then watches from the list's version with bookmarks", async () => {
    const { server, seen, stop, done } = await start(
      [page("10", [pod("a", "1")], "t1"), page("10", [pod("b", "2")]), quiet],
      {
        labelSelector: { app: "web" },
      },
    );
    expect(seen).toEqual(["replace a,b @10"]);
    expect(server.log).toEqual(["list", "list+t1", "watch@10"]);
    expect(server.requests[0]).toMatchObject({
      path: "/api/v1/namespaces/default/pods",
      query: { limit: 500, labelSelector: "app=web" },
    });
    expect(server.requests[2]).toMatchObject({
      stream: true,
      query: { allowWatchBookmarks: true, labelSelector: "app=web", timeoutSeconds: 300 },
    });
    stop.abort();
    await done;
  });

  it("delivers events in order, and resumes from the last bookmark when the server ends the watch", async () => {
    const { server, seen } = await start([
      page("10", []),
      watch((connection) => {
        connection.send("ADDED", pod("a", "11"));
        connection.send("MODIFIED", pod("a", "12"));
        connection.send("DELETED", pod("a", "13"));
        connection.send("BOOKMARK", { metadata: { resourceVersion: "20" } });
        connection.end();
      }),
      quiet,
    ]);
    expect(seen).toEqual(["replace  @10", "ADDED a", "MODIFIED a", "remove a", "bookmark @20"]);
    expect(server.log).toEqual(["list", "watch@10", "watch@20"]);
  });

  it("reads lines that are cut anywhere, also inside a character", async () => {
    const line = Buffer.from(`${JSON.stringify({ type: "ADDED", object: pod("größe", "11") })}\n`);
    const { server, seen, clock } = await start([page("10", []), quiet]);
    for (const byte of line) server.connection.body.write(Buffer.of(byte));
    await clock.advance(0);
    expect(seen).toEqual(["replace  @10", "ADDED größe"]);
  });

  it("drops half a line at the end and gets it again from the version before", async () => {
    const { server, seen } = await start([
      page("10", []),
      watch((connection) => {
        connection.send("ADDED", pod("a", "11"));
        connection.write('{"type":"ADDED","object":{"metadata":{"name":"b"');
        connection.end();
      }),
      quiet,
    ]);
    expect(seen).toEqual(["replace  @10", "ADDED a"]);
    expect(server.log.at(-1)).toBe("watch@11");
  });

  it("lists anew after HTTP 410 on the watch", async () => {
    const { seen, server } = await start([page("10", [pod("a", "1")]), { status: 410 }, page("30", []), quiet]);
    expect(seen).toEqual(["replace a @10", "replace  @30"]);
    expect(server.log).toEqual(["list", "watch@10", "list", "watch@30"]);
  });

  it("lists anew after a 410 inside the stream, and closes the old connection", async () => {
    const { seen, server } = await start([
      page("10", []),
      watch((connection) => connection.send("ERROR", { kind: "Status", code: 410, reason: "Expired" })),
      page("30", [pod("b", "2")]),
      quiet,
    ]);
    expect(seen).toEqual(["replace  @10", "replace b @30"]);
    expect(server.connections[0]?.closed).toBe(true);
  });

  it("waits after another ERROR event, says why, and resumes", async () => {
    const { server, states, clock } = await start([
      page("10", []),
      watch((connection) => connection.send("ERROR", { kind: "Status", code: 500, message: "etcd is away" })),
      quiet,
    ]);
    expect(states.at(-1)).toMatchObject({ phase: "waiting", retryAt: 800, error: { message: "etcd is away" } });
    await clock.advance(800);
    expect(server.log).toEqual(["list", "watch@10", "watch@10"]);
    expect(states.at(-1)).toMatchObject({ phase: "watching", since: 800, resourceVersion: "10" });
  });

  it("waits after a line that is no JSON", async () => {
    const { states } = await start([page("10", []), watch((connection) => connection.write("<html>\n"))]);
    expect(states.at(-1)).toMatchObject({ phase: "waiting", error: { message: expect.stringContaining("<html>") } });
  });

  it("takes a connection that is silent for 90 s for dead", async () => {
    const { server, clock } = await start([page("10", []), quiet, quiet]);
    server.connection.send("BOOKMARK", { metadata: { resourceVersion: "11" } });
    await clock.advance(89_000);
    server.connection.send("BOOKMARK", { metadata: { resourceVersion: "12" } });
    await clock.advance(89_999);
    expect(server.log).toEqual(["list", "watch@10"]);
    await clock.advance(1);
    expect(server.log).toEqual(["list", "watch@10", "watch@12"]);
    expect(server.connections[0]?.closed).toBe(true);
  });

  it("does not wait for ever for the headers of a watch", async () => {
    const { server, clock, states } = await start([page("10", []), { never: true }, quiet]);
    await clock.advance(90_000);
    expect(states.at(-1)?.phase).toBe("waiting");
    await clock.advance(800);
    expect(server.log).toEqual(["list", "watch@10", "watch@10"]);
  });

  it("backs off more and more when watches end as soon as they began", async () => {
    const short = watch((connection) => connection.end());
    const { server, clock } = await start([page("10", []), short, short, short, quiet]);
    expect(server.log).toHaveLength(2);
    await clock.advance(800);
    expect(server.log).toHaveLength(3);
    await clock.advance(1_599);
    expect(server.log).toHaveLength(3);
    await clock.advance(1);
    expect(server.log).toHaveLength(4);
    await clock.advance(3_200);
    expect(server.log).toHaveLength(5);
  });

  it.each([403, 404])("waits for the permission or the kind after %i and recovers by itself", async (status) => {
    const { states, seen, clock } = await start([{ status }, { status }, page("10", [pod("a", "1")]), quiet]);
    expect(states.map(({ phase }) => phase)).toEqual(["listing", "waiting"]);
    expect(states.at(-1)).toMatchObject({ error: { status } });
    await clock.advance(800 + 1_600);
    expect(seen).toEqual(["replace a @10"]);
    expect(states.at(-1)?.phase).toBe("watching");
  });

  it("starts the list anew when its continue token has expired", async () => {
    const { seen, server } = await start([
      page("10", [pod("gone", "1")], "old"),
      { status: 410 },
      page("20", [pod("b", "2")]),
      quiet,
    ]);
    expect(server.log).toEqual(["list", "list+old", "list", "watch@20"]);
    expect(seen).toEqual(["replace b @20"]);
  });

  it("drops managedFields and fills in the kind, unless it shall keep them", async () => {
    const managed = pod("a", "1", { managedFields: [{ manager: "kubectl" }], labels: { a: "b" } });
    const script = () => [page("10", [managed]), watch((connection) => connection.send("MODIFIED", managed))];
    const dropped = await start(script());
    expect(dropped.bodies).toHaveLength(2);
    for (const { apiVersion, kind, metadata } of dropped.bodies) {
      expect({ apiVersion, kind }).toEqual({ apiVersion: "v1", kind: "Pod" });
      expect(metadata).toEqual({ ...pod("a", "1").metadata, labels: { a: "b" } });
    }
    const kept = await start(script(), { keepManagedFields: true });
    for (const { metadata } of kept.bodies) expect(metadata?.managedFields).toEqual([{ manager: "kubectl" }]);
  });

  it("closes the connection and resolves when it is aborted, in every phase", async () => {
    for (const script of [[{ never: true } as const], [page("10", []), quiet], [{ status: 500 }]]) {
      const { stop, done, server, states, clock } = await start(script);
      stop.abort();
      await done;
      for (const connection of server.connections) expect(connection.closed).toBe(true);
      expect(states.at(-1)?.phase).toBe("closed");
      expect(clock.pending).toBe(0);
    }
  });

  it("delivers nothing after the abort, not even what has arrived in the same chunk", async () => {
    const stop = new AbortController();
    const seen: unknown[] = [];
    const lines = [pod("a", "11"), pod("b", "12")].map((object) => `${JSON.stringify({ type: "ADDED", object })}\n`);
    const server = new ScriptedServer(
      page("10", []),
      watch((connection) => connection.write(lines.join(""))),
    );
    const apply = (body: KubeBody) => {
      seen.push(body.metadata?.name);
      stop.abort();
    };
    const sink = { replace: () => {}, apply, remove: () => {} };
    await openStream<KubeBody>(server, kind, { clock: new VirtualClock() }, sink, stop.signal);
    expect(seen).toEqual(["a"]);
  });

  it("holds reading back while the sink is not drained, and does not take that for silence", async () => {
    const clock = new VirtualClock();
    const server = new ScriptedServer(page("10", []), quiet);
    let release = () => {};
    let full = true;
    const seen: unknown[] = [];
    const drained = () => {
      if (!full) return undefined;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    const sink = {
      replace: () => {},
      apply: (body: KubeBody) => seen.push(body.metadata?.name),
      remove: () => {},
      drained,
    };
    void openStream<KubeBody>(server, kind, { clock, random: () => 0 }, sink, new AbortController().signal);
    await clock.advance(0);
    server.connection.send("ADDED", pod("a", "11"));
    await clock.advance(0);
    server.connection.send("ADDED", pod("b", "12"));
    await clock.advance(200_000);
    expect(seen).toEqual(["a"]);
    expect(server.log).toEqual(["list", "watch@10"]);
    full = false;
    release();
    await clock.advance(0);
    expect(seen).toEqual(["a", "b"]);
  });

  it("rejects when the sink throws at being told that it waits, and leaves nothing behind", async () => {
    const clock = new VirtualClock();
    const sink = {
      replace: () => {},
      apply: () => {},
      remove: () => {},
      state: ({ phase }: StreamState) => {
        if (phase === "waiting") throw new Error("a defect");
      },
    };
    const done = openStream(new ScriptedServer({ status: 503 }), kind, { clock }, sink, new AbortController().signal);
    await expect(done).rejects.toThrow("a defect");
    expect(clock.pending).toBe(0);
  });

  it.each(["replace", "apply", "state"])(
    "rejects when the sink's %s throws: no retry heals a defect",
    async (method) => {
      const defect = () => {
        throw new Error("a defect");
      };
      const sink = {
        replace: () => {},
        apply: () => {},
        remove: () => {},
        [method]: method === "state" ? ({ phase }: StreamState) => phase === "watching" && defect() : defect,
      };
      const server = new ScriptedServer(
        page("10", []),
        watch((connection) => connection.send("ADDED", pod("a", "11"))),
      );
      const clock = new VirtualClock();
      const done = openStream(server, kind, { clock }, sink, new AbortController().signal);
      await expect(done).rejects.toThrow("a defect");
      for (const connection of server.connections) expect(connection.closed).toBe(true);
      expect(clock.pending).toBe(0);
    },
  );
});
