import { describe, expect, it } from "vitest";
import type { EndpointSlice, Pod, Service } from "../tables.ts";
import { Stage, template, workload } from "../test-stage.ts";
import { endpointSubsets, findPort, planSlices, truncateSubsets } from "./endpoint-plan.ts";

const service = (spec: object = {}): Service =>
  ({
    metadata: { name: "web", namespace: "default", uid: "svc", labels: { tier: "front" } },
    spec: {
      clusterIP: "10.0.0.7",
      selector: { app: "web" },
      ports: [{ port: 80, protocol: "TCP", targetPort: "http" }],
      ...spec,
    },
  }) as unknown as Service;

interface PodSketch {
  readonly ip?: string;
  readonly ready?: boolean;
  readonly deleted?: boolean;
  readonly phase?: string;
  readonly port?: number;
}

const pod = (
  name: string,
  { ip = "10.244.0.1", ready = true, deleted, phase = "Running", port = 8080 }: PodSketch = {},
): Pod =>
  ({
    metadata: {
      name,
      namespace: "default",
      uid: name,
      ...(deleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: {
      nodeName: "n",
      containers: [{ name: "c", ports: [{ name: "http", containerPort: port, protocol: "TCP" }] }],
    },
    status: { phase, podIP: ip, conditions: ready ? [{ type: "Ready", status: "True" }] : [] },
  }) as unknown as Pod;

describe("what is behind a service", () => {
  it("is ready, not ready, or not there", () => {
    const pods = [
      pod("b", { ip: "10.244.0.2" }),
      pod("a"),
      pod("slow", { ip: "10.244.0.3", ready: false }),
      pod("leaving", { ip: "10.244.0.4", deleted: true }),
      pod("done", { phase: "Succeeded", ready: false }),
      pod("early", { ip: "" }),
    ];
    expect(endpointSubsets(service(), pods)).toMatchObject([
      {
        addresses: [
          { ip: "10.244.0.1", nodeName: "n", targetRef: { kind: "Pod", name: "a" } },
          { ip: "10.244.0.2", targetRef: { name: "b" } },
        ],
        notReadyAddresses: [{ ip: "10.244.0.3" }],
        ports: [{ port: 8080, protocol: "TCP" }],
      },
    ]);
    const published = endpointSubsets(service({ publishNotReadyAddresses: true }), pods);
    expect(published[0]?.addresses).toHaveLength(4);
  });

  it("is grouped by the ports that names stand for", () => {
    const subsets = endpointSubsets(service(), [pod("a"), pod("b", { port: 9090 })]);
    expect(subsets.map(({ ports }) => ports?.[0]?.port)).toEqual([8080, 9090]);
  });

  it.each([
    [{ port: 80, targetPort: 8080 }, 8080],
    [{ port: 80 }, 80],
    [{ port: 80, targetPort: "http" }, 8080],
    [{ port: 80, targetPort: "http", protocol: "UDP" as const }, undefined],
    [{ port: 80, targetPort: "none" }, undefined],
  ])("has the port of %j at %s", (port, expected) => {
    expect(findPort(pod("a"), port)).toBe(expected);
  });

  it("is told in slices of a hundred, which change as little as may be", () => {
    const pods = Array.from({ length: 150 }, (_, at) => pod(`p${at}`, { ip: `10.244.1.${at}` }));
    const first = planSlices(service(), pods, []);
    expect(first.drafts.map(({ object }) => object.endpoints?.length)).toEqual([100, 50]);
    const existing = first.drafts.map(
      ({ object }, at): EndpointSlice => ({ ...object, metadata: { ...object.metadata, name: `s${at}` } }),
    );
    const second = planSlices(service(), pods.slice(0, 90), existing);
    expect(second.drafts.map(({ known }) => known?.metadata.name)).toEqual(["s0"]);
    expect(second.remove.map(({ metadata }) => metadata.name)).toEqual(["s1"]);
    const none = planSlices(service(), [], existing);
    expect(none.drafts).toMatchObject([{ object: { endpoints: null, ports: null } }]);
  });

  it("still serves while it is on its way out", () => {
    const [draft] = planSlices(service(), [pod("a", { deleted: true })], []).drafts;
    expect(draft?.object.endpoints?.[0]?.conditions).toEqual({ ready: false, serving: true, terminating: true });
  });

  it("names no more than a thousand addresses, ready ones first", () => {
    const many = Array.from({ length: 1_200 }, (_, at) => pod(`p${at}`, { ip: `10.244.1.${at}`, ready: at < 900 }));
    const subsets = endpointSubsets(service(), many);
    const [some] = truncateSubsets(subsets) ?? [];
    expect(some?.addresses).toHaveLength(900);
    expect(some?.notReadyAddresses).toHaveLength(100);
    expect(some?.ports).toEqual(subsets[0]?.ports);
    expect(truncateSubsets(endpointSubsets(service(), many.slice(0, 1_000)))).toBeUndefined();
  });
});

/** All but the API server's own. */
const slicesOf = async (stage: Stage) =>
  (await stage.list("endpointslices")).filter(({ metadata }) => metadata.name !== "kubernetes");

describe("a Service", () => {
  it("knows its pods by Endpoints and EndpointSlices", async () => {
    await using stage = await Stage.start();
    const ports = [{ name: "http", port: 80, targetPort: "web" }];
    await stage.create("services", { metadata: { name: "web" }, spec: { selector: { app: "web" }, ports } });
    expect((await slicesOf(stage))[0]).toMatchObject({ endpoints: null, addressType: "IPv4" });

    const containers = [{ name: "c", image: "app:1", ports: [{ name: "web", containerPort: 8080 }] }];
    await stage.create("deployments", workload("web", { replicas: 2, template: template("web", "", { containers }) }));
    await stage.pass(1_000);
    const [slice, ...more] = await slicesOf(stage);
    expect(more).toEqual([]);
    expect(slice).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^web-[a-z0-9]{5}$/),
        labels: {
          "kubernetes.io/service-name": "web",
          "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        },
        ownerReferences: [{ kind: "Service", name: "web", controller: true }],
      },
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      endpoints: [
        { conditions: { ready: true, serving: true, terminating: false }, nodeName: "lotse-node" },
        { conditions: { ready: true } },
      ],
    });
    const endpoints = await stage.get("endpoints", "web");
    expect(endpoints.subsets).toMatchObject([{ addresses: [{}, {}], ports: [{ name: "http", port: 8080 }] }]);
    expect(endpoints.metadata.labels).toEqual({ "endpoints.kubernetes.io/managed-by": "endpoint-controller" });

    await stage.patch("deployments", "web", { spec: { replicas: 0 } });
    await stage.pass(1_000);
    expect((await stage.get("endpoints", "web")).subsets).toBeUndefined();
    expect((await slicesOf(stage))[0].endpoints).toBeNull();
    await stage.remove("services", "web");
    expect(await stage.names("endpointslices")).toEqual(["kubernetes"]);
    expect(await stage.names("endpoints")).toEqual(["kubernetes"]);
  });

  it("gives the pods of a StatefulSet their names", async () => {
    await using stage = await Stage.start();
    await stage.create("services", { metadata: { name: "db" }, spec: { clusterIP: "None", selector: { app: "db" } } });
    await stage.create("statefulsets", workload("db", { replicas: 1, serviceName: "db" }));
    await stage.pass(1_000);
    const [slice] = await slicesOf(stage);
    expect(slice.endpoints).toMatchObject([{ hostname: "db-0" }]);
    expect(slice.metadata.labels).toMatchObject({ "service.kubernetes.io/headless": "" });
    expect((await stage.get("endpoints", "db")).subsets).toMatchObject([{ addresses: [{ hostname: "db-0" }] }]);
  });

  it("is left alone without a selector", async () => {
    await using stage = await Stage.start();
    await stage.create("services", {
      metadata: { name: "other" },
      spec: { selector: { app: "x" }, ports: [{ port: 1 }] },
    });
    await stage.create("services", { metadata: { name: "own" }, spec: { ports: [{ port: 80 }] } });
    expect(await stage.names("endpoints")).toEqual(["kubernetes", "other"]);
  });
});
