import { Client, type KubeBody } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { beforeEach, describe, expect, it } from "vitest";
import { Actors } from "./actors.ts";
import { DryRun } from "./dry-run.ts";
import type { KindWorld } from "./kind-world.ts";
import { clientOf, type Got, kindWorld, map, worker } from "./test-builders.ts";
import { ShadowTransport } from "./transport.ts";
import { Writes } from "./writes.ts";

const ALL = "/api/v1/namespaces/default/configmaps";
let got: Got[];
let world: KindWorld;
let untried: string[];
let shadow: Client;

/** A shadow's client; ConfigMaps are followed, and no other kind can be. */
async function open(allowExec = false): Promise<Client> {
  const { client, got: all } = await clientOf(({ body }) => {
    const { metadata, ...rest } = map({ a: "1" });
    const said = body as KubeBody | undefined;
    return { ...rest, ...said, metadata: { ...metadata, ...said?.metadata } };
  });
  got = all;
  world = kindWorld();
  untried = [];
  const clock = new VirtualClock();
  const dryRun = new DryRun(client, worker);
  const worlds = {
    of: async ({ plural }: { plural: string }) => (plural === "configmaps" ? world : undefined),
    kinds: [world],
    version: 1_000,
  };
  const transport = new ShadowTransport({
    client,
    world: worlds as never,
    writes: new Writes({ dryRun, worker, clock, hasNamespace: () => false }),
    dryRun,
    actors: new Actors(),
    clock,
    allowExec,
    onUntried: (what, refused) => void untried.push(`${refused ? "refused" : "not compared"}: ${what}`),
  });
  return Client.connect({ url: "http://server.example.com", transport });
}

beforeEach(async () => {
  shadow = await open();
});

const ask = (method: string, path: string, body?: unknown) => shadow.raw({ method, path, body });

describe("what leaves a shadow", () => {
  it.each([
    ["POST", ALL, map({ a: "1" }, "x", { name: "two" })],
    ["POST", `${ALL}?fieldManager=x`, map({ a: "1" }, "x", { name: "two" })],
    ["PUT", `${ALL}/one`, { metadata: { name: "one" }, data: { a: "2" } }],
    ["PATCH", `${ALL}/one`, { data: { a: "2" } }],
    ["PATCH", `${ALL}/one/status`, { status: { a: "2" } }],
    ["DELETE", `${ALL}/one`, { gracePeriodSeconds: 0 }],
    ["DELETE", ALL, { gracePeriodSeconds: 0 }],
    ["POST", "/api/v1/namespaces/default/pods", map({})],
    ["DELETE", "/api/v1/namespaces/default/pods/web?propagationPolicy=Orphan", { gracePeriodSeconds: 0 }],
    ["POST", "/api/v1/namespaces/default/serviceaccounts/one/token", {}],
    ["POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", map({})],
    ["PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x", { spec: {} }],
    ["PUT", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/x", map({})],
  ])("%s %s is a dry run", async (method, path, body) => {
    world.shown(map({ a: "1" }), true);
    await ask(method, path, body);
    expect(got.length).toBeGreaterThan(0);
    for (const one of got) {
      expect(one.query.dryRun).toBe("All");
      expect(one.path).not.toContain("?");
      if (one.method === "DELETE" && one.body) expect(one.body).toMatchObject({ dryRun: ["All"] });
    }
  });

  it.each([
    ["POST", "/api/v1/namespaces/default/pods/web/exec"],
    ["POST", "/api/v1/namespaces/default/services/web/proxy/orders"],
    ["DELETE", "/api/v1/nodes/one/proxy/x"],
    ["POST", "/somewhere/else"],
  ])("%s %s is refused, because it has no dry run", async (method, path) => {
    await expect(ask(method, path)).rejects.toMatchObject({ code: "LOTSE_SHADOW" });
    expect(got).toEqual([]);
    expect(untried).toEqual([expect.stringMatching(/^refused: /)]);
  });

  it("has no Events, and has questions about rights", async () => {
    await ask("POST", "/api/v1/namespaces/default/events", map({}));
    await ask("POST", "/apis/events.k8s.io/v1/namespaces/default/events", map({}));
    expect(got).toEqual([]);
    await ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {});
    expect(got).toHaveLength(1);
  });

  it("has commands in containers only where that is allowed, and nothing else like them", async () => {
    const open1 = (path: string) => shadow.webSocket({ path, protocols: [] } as never);
    await expect(open1("/api/v1/namespaces/default/pods/web/exec")).rejects.toMatchObject({ code: "LOTSE_SHADOW" });
    shadow = await open(true);
    await expect(open1("/api/v1/namespaces/default/pods/web/exec")).rejects.toThrow("there are no containers");
    await expect(open1("/api/v1/namespaces/default/pods/web/portforward")).rejects.toMatchObject({
      code: "LOTSE_SHADOW",
    });
  });
});

describe("what a shadow reads", () => {
  it("comes from its own world where that has the kind, and from the cluster elsewhere", async () => {
    world.shown(map({ a: "1" }), true);
    await ask("PATCH", `${ALL}/one`, { metadata: { labels: { mine: "yes" } } });
    got.length = 0;
    const { items } = await (await ask("GET", `${ALL}?labelSelector=mine%3Dyes`)).json<{ items: unknown[] }>();
    expect([items.length, got]).toEqual([1, []]);
    await ask("GET", "/api/v1/namespaces/default/pods");
    await ask("GET", "/version");
    expect(got.map(({ path }) => path)).toEqual(["/api/v1/namespaces/default/pods", "/version"]);
  });

  it("is not found there when the shadow has deleted it, or never made it", async () => {
    world.shown(map({ a: "1" }), true);
    await ask("DELETE", `${ALL}/one`);
    await expect(ask("GET", `${ALL}/one`)).rejects.toThrow("not found");
    await expect(ask("GET", `${ALL}/two`)).rejects.toThrow("not found");
  });

  it("can begin with a watch that sends all there is and says where that ends", async () => {
    world.shown(map({ a: "1" }), true);
    const query = { watch: true, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
    const { body } = await shadow.raw({ method: "GET", path: ALL, query, stream: true });
    const lines: string[] = [];
    for await (const chunk of body) {
      lines.push(...String(chunk).trim().split("\n"));
      if (lines.length >= 2) break;
    }
    expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toMatchObject([
      { type: "ADDED", object: { metadata: { name: "one" } } },
      { type: "BOOKMARK", object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } } },
    ]);
  });
});

it("what its handlers try themselves stays a try, in its world as well", async () => {
  await shadow.raw({ method: "POST", path: ALL, body: map({}), query: { dryRun: "All" } });
  await shadow.raw({ method: "DELETE", path: `${ALL}/one`, body: { dryRun: ["All"] } });
  expect([...world.bodies()]).toEqual([]);
  expect(got.map(({ query }) => query.dryRun)).toEqual(["All", "All"]);
  expect(untried).toEqual([]);
});

it("what cannot be compared is tried and told", async () => {
  await ask("POST", "/api/v1/namespaces/default/pods", map({}));
  expect(untried).toEqual(["not compared: POST pods default/*"]);
});
