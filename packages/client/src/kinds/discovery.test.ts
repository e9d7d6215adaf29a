import { describe, expect, it } from "vitest";
import { VirtualClock } from "../meta/index.ts";
import { apiErrorFrom, type RawRequest, type RawResponse } from "../transport/index.ts";
import { apiVersionOf } from "./description.ts";
import { discoverKinds, mayBeHidden } from "./discovery.ts";
import { UnknownKindError } from "./names.ts";
import { KindRegistry } from "./registry.ts";

/** A server that answers GETs from a table; what is not in it fails with 503. */
function serving(table: Record<string, unknown>) {
  const asked: string[] = [];
  const ask = async (request: RawRequest): Promise<RawResponse> => {
    asked.push(request.path);
    const body = table[request.path];
    if (body === undefined) throw apiErrorFrom(503, { message: "no endpoints" }, request);
    return { json: async () => structuredClone(body) } as RawResponse;
  };
  return { ask, asked, table };
}

const groups = (...items: object[]) => ({ kind: "APIGroupDiscoveryList", items });
const resource = (kind: string, o: object = {}) => ({
  resource: `${kind.toLowerCase()}s`,
  responseKind: { group: "", version: "", kind },
  scope: "Namespaced",
  singularResource: kind.toLowerCase(),
  verbs: ["get", "list"],
  ...o,
});

const aggregated = {
  "/api": groups({
    metadata: { name: "" },
    versions: [
      {
        version: "v1",
        freshness: "Current",
        resources: [
          resource("Pod", {
            shortNames: ["po"],
            categories: ["all"],
            subresources: [{ subresource: "status" }, { subresource: "log" }],
          }),
          resource("Node", { scope: "Cluster" }),
        ],
      },
    ],
  }),
  "/apis": groups(
    { metadata: { name: "apps" }, versions: [{ version: "v1", resources: [resource("Deployment")] }] },
    { metadata: { name: "broken.io" }, versions: [{ version: "v1", freshness: "Stale" }] },
  ),
};

const legacy = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": {
    kind: "APIGroupList",
    groups: [
      {
        name: "autoscaling",
        versions: [{ version: "v1" }, { version: "v2" }],
        preferredVersion: { version: "v2" },
      },
      { name: "broken.io", versions: [{ version: "v1" }] },
    ],
  },
  "/api/v1": {
    resources: [
      { name: "pods", kind: "Pod", namespaced: true, singularName: "", shortNames: ["po"], verbs: ["get"] },
      { name: "pods/status", kind: "Pod", namespaced: true, verbs: ["get"] },
      { name: "nodes", kind: "Node", namespaced: false, singularName: "node", verbs: ["get"] },
    ],
  },
  "/apis/autoscaling/v1": { resources: [{ name: "scalers", kind: "Scaler", namespaced: true }] },
  "/apis/autoscaling/v2": { resources: [{ name: "scalers", kind: "Scaler", namespaced: true }] },
};

describe("discoverKinds", () => {
  it("needs two requests where the server aggregates", async () => {
    const server = serving(aggregated);
    const discovery = await discoverKinds(server.ask);
    expect(server.asked).toEqual(["/api", "/apis"]);
    expect(discovery.kinds.map(({ kind }) => kind)).toEqual(["Pod", "Node", "Deployment"]);
    expect(discovery.kinds[0]).toEqual({
      group: "",
      version: "v1",
      kind: "Pod",
      plural: "pods",
      singular: "pod",
      namespaced: true,
      shortNames: ["po"],
      categories: ["all"],
      verbs: ["get", "list"],
      subresources: ["status", "log"],
    });
    expect(discovery.kinds[1]?.namespaced).toBe(false);
    expect(discovery.apiVersions).toEqual(["v1", "apps/v1", "broken.io/v1"]);
  });

  it("names the groups whose server does not answer", async () => {
    const { failures } = await discoverKinds(serving(aggregated).ask);
    expect(failures).toEqual([{ apiVersion: "broken.io/v1", message: expect.any(String) }]);
  });

  it("asks an older server group by group, preferred versions first, and survives a broken one", async () => {
    const { kinds, failures, apiVersions } = await discoverKinds(serving(legacy).ask);
    expect(kinds.map((d) => `${apiVersionOf(d)} ${d.kind}`)).toEqual([
      "v1 Pod",
      "v1 Node",
      "autoscaling/v2 Scaler",
      "autoscaling/v1 Scaler",
    ]);
    expect(kinds[0]).toMatchObject({ singular: "pod", subresources: ["status"], shortNames: ["po"], namespaced: true });
    expect(failures).toMatchObject([{ apiVersion: "broken.io/v1", message: "no endpoints" }]);
    expect(apiVersions).toEqual(["v1", "autoscaling/v2", "autoscaling/v1", "broken.io/v1"]);
  });

  it.each([
    ["the list of groups", "/apis", "*", ["Pod", "Node"]],
    ["the core group", "/api", "v1", ["Deployment"]],
  ])("keeps what is known when %s cannot be had, and names what is missing", async (_, path, apiVersion, known) => {
    const { [path as "/api"]: _gone, ...table } = aggregated;
    const { kinds, failures } = await discoverKinds(serving(table).ask);
    expect(kinds.map(({ kind }) => kind)).toEqual(known);
    expect(failures.filter(({ message }) => message === "no endpoints")).toEqual([
      { apiVersion, message: "no endpoints", error: expect.objectContaining({ status: 503 }) },
    ]);
  });

  it("rejects when nothing can be had at all", async () => {
    await expect(discoverKinds(serving({}).ask)).rejects.toThrow("no endpoints");
  });

  it.each([{}, [], null, "ok", { error: "down for maintenance" }])(
    "does not take %j for a server without kinds",
    async (page) => {
      await expect(discoverKinds(serving({ "/api": page, "/apis": page }).ask)).rejects.toThrow("lists no kinds");
      const { failures } = await discoverKinds(serving({ ...legacy, "/apis/autoscaling/v1": page }).ask);
      expect(failures.map(({ apiVersion }) => apiVersion)).toContain("autoscaling/v1");
    },
  );

  it("knows in which groups there may be more than was found", async () => {
    const discovery = await discoverKinds(serving(aggregated).ask);
    expect(["", "apps", "broken.io"].map((group) => mayBeHidden(discovery, group))).toEqual([false, false, true]);
    const { "/apis": _gone, ...core } = aggregated;
    const poor = await discoverKinds(serving(core).ask);
    expect(["", "apps", "broken.io"].map((group) => mayBeHidden(poor, group))).toEqual([false, true, true]);
  });
});

describe("KindRegistry", () => {
  const widgets = {
    metadata: { name: "example.com" },
    versions: [{ version: "v1", resources: [resource("Widget")] }],
  };

  it("asks the server once, however many names are resolved", async () => {
    const server = serving(aggregated);
    const registry = new KindRegistry(server.ask, new VirtualClock());
    await Promise.all(["po", "deployments", "nodes"].map((name) => registry.resolve(name)));
    await registry.resolve("pods");
    expect(server.asked).toEqual(["/api", "/apis"]);
  });

  it.each([
    ["aggregates", aggregated],
    ["does not", legacy],
  ])("finds the kinds of the other groups while one is broken, where the server %s", async (_, table) => {
    const registry = new KindRegistry(serving(table).ask, new VirtualClock());
    expect((await registry.discover()).failures).toHaveLength(1);
    expect(await registry.resolve("po")).toMatchObject({ kind: "Pod" });
  });

  it("asks again for a name that it does not know, and finds a kind that is new", async () => {
    const server = serving({ ...aggregated });
    const registry = new KindRegistry(server.ask, new VirtualClock());
    await registry.resolve("pods");
    server.table["/apis"] = groups(widgets);
    expect(await registry.resolve("widget")).toMatchObject({ group: "example.com", kind: "Widget" });
    expect(await registry.resolveManifest({ apiVersion: "example.com/v1", kind: "Widget" })).toMatchObject({
      plural: "widgets",
    });
  });

  it("asks for the same unknown name at most every ten seconds", async () => {
    const clock = new VirtualClock();
    const server = serving({ ...aggregated });
    const registry = new KindRegistry(server.ask, clock);
    const miss = () => registry.resolve("widget").catch((error) => error);
    await miss();
    expect(server.asked).toHaveLength(2);
    await clock.advance(9_999);
    await miss();
    expect(server.asked).toHaveLength(2);
    await clock.advance(1);
    await miss();
    expect(server.asked).toHaveLength(4);
  });

  it("throws an UnknownKindError with near matches, or with what may hide the kind", async () => {
    const registry = new KindRegistry(serving(aggregated).ask, new VirtualClock());
    const near = await registry.resolve("deploymet").catch((error) => error);
    expect(near).toBeInstanceOf(UnknownKindError);
    expect(near).toMatchObject({
      message: 'the server has no kind "deploymet"',
      suggestions: ["deployments.apps"],
      hint: "did you mean deployments.apps?",
    });
    const far = await registry.resolve("certificates").catch((error) => error);
    expect(far.hint).toContain("broken.io/v1");
  });

  it("says what went wrong when the list of groups is missing, and asks again the next time", async () => {
    const { "/apis": apis, ...core } = aggregated;
    const server = serving({ ...core });
    const registry = new KindRegistry(server.ask, new VirtualClock());
    expect(await registry.resolve("po")).toMatchObject({ kind: "Pod" });
    await expect(registry.resolve("deployments")).rejects.toThrow("no endpoints");
    server.table["/apis"] = apis;
    expect(await registry.resolve("deployments")).toMatchObject({ group: "apps" });
  });

  it("forgets a discovery that failed", async () => {
    const server = serving({});
    const registry = new KindRegistry(server.ask, new VirtualClock());
    await expect(registry.resolve("pods")).rejects.toThrow("no endpoints");
    Object.assign(server.table, aggregated);
    expect(await registry.resolve("pods")).toMatchObject({ kind: "Pod" });
  });
});
