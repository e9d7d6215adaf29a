import { describe, expect, it } from "vitest";
import { type ApiObject, builtinResources, Catalog, CelSlot, lazyTables } from "../../registry/index.ts";
import { TablePrinter } from "./table.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const catalog = new Catalog();
for (const resource of builtinResources(lazyTables(), new CelSlot())) catalog.register(resource);

/** The row of an object by column, without its name and age. */
function row(group: string, plural: string, object: object): Record<string, unknown> {
  const endpoint = catalog.storage(group, plural);
  if (!endpoint) throw new Error(`no ${plural}`);
  const metadata = { name: "x", namespace: "default", creationTimestamp: "2026-01-01T00:00:00Z" };
  const whole = { ...object, metadata: { ...metadata, ...(object as Partial<ApiObject>).metadata } };
  const table = new TablePrinter(endpoint, "v1", "None", NOW).table([whole as ApiObject], {});
  const cells = table.rows[0]?.cells ?? [];
  const columns = (table.columnDefinitions ?? []).map(({ name }, i) => [name, cells[i]]);
  return Object.fromEntries(columns.filter(([name]) => name !== "Name" && name !== "Age"));
}

describe("the row of an IPAddress", () => {
  it("ends in its age, for which its table has no column", () => {
    const endpoint = catalog.storage("networking.k8s.io", "ipaddresses");
    if (!endpoint) throw new Error("no ipaddresses");
    const metadata = { name: "10.0.0.1", creationTimestamp: "2026-01-01T00:00:00Z" };
    const object = { metadata, spec: { parentRef: { resource: "services", name: "s" } } } as unknown as ApiObject;
    const table = new TablePrinter(endpoint, "v1", "None", NOW).table([object], {});
    expect(table.columnDefinitions?.map(({ name }) => name)).toEqual(["Name", "ParentRef"]);
    expect(table.rows[0]?.cells).toEqual(["10.0.0.1", "services/s", "60m"]);
  });
});

describe("a pod's row", () => {
  const pod = (spec: object, status: object, metadata: object = {}) =>
    row("", "pods", { spec: { containers: [{ name: "c" }], ...spec }, status, metadata });
  const main = (state: object, more: object = {}) => ({
    phase: "Running",
    containerStatuses: [{ name: "c", restartCount: 0, ready: false, state, ...more }],
  });
  const init = (state: object, more: object = {}) => ({
    phase: "Pending",
    initContainerStatuses: [{ name: "i", restartCount: 0, state, ...more }],
  });
  const inits = { initContainers: [{ name: "i" }, { name: "j" }] };

  it.each<[string, object, object, string]>([
    ["its phase", {}, { phase: "Pending" }, "Pending"],
    ["why it failed", {}, { phase: "Failed", reason: "Evicted" }, "Evicted"],
    ["what it waits for", {}, main({ waiting: { reason: "CrashLoopBackOff" } }), "CrashLoopBackOff"],
    ["how its container ended", {}, main({ terminated: { exitCode: 1, reason: "Error" } }), "Error"],
    ["by which signal", {}, main({ terminated: { exitCode: 137, signal: 9 } }), "Signal:9"],
    ["with which code", {}, main({ terminated: { exitCode: 3 } }), "ExitCode:3"],
    ["how far its initialization is", inits, init({ running: {} }), "Init:0/2"],
    ["what its initialization waits for", inits, init({ waiting: { reason: "ErrImagePull" } }), "Init:ErrImagePull"],
    ["how its initialization failed", inits, init({ terminated: { exitCode: 2 } }), "Init:ExitCode:2"],
    [
      "that it waits for a gate",
      {},
      { phase: "Pending", conditions: [{ type: "PodScheduled", reason: "SchedulingGated" }] },
      "SchedulingGated",
    ],
    [
      "that one of its containers is done while another one runs",
      { containers: [{ name: "a" }, { name: "b" }] },
      {
        phase: "Running",
        conditions: [{ type: "Ready", status: "False" }],
        containerStatuses: [
          { name: "a", state: { terminated: { exitCode: 0, reason: "Completed" } } },
          { name: "b", ready: true, state: { running: {} } },
        ],
      },
      "NotReady",
    ],
  ])("tells %s", (_what, spec, status, word) => {
    expect(pod(spec, status).Status).toBe(word);
  });

  it("tells that it goes, and that its node is lost", () => {
    const going = { deletionTimestamp: "2026-01-01T00:30:00Z" };
    expect(pod({}, main({ running: {} }), going).Status).toBe("Terminating");
    expect(pod({}, { phase: "Running", reason: "NodeLost" }, going).Status).toBe("Unknown");
    expect(pod({}, { phase: "Succeeded" }, going).Status).toBe("Succeeded");
  });

  it("counts what is ready, sidecars included, and restarts with the time of the last one", () => {
    const cells = pod(
      { initContainers: [{ name: "s", restartPolicy: "Always" }] },
      {
        phase: "Running",
        conditions: [{ type: "Initialized", status: "True" }],
        initContainerStatuses: [{ name: "s", ready: true, started: true, restartCount: 1, state: { running: {} } }],
        containerStatuses: [
          {
            name: "c",
            ready: true,
            restartCount: 2,
            state: { running: {} },
            lastState: { terminated: { finishedAt: "2026-01-01T00:50:00Z" } },
          },
        ],
      },
    );
    expect(cells).toMatchObject({ Ready: "2/2", Status: "Running", Restarts: "3 (10m ago)" });
  });
});

describe("rows of other kinds", () => {
  it.each<[string, string, object, Record<string, unknown>]>([
    [
      "",
      "services",
      {
        spec: {
          type: "LoadBalancer",
          clusterIP: "10.0.0.1",
          externalIPs: ["1.2.3.4"],
          ports: [
            { port: 80, nodePort: 30080, protocol: "TCP" },
            { port: 53, protocol: "UDP" },
          ],
          selector: { app: "web" },
        },
        status: { loadBalancer: { ingress: [{ hostname: "lb.example.com" }] } },
      },
      { Type: "LoadBalancer", "External-IP": "lb.example.com,1.2.3.4", "Port(s)": "80:30080/TCP,53/UDP" },
    ],
    ["", "services", { spec: { type: "LoadBalancer" } }, { "External-IP": "<pending>", "Port(s)": "<none>" }],
    ["", "services", { spec: { type: "ExternalName", externalName: "a.b" } }, { "External-IP": "a.b" }],
    ["", "endpoints", {}, { Endpoints: "<none>" }],
    [
      "",
      "endpoints",
      { subsets: [{ addresses: [{ ip: "1" }, { ip: "2" }], ports: [{ port: 1 }, { port: 2 }] }] },
      { Endpoints: "1:1,1:2,2:1 + 1 more..." },
    ],
    ["", "endpoints", { subsets: [{ addresses: [{ ip: "1" }] }] }, { Endpoints: "1" }],
    ["storage.k8s.io", "csinodes", { spec: { drivers: [{ name: "a" }, { name: "b" }] } }, { Drivers: 2 }],
    [
      "storage.k8s.io",
      "volumeattachments",
      { spec: { attacher: "a.io", nodeName: "n", source: { persistentVolumeName: "v" } } },
      { Attacher: "a.io", PV: "v", Node: "n", Attached: false },
    ],
    [
      "admissionregistration.k8s.io",
      "validatingadmissionpolicybindings",
      { spec: { policyName: "p", paramRef: { name: "a" } } },
      { PolicyName: "p", ParamRef: "*/a" },
    ],
    [
      "admissionregistration.k8s.io",
      "mutatingadmissionpolicybindings",
      { spec: { policyName: "p", paramRef: { name: "a", namespace: "n" } } },
      { PolicyName: "p", ParamRef: "n/a" },
    ],
    [
      "admissionregistration.k8s.io",
      "mutatingadmissionpolicies",
      { spec: { mutations: [{}], paramKind: { apiVersion: "v1", kind: "ConfigMap" } } },
      { Mutations: 1, ParamKind: "v1/ConfigMap" },
    ],
    ["resource.k8s.io", "resourceclaims", { status: {} }, { State: "pending" }],
    [
      "resource.k8s.io",
      "resourceclaims",
      { status: { allocation: {}, reservedFor: [{}] } },
      { State: "allocated,reserved" },
    ],
    [
      "networking.k8s.io",
      "servicecidrs",
      { spec: { cidrs: ["10.0.0.0/24", "fd00::/112"] } },
      { CIDRs: "10.0.0.0/24,fd00::/112" },
    ],
    [
      "networking.k8s.io",
      "ipaddresses",
      { spec: { parentRef: { resource: "services", namespace: "n", name: "s" } } },
      { ParentRef: "services/n/s" },
    ],
    [
      "apiregistration.k8s.io",
      "apiservices",
      { spec: {}, status: { conditions: [{ type: "Available", status: "False", reason: "No" }] } },
      { Service: "Local", Available: "False (No)" },
    ],
    [
      "autoscaling",
      "horizontalpodautoscalers",
      {
        spec: {
          metrics: [
            { type: "Pods", pods: { target: { averageValue: "10" } } },
            { type: "External", external: { target: { averageValue: "3" } } },
            { type: "Resource", resource: { name: "cpu", target: { averageUtilization: 80 } } },
          ],
        },
        status: { currentMetrics: [{ pods: { current: { averageValue: "5" } } }] },
      },
      { Targets: "5/10, <unknown>/3 (avg) + 1 more..." },
    ],
    [
      "autoscaling",
      "horizontalpodautoscalers",
      { spec: { metrics: [{ type: "Resource", resource: { name: "cpu", target: { averageUtilization: 80 } } }] } },
      { Targets: "cpu: <unknown>/80%" },
    ],
    ["discovery.k8s.io", "endpointslices", { endpoints: [] }, { Ports: "<unset>", Endpoints: "<unset>" }],
    [
      "networking.k8s.io",
      "ingresses",
      {
        spec: { ingressClassName: "n", tls: [{}], rules: [{ host: "a" }, { host: "b" }, { host: "c" }, { host: "d" }] },
        status: { loadBalancer: { ingress: [{ ip: "1.1.1.1" }, { hostname: "h" }] } },
      },
      { Class: "n", Hosts: "a,b,c + 1 more...", Address: "1.1.1.1,h", Ports: "80, 443" },
    ],
    ["networking.k8s.io", "ingresses", { spec: {} }, { Class: "<none>", Hosts: "*", Address: "", Ports: "80" }],
    [
      "",
      "nodes",
      {
        metadata: { labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge" } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: "Ready", status: "False" }],
          addresses: [{ type: "InternalIP", address: "10.0.0.9" }],
          nodeInfo: { kubeletVersion: "v1.36.0" },
        },
      },
      { Status: "NotReady,SchedulingDisabled", Roles: "edge,worker", Version: "v1.36.0", "Internal-IP": "10.0.0.9" },
    ],
    ["", "nodes", {}, { Status: "Unknown", Roles: "<none>", "External-IP": "<none>" }],
    [
      "",
      "persistentvolumeclaims",
      {
        spec: { volumeName: "v", storageClassName: "s" },
        status: { phase: "Bound", capacity: { storage: "5Gi" }, accessModes: ["ReadWriteOnce", "ReadOnlyMany"] },
      },
      { Status: "Bound", Volume: "v", Capacity: "5Gi", "Access Modes": "RWO,ROX", StorageClass: "s" },
    ],
    [
      "",
      "events",
      {
        type: "Warning",
        reason: "BackOff",
        message: " again\n",
        count: 3,
        firstTimestamp: "2026-01-01T00:10:00Z",
        lastTimestamp: "2026-01-01T00:55:00Z",
        involvedObject: { kind: "Pod", name: "p", fieldPath: "spec.containers{c}" },
        source: { component: "kubelet", host: "n" },
      },
      { "Last Seen": "5m", Type: "Warning", Object: "pod/p", Source: "kubelet, n", "First Seen": "50m", Count: 3 },
    ],
    [
      "rbac.authorization.k8s.io",
      "rolebindings",
      {
        roleRef: { kind: "Role", name: "r" },
        subjects: [
          { kind: "User", name: "u" },
          { kind: "Group", name: "g" },
          { kind: "ServiceAccount", namespace: "ns", name: "sa" },
        ],
      },
      { Role: "Role/r", Users: "u", Groups: "g", ServiceAccounts: "ns/sa" },
    ],
    [
      "",
      "resourcequotas",
      { status: { hard: { pods: "4", "limits.cpu": "2" }, used: { pods: "1", "limits.cpu": "500m" } } },
      { Request: "pods: 1/4", Limit: "limits.cpu: 500m/2" },
    ],
  ])("of %s %s", (group, plural, object, expected) => {
    expect(row(group, plural, object)).toMatchObject(expected);
  });
});
