import { describe, expect, it } from "vitest";
import type { ApiObject, Resource } from "../../registry/index.ts";
import { evaluatorOf, type Scope } from "./evaluators.ts";
import { writeAmounts } from "./usage.ts";

const resource = (plural: string, group = ""): Resource =>
  ({ group, plural, namespaced: true, table: group === "" ? plural : `${plural}.${group}` }) as unknown as Resource;

const evaluator = (plural: string, group = "") => {
  const found = evaluatorOf(resource(plural, group));
  if (!found) throw new Error(`${plural} are not counted`);
  return found;
};

const pod = (spec: object, more: object = {}): ApiObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", uid: "", resourceVersion: "" },
    spec,
    ...more,
  }) as ApiObject;

const used = (plural: string, object: object, now = 0) =>
  writeAmounts(evaluator(plural).usage(object as ApiObject, now));

const container = (requests: object, limits: object = {}, more: object = {}) => ({
  name: "c",
  resources: { requests, limits },
  ...more,
});

describe("what a pod uses", () => {
  it("is the sum of its containers, or the hungriest that runs before them beside what keeps running", () => {
    const spec = {
      initContainers: [
        container({ cpu: "100m" }, {}, { restartPolicy: "Always" }),
        container({ cpu: "2", memory: "1Mi" }),
      ],
      containers: [
        container({ cpu: "500m", memory: "1Gi" }, { cpu: "1" }),
        container({ cpu: "500m" }, { cpu: "500m" }),
      ],
    };
    expect(used("pods", pod(spec))).toEqual({
      "count/pods": "1",
      cpu: "2100m",
      "limits.cpu": "1500m",
      memory: "1Gi",
      pods: "1",
      "requests.cpu": "2100m",
      "requests.memory": "1Gi",
    });
  });

  it("includes overhead, large pages and devices, and is what the pod itself says where it does", () => {
    const spec = {
      overhead: { cpu: "10m" },
      resources: { requests: { cpu: "3" } },
      containers: [container({ cpu: "1", "hugepages-2Mi": "4Mi", "example.com/gpu": "2" })],
    };
    expect(used("pods", pod(spec))).toMatchObject({
      "requests.cpu": "3010m",
      "hugepages-2Mi": "4Mi",
      "requests.hugepages-2Mi": "4Mi",
      "requests.example.com/gpu": "2",
    });
  });

  it("is nothing but a place once it is over, or should have been long ago", () => {
    const spec = { containers: [container({ cpu: "1" })] };
    expect(used("pods", pod(spec, { status: { phase: "Succeeded" } }))).toEqual({ "count/pods": "1" });
    const metadata = { name: "p", deletionTimestamp: "1970-01-01T00:00:10Z", deletionGracePeriodSeconds: 5 };
    expect(used("pods", pod(spec, { metadata }), 14_000)).toHaveProperty("pods");
    expect(used("pods", pod(spec, { metadata }), 16_000)).toEqual({ "count/pods": "1" });
  });
});

describe("the scopes of a pod", () => {
  const inScope = (spec: object, scopeName: string, operator = "Exists", values: string[] = []) =>
    evaluator("pods").inScope?.(pod(spec), { scopeName, operator, values } satisfies Scope);
  const plain = { containers: [container({})] };

  it.each([
    [{ ...plain, activeDeadlineSeconds: 5 }, "Terminating", true],
    [{ ...plain, activeDeadlineSeconds: 5 }, "NotTerminating", false],
    [plain, "NotTerminating", true],
    [plain, "BestEffort", true],
    [{ containers: [container({ cpu: "1m" })] }, "BestEffort", false],
    [{ containers: [container({ cpu: "1m" })] }, "NotBestEffort", true],
    [{ ...plain, priorityClassName: "high" }, "PriorityClass", true],
    [plain, "PriorityClass", false],
    [plain, "CrossNamespacePodAffinity", false],
    [
      {
        ...plain,
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { namespaceSelector: {} } }],
          },
        },
      },
      "CrossNamespacePodAffinity",
      true,
    ],
    [plain, "Unheard", false],
  ])("%j in %s: %s", (spec, scope, expected) => {
    expect(inScope(spec, scope)).toBe(expected);
  });

  it("may name priority classes", () => {
    const high = { ...plain, priorityClassName: "high" };
    expect(inScope(high, "PriorityClass", "In", ["high", "low"])).toBe(true);
    expect(inScope(high, "PriorityClass", "NotIn", ["high"])).toBe(false);
    expect(inScope(plain, "PriorityClass", "DoesNotExist")).toBe(true);
  });
});

describe("other kinds", () => {
  it("count services by what they open", () => {
    const service = (spec: object) => ({
      metadata: {},
      spec: { ports: [{ port: 80 }, { port: 443, nodePort: 30_000 }], ...spec },
    });
    const ports = (spec: object) => used("services", service(spec));
    expect(ports({ type: "ClusterIP" })).toMatchObject({ "services.nodeports": "0", "services.loadbalancers": "0" });
    expect(ports({ type: "NodePort" })).toMatchObject({ "services.nodeports": "2", services: "1" });
    expect(ports({ type: "LoadBalancer" })).toMatchObject({ "services.nodeports": "2", "services.loadbalancers": "1" });
    const without = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false };
    expect(ports(without)).toMatchObject({ "services.nodeports": "1" });
  });

  it("track the names that are about them", () => {
    const names = [
      "pods",
      "limits.cpu",
      "requests.example.com/gpu",
      "services.nodeports",
      "requests.storage",
      "gold.storageclass.storage.k8s.io/requests.storage",
      "count/widgets.example.com",
      "configmaps",
    ];
    const tracked = (plural: string, group = "") => names.filter((name) => evaluator(plural, group).tracks(name));
    expect(tracked("pods")).toEqual(["pods", "limits.cpu", "requests.example.com/gpu"]);
    expect(tracked("services")).toEqual(["services.nodeports"]);
    expect(tracked("persistentvolumeclaims")).toEqual([
      "requests.storage",
      "gold.storageclass.storage.k8s.io/requests.storage",
    ]);
    expect(tracked("widgets", "example.com")).toEqual(["count/widgets.example.com"]);
    expect(tracked("configmaps")).toEqual(["configmaps"]);
  });

  it("are not counted when they are events or in no namespace", () => {
    expect(evaluatorOf(resource("events"))).toBeUndefined();
    expect(evaluatorOf({ ...resource("nodes"), namespaced: false })).toBeUndefined();
  });
});
