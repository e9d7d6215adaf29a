import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { describeKind, type KubeBody } from "../kinds/index.ts";
import { objectKeyOf, VirtualClock } from "../meta/index.ts";
import { Reflector } from "./reflector.ts";
import { type Answer, ScriptedServer } from "./scripted-server.ts";

const KEY = objectKeyOf("default", "a");
const kind = describeKind({ group: "", version: "v1", kind: "Pod" });

const pod = (name: string, resourceVersion: string, uid = `uid-${name}`): KubeBody => ({
  metadata: { name, namespace: "default", uid, resourceVersion },
});

const list = (resourceVersion: string, ...items: KubeBody[]): Answer => ({
  json: { metadata: { resourceVersion }, items },
});
const quiet: Answer = { watch: () => undefined };

const told = (body: KubeBody | undefined) => body && `${body.metadata?.name}@${body.metadata?.resourceVersion}`;

function start(...script: Answer[]) {
  return startKeeping(undefined, ...script);
}

async function startKeeping(keeps: ((body: KubeBody) => boolean) | undefined, ...script: Answer[]) {
  const clock = new VirtualClock();
  const server = new ScriptedServer(...script);
  const stop = new AbortController();
  const heard: string[] = [];
  const reflector = new Reflector<KubeBody>(
    server,
    { clock, random: () => 0 },
    {
      changed: (body, { type, initial, before }) =>
        heard.push(`${initial ? "initial " : ""}${type} ${told(body)}${before ? ` after ${told(before)}` : ""}`),
      echoed: (body) => heard.push(`echo ${told(body)}`),
      gone: (body, before) => heard.push(`gone ${told(body)}${before ? "" : ", as known"}`),
      ...(keeps && { keeps }),
      dropped: (body) => heard.push(`dropped ${told(body)}`),
      onSynced: () => heard.push("synced"),
    },
  );
  const run = reflector.run(stop.signal, kind);
  onTestFinished(async () => {
    stop.abort();
    await run;
  });
  await clock.advance(0);
  const send = async (type: string, body: KubeBody) => {
    server.connection.send(type, body);
    await clock.advance(0);
  };
  return { clock, server, reflector, heard, send };
}

describe("a reflector", () => {
  it("tells what was there, when the list is complete, and then each change with what was known before", async () => {
    const { heard, send, reflector } = await start(list("5", pod("a", "3")), quiet);
    expect(heard).toEqual(["initial ADDED a@3", "synced"]);
    await send("ADDED", pod("b", "6"));
    await send("MODIFIED", pod("a", "7"));
    await send("MODIFIED", pod("a", "7"));
    await send("DELETED", pod("b", "8"));
    expect(heard.slice(2)).toEqual(["ADDED b@6", "MODIFIED a@7 after a@3", "gone b@8"]);
    expect(reflector.size).toBe(1);
    expect([...reflector.values()].map(told)).toEqual(["a@7"]);
  });

  it("misses no deletion: what a new list lacks is gone, and what it has newly is not initial", async () => {
    const expired: Answer = { status: 410 };
    const { heard } = await start(list("5", pod("a", "3"), pod("b", "4")), expired, list("9", pod("b", "8")), quiet);
    expect(heard.slice(3)).toEqual(["gone a@3", "ADDED b@8 after b@4"]);
  });

  it("tells of an object that was deleted and created again that the first is gone", async () => {
    const { heard, send } = await start(list("5", pod("a", "3", "first")), quiet);
    await send("MODIFIED", pod("a", "9", "second"));
    expect(heard.slice(2)).toEqual(["gone a@3", "MODIFIED a@9"]);
  });

  it("shows an own write at once, and knows it again when the stream shows it", async () => {
    const { heard, send, reflector } = await start(list("5", pod("a", "3")), quiet);
    expect(reflector.wrote(pod("a", "6"))).toBe(true);
    expect(told(reflector.get(KEY))).toBe("a@6");
    await send("MODIFIED", pod("a", "6"));
    await send("MODIFIED", pod("a", "7"));
    expect(heard.slice(2)).toEqual(["echo a@6", "MODIFIED a@7 after a@6"]);
  });

  it("tells the end of an own object that came and went before the stream showed it", async () => {
    const { heard, send, reflector } = await start(list("5"), quiet);
    expect(reflector.wrote(pod("a", "6"))).toBe(true);
    await send("BOOKMARK", { metadata: { resourceVersion: "9" } });
    expect(heard.slice(1)).toEqual(["gone a@6"]);
    expect(reflector.get(KEY)).toBeUndefined();
  });

  it("marks the end of an object that this client has deleted itself as known", async () => {
    const { heard, send, reflector } = await start(list("5", pod("a", "3")), quiet);
    expect(told(reflector.deleted(KEY, "uid-a"))).toBe("a@3");
    expect(reflector.deleted(KEY, "uid-a")).toBeUndefined();
    await send("DELETED", pod("a", "7"));
    expect(heard.slice(2)).toEqual(["gone a@7, as known"]);
  });

  it("keeps no managed fields of own writes, as it keeps none of the stream", async () => {
    const { reflector } = await start(list("5"), quiet);
    const { metadata } = pod("a", "6");
    reflector.wrote({ metadata: { ...metadata, managedFields: [{ manager: "me" }] } });
    expect(reflector.get(KEY)?.metadata).toEqual(metadata);
  });

  it("knows when it last heard of the server, bookmarks included", async () => {
    const { clock, send, reflector } = await start(list("5"), quiet);
    const before = reflector.heardAt as number;
    await clock.advance(30_000);
    expect(reflector.heardAt).toBe(before);
    await send("BOOKMARK", { metadata: { resourceVersion: "9" } });
    expect(reflector.heardAt).toBe(before + 30_000);
    expect(reflector.stream).toMatchObject({ phase: "watching" });
  });
});

describe("a reflector that keeps some objects", () => {
  const kept = new Set<string>();
  const keeps = ({ metadata }: KubeBody) => kept.has(metadata?.uid ?? "");
  const expired: Answer = { status: 410 };

  beforeEach(() => {
    kept.clear();
    kept.add("uid-a");
  });

  it("neither tells nor remembers the others, whatever becomes of them", async () => {
    const first = list("5", pod("a", "3"), pod("b", "4"));
    const { heard, send, reflector } = await startKeeping(keeps, first, quiet);
    await send("MODIFIED", pod("b", "6"));
    await send("DELETED", pod("b", "7"));
    await send("MODIFIED", pod("a", "8"));
    expect(heard).toEqual(["initial ADDED a@3", "synced", "MODIFIED a@8 after a@3"]);
    expect([reflector.size, reflector.wrote(pod("b", "9"))]).toEqual([1, false]);
  });

  it("lets go of what it keeps no longer, which is not gone", async () => {
    const { heard, send, reflector } = await startKeeping(keeps, list("5", pod("a", "3")), quiet);
    kept.clear();
    reflector.purge();
    await send("MODIFIED", pod("a", "6"));
    expect(heard.slice(2)).toEqual(["dropped a@3"]);
    expect(reflector.size).toBe(0);
  });

  it("notices by an event, and by a list, that it keeps an object no longer", async () => {
    kept.add("uid-b");
    const both = list("5", pod("a", "3"), pod("b", "4"));
    const watched = await startKeeping(keeps, both, quiet);
    kept.delete("uid-a");
    await watched.send("MODIFIED", pod("a", "6"));
    expect(watched.heard.slice(3)).toEqual(["dropped a@6"]);
    kept.add("uid-a");
    let lists = 0;
    const counting = (body: KubeBody) => {
      if (body.metadata?.name === "b" && ++lists > 2) kept.delete("uid-a");
      return keeps(body);
    };
    const later = list("9", pod("b", "8"), pod("a", "7"));
    const listed = await startKeeping(counting, both, expired, later, quiet);
    expect(listed.heard.slice(3)).toEqual(["dropped a@3", "ADDED b@8 after b@4"]);
  });

  it("tells that an object is gone whose name another one has, which it does not keep", async () => {
    const first = list("5", pod("a", "3"));
    const { heard } = await startKeeping(keeps, first, expired, list("9", pod("a", "8", "other")), quiet);
    expect(heard.slice(2)).toEqual(["gone a@3"]);
  });
});
