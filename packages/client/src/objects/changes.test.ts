import { describe, expect, it } from "vitest";
import { ConfigMap, Deployment } from "../builtin/index.ts";
import { type Reply, testClient } from "../client/test-cluster.ts";
import { VirtualClock } from "../meta/index.ts";
import { passing } from "../test-passing.ts";
import type { RawRequest } from "../transport/index.ts";
import { defineKind } from "./define-kind.ts";

interface Stored {
  metadata: { name: string; uid: string; resourceVersion: string };
  data: Record<string, string>;
}

/** A server with one ConfigMap; before each of the first `conflicts` writes another client writes, too. */
async function server(o: { conflicts?: number; exists?: boolean; reborn?: boolean } = {}) {
  const clock = new VirtualClock();
  let left = o.conflicts ?? 0;
  let version = 1;
  let stored: Stored | undefined =
    o.exists === false ? undefined : { metadata: { name: "m", uid: "u1", resourceVersion: "1" }, data: { n: "0" } };
  const store = (data: Record<string, string>, uid = stored?.metadata.uid ?? "u1") => {
    stored = { metadata: { name: "m", uid, resourceVersion: String(++version) }, data };
    return { body: stored };
  };
  const handler = ({ method, body }: RawRequest): Reply => {
    const sent = body as Stored;
    if (method === "GET") return stored ? { body: stored } : { status: 404, body: { reason: "NotFound" } };
    if (method === "POST") return stored ? { status: 409, body: { reason: "AlreadyExists" } } : store(sent.data);
    if (left-- > 0) store({ ...stored?.data, other: String(version) }, o.reborn ? "u2" : undefined);
    if (sent.metadata.resourceVersion !== stored?.metadata.resourceVersion)
      return { status: 409, body: { reason: "Conflict" } };
    return store({ ...(method === "PATCH" && stored?.data), ...sent.data });
  };
  const { client, transport } = await testClient(handler, { clock });
  const settle = <T>(work: Promise<T>): Promise<T> => passing(clock, work, 10_000);
  return { client, transport, settle, data: () => stored?.data };
}

const increase = (body: ConfigMap["body"]) => {
  body.data = { ...body.data, n: String(Number(body.data?.n ?? 0) + 1) };
};

describe("update", () => {
  it("reads first what it only knows by name, and puts it back whole", async () => {
    const { client, transport, settle } = await server();
    const map = await settle(ConfigMap.ref("m", { client }).update(increase));
    expect(map.data).toEqual({ n: "1" });
    expect(transport.requests.map(({ method }) => method)).toEqual(["GET", "PUT"]);
  });

  it("tries again with what somebody else has written", async () => {
    const { client, transport, settle, data } = await server({ conflicts: 3 });
    const map = await client.get(ConfigMap, "m");
    await settle(map.update(increase));
    expect(data()).toMatchObject({ n: "1", other: expect.any(String) });
    expect(transport.requests.filter(({ method }) => method === "PUT")).toHaveLength(4);
  });

  it("takes another body that the function returns, also later", async () => {
    const { client, settle, data } = await server();
    const map = await client.get(ConfigMap, "m");
    await settle(map.update(async (body) => ({ ...body, data: { n: "7" } })));
    expect(data()).toEqual({ n: "7" });
  });

  it("gives up after as many conflicts as it was told, and leaves the object as it was read last", async () => {
    const { client, settle } = await server({ conflicts: 100 });
    const map = await client.get(ConfigMap, "m");
    await expect(settle(map.update(increase, { conflicts: 2 }))).rejects.toMatchObject({ code: "LOTSE_CONFLICT" });
    expect(map.data.n).toBe("0");
  });

  it("does not change another object that has taken the name", async () => {
    const { client, settle, data } = await server({ conflicts: 1, reborn: true });
    const map = await client.get(ConfigMap, "m");
    await expect(settle(map.update(increase))).rejects.toMatchObject({ code: "LOTSE_CONFLICT" });
    expect(data()?.n).toBe("0");
  });
});

describe("createOrPatch", () => {
  it("creates what is not there", async () => {
    const { client, transport, settle } = await server({ exists: false });
    await settle(ConfigMap.ref("m", { client }).createOrPatch(increase));
    expect(transport.requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });

  it("patches the difference alone, with the version, through conflicts", async () => {
    const { client, transport, settle } = await server({ conflicts: 1 });
    await settle(ConfigMap.ref("m", { client }).createOrPatch(increase));
    const patches = transport.requests.filter(({ method }) => method === "PATCH");
    expect(patches).toHaveLength(2);
    expect(patches[1]?.body).toEqual({ data: { n: "1" }, metadata: { resourceVersion: "2" } });
  });

  it("sends nothing when there is no difference", async () => {
    const { client, transport, settle } = await server();
    await settle(ConfigMap.ref("m", { client }).createOrPatch(() => undefined));
    expect(transport.requests.map(({ method }) => method)).toEqual(["GET"]);
  });
});

describe("scale", () => {
  it("goes to the subresource where the kind has one, else to the place that the class names", async () => {
    const Tower = defineKind({
      group: "example.com",
      version: "v1",
      kind: "Tower",
      scale: { specReplicasPath: ".spec.size.floors" },
    });
    const { client, transport } = await testClient(({ path, body }) => ({
      body: path.endsWith("/scale") ? { kind: "Scale" } : (body ?? {}),
    }));
    await Deployment.ref("web", { client }).scale(3);
    await Tower.ref("high", { client }).scale(4);
    const [first, , last] = transport.requests;
    expect(first).toMatchObject({
      method: "PATCH",
      path: "/apis/apps/v1/namespaces/default/deployments/web/scale",
      body: { spec: { replicas: 3 } },
    });
    expect(last).toMatchObject({
      method: "PATCH",
      path: "/apis/example.com/v1/namespaces/default/towers/high",
      body: { spec: { size: { floors: 4 } } },
    });
  });

  it("refuses what is no number of replicas", async () => {
    const { client } = await server();
    const web = Deployment.ref("web", { client });
    await expect(web.scale(-1)).rejects.toThrow("-1 is not a number of replicas");
    await expect(web.scale(1.5)).rejects.toThrow("1.5 is not");
  });

  it("tells listeners nothing that is not the object", async () => {
    const told: unknown[] = [];
    const { client } = await testClient(({ method }) => ({
      body: { kind: method === "PATCH" ? "Scale" : "Deployment" },
    }));
    await Deployment.ref("web", { client: client.with({ onWrite: (body) => told.push(body) }) }).scale(2);
    expect(told).toEqual([]);
  });
});
