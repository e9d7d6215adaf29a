import { describe, expect, it, onTestFinished } from "vitest";
import { describeKind, type KubeBody } from "../kinds/index.ts";
import { VirtualClock } from "../meta/index.ts";
import { Reflector } from "./reflector.ts";
import { type Answer, type Connection, ScriptedServer } from "./scripted-server.ts";

const kind = describeKind({ group: "", version: "v1", kind: "Pod" });

const pod = (name: string, resourceVersion: string): KubeBody => ({
  metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion },
});
const bookmark = (resourceVersion: string, annotations?: Record<string, string>) => ({
  metadata: { resourceVersion, ...(annotations && { annotations }) },
});
const END = { "k8s.io/initial-events-end": "true" };
const list = (resourceVersion: string, ...items: KubeBody[]): Answer => ({
  json: { metadata: { resourceVersion }, items },
});
const quiet: Answer = { watch: () => undefined };
const watch = (script: (connection: Connection) => void): Answer => ({ watch: script });

async function start(script: Answer[], keeps?: (body: KubeBody) => boolean) {
  const clock = new VirtualClock();
  const server = new ScriptedServer(...script);
  const heard: string[] = [];
  const told: string[] = [];
  const phases: string[] = [];
  const stop = new AbortController();
  const name = (body: KubeBody) => `${body.metadata?.name}@${body.metadata?.resourceVersion}`;
  const reflector = new Reflector<KubeBody>(
    server,
    {
      clock,
      random: () => 0,
      labelSelector: { app: "web" },
      initialStreaming: "auto",
      onListInstead: (why) => told.push((why as Error).message),
    },
    {
      changed: (body, { initial }) => heard.push(`${initial ? "initial " : ""}${name(body)}`),
      gone: (body) => heard.push(`gone ${name(body)}`),
      ...(keeps && { keeps }),
      onSynced: () => heard.push("synced"),
      state: ({ phase }) => phases.push(phase),
    },
  );
  const run = reflector.run(stop.signal, kind);
  onTestFinished(async () => {
    stop.abort();
    await run;
    expect(clock.pending).toBe(0);
  });
  await clock.advance(0);
  return { clock, server, heard, told, phases, reflector };
}

describe("a stream that begins with a watch instead of a list", () => {
  it("shows nothing of it before the server says that this is all, and goes on with the same connection", async () => {
    const { clock, server, heard, phases, reflector } = await start([quiet]);
    const { connection } = server;
    connection.send("ADDED", pod("a", "3"));
    connection.send("ADDED", pod("b", "4"));
    connection.send("MODIFIED", pod("a", "5"));
    connection.send("DELETED", pod("b", "6"));
    await clock.advance(0);
    expect([heard, reflector.synced, phases]).toEqual([[], false, ["listing"]]);
    connection.send("BOOKMARK", bookmark("7", END));
    connection.send("ADDED", pod("c", "8"));
    await clock.advance(60_000);
    expect(heard).toEqual(["initial a@5", "synced", "c@8"]);
    expect(phases).toEqual(["listing", "watching"]);
    expect(server.log).toEqual(["gather"]);
    expect(server.requests[0]?.query).toEqual({
      watch: true,
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      labelSelector: "app=web",
      timeoutSeconds: 300,
    });
    connection.end();
    await clock.advance(0);
    expect(server.log).toEqual(["gather", "watch@8"]);
  });

  it("tells of what vanished while it could not see, when it has everything again and not before", async () => {
    const { clock, server, heard } = await start([
      watch((connection) => {
        connection.send("ADDED", pod("a", "3"));
        connection.send("ADDED", pod("b", "4"));
        connection.send("BOOKMARK", bookmark("4", END));
        connection.send("ERROR", { kind: "Status", code: 410 });
      }),
      watch((connection) => connection.send("ADDED", pod("b", "4"))),
    ]);
    expect(server.log).toEqual(["gather", "gather"]);
    expect(heard).toEqual(["initial a@3", "initial b@4", "synced"]);
    server.connection.send("BOOKMARK", bookmark("9", END));
    await clock.advance(0);
    expect(heard.slice(3)).toEqual(["gone a@3"]);
  });

  it("that is cut in the middle begins anew, with nothing of what had come", async () => {
    const { clock, server, heard, reflector } = await start([
      watch((connection) => {
        connection.send("ADDED", pod("gone-meanwhile", "3"));
        connection.end();
      }),
      watch((connection) => {
        connection.send("ADDED", pod("a", "4"));
        connection.send("BOOKMARK", bookmark("5", END));
      }),
    ]);
    expect(reflector.stream?.phase).toBe("waiting");
    await clock.advance(800);
    expect([server.log, heard]).toEqual([
      ["gather", "gather"],
      ["initial a@4", "synced"],
    ]);
  });

  it("lists where the server refuses it, says so once, and does not ask again", async () => {
    const refusal = { message: "sendInitialEvents is forbidden for watch" };
    const { clock, server, heard, told } = await start([
      { status: 422, body: refusal },
      list("5", pod("a", "3")),
      watch((connection) => connection.send("ERROR", { kind: "Status", code: 410 })),
      list("9"),
      quiet,
    ]);
    await clock.advance(60_000);
    expect(server.log).toEqual(["gather", "list", "watch@5", "list", "watch@9"]);
    expect(heard).toEqual(["initial a@3", "synced", "gone a@3"]);
    expect(told).toEqual([refusal.message]);
  });

  it("lists ten seconds later where the server has never heard of it, sends no bookmark and falls silent", async () => {
    const ignoring = watch((connection) => connection.send("ADDED", pod("a", "3")));
    const { clock, server, heard, told } = await start([ignoring, list("5", pod("a", "3")), quiet]);
    await clock.advance(9_999);
    expect([server.log, heard]).toEqual([["gather"], []]);
    await clock.advance(1);
    expect(server.log).toEqual(["gather", "list", "watch@5"]);
    expect(heard).toEqual(["initial a@3", "synced"]);
    expect(told).toEqual(["the watch did not say where all that there is ends"]);
    expect(server.connections[0]?.closed).toBe(true);
  });

  it("lists where the first bookmark is an ordinary one, or changes go on for ever without one", async () => {
    const ordinary = await start([watch((connection) => connection.send("BOOKMARK", bookmark("4"))), list("5"), quiet]);
    expect(ordinary.server.log).toEqual(["gather", "list", "watch@5"]);

    const busy = await start([quiet, list("500"), quiet]);
    for (let i = 0; i < 26; i++) {
      busy.server.connections[0]?.send("MODIFIED", pod("a", String(i)));
      await busy.clock.advance(5_000);
    }
    expect(busy.server.log).toEqual(["gather", "list", "watch@500"]);
    expect(busy.told).toHaveLength(1);
  });

  it("keeps nothing of what nobody wants", async () => {
    const { heard, reflector } = await start(
      [
        watch((connection) => {
          connection.send("ADDED", pod("a", "3"));
          connection.send("ADDED", pod("theirs", "4"));
          connection.send("BOOKMARK", bookmark("5", END));
        }),
      ],
      (body) => body.metadata?.name !== "theirs",
    );
    expect([heard, reflector.size]).toEqual([["initial a@3", "synced"], 1]);
  });
});
