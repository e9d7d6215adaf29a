import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Logger } from "../report/index.ts";
import { Sweep } from "./sweep.ts";
import { clientOf, type Got, map, OLD, worker } from "./test-builders.ts";

const verbs = ["list", "watch"];
const KINDS = {
  kind: "APIResourceList",
  groupVersion: "v1",
  resources: [
    { name: "configmaps", singularName: "configmap", kind: "ConfigMap", namespaced: true, verbs },
    { name: "secrets", singularName: "secret", kind: "Secret", namespaced: true, verbs },
    { name: "events", singularName: "event", kind: "Event", namespaced: true, verbs },
    { name: "bindings", singularName: "binding", kind: "Binding", namespaced: true, verbs: ["create"] },
  ],
};

/** A server with some core kinds; `pages` are the lists of objects, by their paths. */
async function stage(pages: (got: Got) => object | undefined, namespaces?: readonly string[]) {
  const { client, got } = await clientOf((one) => {
    if (one.path === "/api") return { kind: "APIVersions", versions: ["v1"] };
    if (one.path === "/apis") return { kind: "APIGroupList", groups: [] };
    return one.path === "/api/v1" ? KINDS : pages(one);
  });
  const followed: string[] = [];
  const world = {
    has: ({ plural }: { plural: string }) => followed.some((one) => one.startsWith(plural)),
    follow: async ({ plural }: { plural: string }, namespace?: string) =>
      void followed.push([plural, namespace].filter(Boolean).join(" in ")),
  };
  const clock = new VirtualClock();
  const end = new AbortController();
  const logs: string[] = [];
  const logger = new Logger(
    ({ message }) => void logs.push(message),
    () => 0,
  );
  const parts = { client, worker, clock, logger, signal: end.signal, namespaces: () => namespaces };
  const sweep = new Sweep({ ...parts, world: world as never });
  const asked = () => got.filter(({ path }) => !/^\/(?:api|apis|api\/v1)$/.test(path));
  return { sweep, clock, end, followed, logs, asked };
}

const listOf = (...items: readonly object[]) => ({ kind: "List", metadata: {}, items });

describe("a sweep", () => {
  it("follows the kinds that the old version has left a trace on, and looks at metadata alone", async () => {
    const { sweep, followed, asked } = await stage(({ path }) =>
      listOf(map({}), path.endsWith("/secrets") ? map({}, OLD) : map({})),
    );
    await sweep.now();
    expect(followed).toEqual(["secrets"]);
    expect(asked().map(({ path }) => path)).toEqual(["/api/v1/configmaps", "/api/v1/secrets"]);
    await sweep.now();
    expect(
      asked()
        .map(({ path }) => path)
        .slice(2),
    ).toEqual(["/api/v1/configmaps"]);
  });

  it("reads page by page, and no further than to the first trace", async () => {
    const { sweep, asked } = await stage(({ path, query }) => {
      if (!path.endsWith("/configmaps")) return listOf();
      if (query.continue === undefined) return { ...listOf(map({})), metadata: { continue: "2" } };
      return { ...listOf(map({}, OLD)), metadata: { continue: "3" } };
    });
    await sweep.now();
    const pages = asked().filter(({ path }) => path.endsWith("/configmaps"));
    expect(pages.map(({ query }) => query.continue)).toEqual([undefined, "2"]);
  });

  it("looks only where the operator works, and passes over what it may not see", async () => {
    const { sweep, followed, logs } = await stage(
      ({ path }) => {
        if (path.includes("/namespaces/a/")) throw new Error("forbidden");
        return listOf(map({}, OLD));
      },
      ["a", "b"],
    );
    await sweep.now();
    expect(followed).toEqual(["configmaps in b", "secrets in b"]);
    expect(logs).toEqual(Array(2).fill("a kind is compared because the old version writes it"));
  });

  it("comes soon, then every few minutes, and not any more after the end", async () => {
    const { sweep, clock, end, asked } = await stage(() => listOf());
    sweep.begin();
    await clock.advance(9_000);
    expect(asked()).toHaveLength(0);
    await clock.advance(1_000);
    await sweep.now();
    expect(asked().length).toBeGreaterThan(0);
    end.abort();
    sweep.close();
    expect(clock.pending).toBe(0);
  });
});
