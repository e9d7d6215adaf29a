import { describe, expect, it } from "vitest";
import { Cluster } from "../../../cluster.ts";
import { call, MERGE } from "../../../test-requests.ts";
import type { EndpointSlice, Endpoints } from "../tables.ts";
import { isMirrored, planMirrors } from "./endpoint-mirror.ts";

const CORE = "/api/v1/namespaces/default";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const OF_WEB = `${SLICES}?labelSelector=kubernetes.io/service-name=web`;
const ports = [{ name: "http", port: 80, protocol: "TCP" }];

const endpoints = (subsets: object[], metadata: object = {}) => ({ metadata: { name: "web", ...metadata }, subsets });

async function mirrors(cluster: Cluster): Promise<EndpointSlice[]> {
  await cluster.settle();
  return (await call(cluster, "GET", OF_WEB)).body.items;
}

async function bareService(): Promise<Cluster> {
  const cluster = await Cluster.start({ tls: false });
  const service = { metadata: { name: "web" }, spec: { ports: [{ name: "http", port: 80 }] } };
  await call(cluster, "POST", `${CORE}/services`, { body: service });
  return cluster;
}

describe("Endpoints that somebody wrote by hand", () => {
  it("are there as slices, too, as long as they are", async () => {
    await using cluster = await bareService();
    const metadata = { labels: { tier: "front" }, annotations: { note: "x" } };
    const body = endpoints([{ addresses: [{ ip: "10.1.2.3" }, { ip: "fd00::1" }], ports }], metadata);
    await call(cluster, "POST", `${CORE}/endpoints`, { body });
    const made = await mirrors(cluster);
    expect(made.map(({ addressType }) => addressType).sort()).toEqual(["IPv4", "IPv6"]);
    expect(made.find(({ addressType }) => addressType === "IPv4")).toMatchObject({
      metadata: {
        generateName: "web-",
        labels: {
          tier: "front",
          "kubernetes.io/service-name": "web",
          "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
        },
        annotations: { note: "x" },
        ownerReferences: [{ kind: "Endpoints", name: "web", controller: true }],
      },
      endpoints: [{ addresses: ["10.1.2.3"], conditions: { ready: true } }],
      ports,
    });

    const changed = { subsets: [{ notReadyAddresses: [{ ip: "10.2.3.4" }], ports: [{ ...ports[0], port: 81 }] }] };
    await call(cluster, "PATCH", `${CORE}/endpoints/web`, { type: MERGE, body: changed });
    const [slice, ...others] = await mirrors(cluster);
    expect(others).toEqual([]);
    expect(slice).toMatchObject({
      endpoints: [{ addresses: ["10.2.3.4"], conditions: { ready: false } }],
      ports: [{ port: 81 }],
    });

    await call(cluster, "DELETE", `${CORE}/endpoints/web`);
    expect(await mirrors(cluster)).toEqual([]);
  });

  it("are put right in their slices when somebody changes those", async () => {
    await using cluster = await bareService();
    await call(cluster, "POST", `${CORE}/endpoints`, { body: endpoints([{ addresses: [{ ip: "10.1.2.3" }], ports }]) });
    const [slice] = await mirrors(cluster);
    await call(cluster, "PATCH", `${SLICES}/${slice?.metadata.name}`, { type: MERGE, body: { endpoints: [] } });
    expect(await mirrors(cluster)).toMatchObject([{ endpoints: [{ addresses: ["10.1.2.3"] }] }]);
  });

  it("have no slices when their service picks its pods, or when they say so", async () => {
    await using cluster = await bareService();
    await call(cluster, "POST", `${CORE}/endpoints`, { body: endpoints([{ addresses: [{ ip: "10.1.2.3" }], ports }]) });
    expect(await mirrors(cluster)).toHaveLength(1);
    const skip = { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } };
    await call(cluster, "PATCH", `${CORE}/endpoints/web`, { type: MERGE, body: skip });
    expect(await mirrors(cluster)).toEqual([]);
    const meta = (more: object) => isMirrored({ metadata: { name: "x", ...more } } as unknown as Endpoints);
    expect([meta({}), meta({ annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } })]).toEqual([
      true,
      false,
    ]);
  });

  it("are mirrored up to a thousand in each subset", () => {
    const addresses = Array.from({ length: 1_002 }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }));
    const { drafts, skipped } = planMirrors(endpoints([{ addresses, ports }]) as unknown as Endpoints, []);
    expect([drafts[0]?.object.endpoints?.length, skipped]).toEqual([1_000, 2]);
  });
});
