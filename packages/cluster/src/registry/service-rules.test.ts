import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call, MERGE } from "../test-requests.ts";

type Fields = Record<string, unknown>;

const path = "/api/v1/namespaces/default/services";

describe("a Service", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, controllers: { workloads: false, quotas: false } });
  });
  afterAll(() => cluster.stop());

  const told = (answer: { status: number; body: Fields }): string[] => {
    if (answer.status < 300) return [];
    const { causes = [] } = (answer.body.details ?? {}) as { causes?: { field: string; message: string }[] };
    return causes.map(({ field, message }) => `${field}: ${message}`);
  };
  const create = (name: string, spec: Fields) => call(cluster, "POST", path, { body: { metadata: { name }, spec } });
  const change = (name: string, spec: Fields) =>
    call(cluster, "PATCH", `${path}/${name}`, { type: MERGE, body: { spec } });
  const specOf = (answer: { body: Fields }) => answer.body.spec as Fields;
  const ports = [{ port: 80 }];

  it.each<[what: string, spec: Fields, errors: string[]]>([
    [
      "with several ports names each of them",
      { ports: [{ port: 1 }, { name: "b", port: 2 }] },
      ["spec.ports[0].name: Required value"],
    ],
    [
      "has a port once",
      {
        ports: [
          { name: "a", port: 1 },
          { name: "b", port: 1 },
        ],
      },
      [
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
      ],
    ],
    [
      "without a port on each node has no such port",
      { ports: [{ port: 1, nodePort: 30001 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      "gets ports of each node out of the range for them",
      { type: "NodePort", ports: [{ port: 1, nodePort: 80 }] },
      [
        "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
      ],
    ],
    [
      "has an address that is one",
      { clusterIP: "x", ports },
      ['spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      "names its address in both fields",
      { clusterIPs: ["10.96.7.7"], ports },
      ['spec.clusterIPs: Invalid value: ["10.96.7.7"]: must be empty when `clusterIP` is not specified'],
    ],
    [
      "demands one family only",
      { ipFamilyPolicy: "RequireDualStack", ports },
      [
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
      ],
    ],
    ["that is a name has one", { type: "ExternalName" }, ["spec.externalName: Required value"]],
    [
      "is reached from outside by an address that can be reached",
      { externalIPs: ["127.0.0.1"], ports },
      ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ],
    [
      "is of a known type",
      { type: "Magic", ports },
      [
        'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
  ])("%s", async (_, spec, errors) => {
    expect(told(await create("refused", spec))).toEqual(errors);
  });

  it("keeps its address, and gets no other", async () => {
    await create("fixed", { ports });
    expect(told(await change("fixed", { clusterIP: "10.96.99.99" }))).toEqual([
      'spec.clusterIPs[0]: Invalid value: ["10.96.99.99"]: may not change once set',
    ]);
    const other = await create("copy", {
      clusterIP: specOf(await call(cluster, "GET", `${path}/fixed`)).clusterIP,
      ports,
    });
    expect(told(other)[0]).toMatch(/^spec\.clusterIPs: .*: provided IP is already allocated$/);
  });

  it("drops what its new type has no use for", async () => {
    const made = specOf(await create("moves", { type: "LoadBalancer", ports, externalTrafficPolicy: "Local" }));
    expect(made).toMatchObject({ allocateLoadBalancerNodePorts: true, healthCheckNodePort: expect.any(Number) });
    const plain = specOf(await change("moves", { type: "ClusterIP" }));
    expect(plain).not.toHaveProperty("healthCheckNodePort");
    expect(plain).not.toHaveProperty("externalTrafficPolicy");
    expect(plain).not.toHaveProperty("allocateLoadBalancerNodePorts");
    expect(plain.ports).toEqual([{ port: 80, protocol: "TCP", targetPort: 80 }]);
    const named = specOf(await change("moves", { type: "ExternalName", externalName: "a.b" }));
    for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]) {
      expect(named).not.toHaveProperty(key);
    }
    const back = specOf(await change("moves", { type: "ClusterIP", externalName: null }));
    expect(back.clusterIP).toMatch(/^10\.96\./);
  });

  it("keeps a port that it has on each node, and takes none of another", async () => {
    const made = specOf(await create("ported", { type: "NodePort", ports: [{ port: 80, nodePort: 30555 }] }));
    expect(made.ports).toMatchObject([{ nodePort: 30555 }]);
    const again = await change("ported", { ports: [{ port: 81 }] });
    expect(specOf(again).ports).toMatchObject([{ port: 81, nodePort: 30555 }]);
    expect(told(await create("thief", { type: "NodePort", ports: [{ port: 80, nodePort: 30555 }] }))).toEqual([
      "spec.ports[0].nodePort: Invalid value: 30555: provided port is already allocated",
    ]);
  });

  it("is given no address of those that are left to people who ask for one", async () => {
    const made = specOf(await create("addressed", { ports }));
    expect(made.clusterIP).toMatch(/^10\.96\.[1-9]/);
    expect(specOf(await create("dns", { ports, clusterIP: "10.96.0.10" })).clusterIP).toBe("10.96.0.10");
  });

  it("is given no port of those that are left to people who ask for one", async () => {
    const many = Array.from({ length: 200 }, (_, i) => ({ name: `p${i}`, port: 1000 + i }));
    const made = specOf(await create("many", { type: "NodePort", ports: many })).ports as { nodePort: number }[];
    expect(new Set(made.map(({ nodePort }) => nodePort)).size).toBe(200);
    expect(Math.min(...made.map(({ nodePort }) => nodePort))).toBeGreaterThanOrEqual(30_086);
    expect(Math.max(...made.map(({ nodePort }) => nodePort))).toBeLessThanOrEqual(32_767);
  });
});
