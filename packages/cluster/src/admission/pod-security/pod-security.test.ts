import { describe, expect, it } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call, MERGE, STRATEGIC } from "../../test-requests.ts";
import { objections } from "./checks.ts";
import type { Level } from "./policy.ts";
import { subjectOf } from "./subject.ts";

const LABEL = "pod-security.kubernetes.io/";

const namespace = (name: string, labels: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name,
    labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [LABEL + key, value])),
  },
});

const pod = (name: string, spec: object = {}, container: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "main", image: "main:1", ...container }], ...spec },
});

const modest = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};

async function start(labels: Record<string, string>): Promise<Cluster> {
  const cluster = await Cluster.start({ tls: false });
  const { status } = await call(cluster, "POST", "/api/v1/namespaces", { body: namespace("yard", labels) });
  expect(status).toBe(201);
  return cluster;
}

const PODS = "/api/v1/namespaces/yard/pods";

describe("a namespace with a level of pod security", () => {
  it("refuses pods that ask for more, and says each thing that is wrong", async () => {
    await using cluster = await start({ enforce: "restricted" });
    const { status, body } = await call(cluster, "POST", PODS, { body: pod("a") });
    expect(status).toBe(403);
    expect(body).toMatchObject({ reason: "Forbidden", details: { name: "a", kind: "pods" } });
    expect(body.message).toBe(
      'pods "a" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
    expect((await call(cluster, "POST", PODS, { body: pod("b", {}, { securityContext: modest }) })).status).toBe(201);
  });

  it("warns who writes a template of pods that it would refuse", async () => {
    await using cluster = await start({ enforce: "baseline" });
    const { status, warnings } = await call(cluster, "POST", "/apis/apps/v1/namespaces/yard/deployments", {
      body: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web" },
        spec: {
          selector: { matchLabels: { app: "web" } },
          template: {
            metadata: { labels: { app: "web" } },
            spec: { hostPID: true, containers: [{ name: "main", image: "main:1" }] },
          },
        },
      },
    });
    expect(status).toBe(201);
    expect(warnings).toEqual([
      '299 - "would violate PodSecurity \\"baseline:latest\\": host namespaces (hostPID=true)"',
    ]);
  });

  it("only warns where it only asks for warnings", async () => {
    await using cluster = await start({ warn: "baseline", "warn-version": "v1.30" });
    const { status, warnings } = await call(cluster, "POST", PODS, { body: pod("a", { hostIPC: true }) });
    expect(status).toBe(201);
    expect(warnings).toEqual([
      '299 - "would violate PodSecurity \\"baseline:v1.30\\": host namespaces (hostIPC=true)"',
    ]);
  });

  it("notes for those who audit what it holds pods to, and what it would have refused", async () => {
    await using cluster = await start({ enforce: "baseline", "enforce-version": "v1.30", audit: "restricted" });
    const noted = () => cluster.requests.filter({ resource: "pods", verb: "create" }).at(-1)?.auditAnnotations ?? {};
    await call(cluster, "POST", PODS, { body: pod("a", {}, { securityContext: modest }) });
    expect(noted()).toEqual({ "pod-security.kubernetes.io/enforce-policy": "baseline:v1.30" });
    await call(cluster, "POST", PODS, { body: pod("b") });
    expect(noted()).toEqual({
      "pod-security.kubernetes.io/enforce-policy": "baseline:v1.30",
      "pod-security.kubernetes.io/audit-violations": expect.stringMatching(
        /^would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false \(/,
      ),
    });
    await call(cluster, "POST", PODS, { body: pod("c", { hostPID: true }) });
    expect(Object.keys(noted())).toHaveLength(2);
    const body = { metadata: { annotations: { a: "b" } } };
    await call(cluster, "PATCH", `${PODS}/a`, { body, type: MERGE });
    expect(cluster.requests.filter({ verb: "patch" }).at(-1)?.auditAnnotations).toBeUndefined();
  });

  it("tells which pods are there that its new level would refuse", async () => {
    await using cluster = await start({});
    for (const name of ["b", "a", "c"]) await call(cluster, "POST", PODS, { body: pod(name, { hostPID: true }) });
    await call(cluster, "POST", PODS, { body: pod("d", {}, { securityContext: { privileged: true } }) });
    const { warnings } = await call(cluster, "PATCH", "/api/v1/namespaces/yard", {
      type: MERGE,
      body: { metadata: { labels: { [`${LABEL}enforce`]: "baseline" } } },
    });
    expect(warnings).toEqual([
      '299 - "existing pods in namespace \\"yard\\" violate the new PodSecurity enforce level \\"baseline:latest\\""',
      '299 - "a (and 2 other pods): host namespaces"',
      '299 - "d: privileged"',
    ]);
  });

  it("lets what is there be changed, but not its images", async () => {
    await using cluster = await start({});
    await call(cluster, "POST", PODS, { body: pod("a", { hostPID: true }) });
    const labels = { [`${LABEL}enforce`]: "baseline" };
    await call(cluster, "PATCH", "/api/v1/namespaces/yard", { type: MERGE, body: { metadata: { labels } } });
    const change = (body: object) => call(cluster, "PATCH", `${PODS}/a`, { type: STRATEGIC, body });
    expect((await change({ metadata: { labels: { a: "b" } } })).status).toBe(200);
    expect((await change({ spec: { containers: [{ name: "main", image: "main:2" }] } })).status).toBe(403);
  });

  it("refuses levels and versions that there are not", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const { status, body } = await call(cluster, "POST", "/api/v1/namespaces", {
      body: namespace("yard", { enforce: "toString", "audit-version": "1.30" }),
    });
    expect(status).toBe(422);
    expect(body.message).toBe(
      'Namespace "yard" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "toString": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "1.30": must be "latest" or "v1.x"]',
    );
  });

  it("can be told to leave pods alone", async () => {
    await using cluster = await Cluster.start({ tls: false, admission: { disable: ["PodSecurity"] } });
    await call(cluster, "POST", "/api/v1/namespaces", { body: namespace("yard", { enforce: "restricted" }) });
    expect((await call(cluster, "POST", PODS, { body: pod("a") })).status).toBe(201);
  });
});

describe("what a level objects to", () => {
  const reasons = (level: Level, minor: number | undefined, spec: object, container: object = {}, metadata = {}) =>
    objections(
      { level, minor },
      subjectOf(metadata, { containers: [{ name: "main", ...container }], ...spec } as Record<string, unknown>),
    ).map(({ reason, detail }) => `${reason} (${detail})`);

  it("is nothing where everything may be", () => {
    expect(reasons("privileged", undefined, { hostPID: true })).toEqual([]);
  });

  it.each<[string, object, object, object, string]>([
    [
      "AppArmor",
      { securityContext: { appArmorProfile: { type: "Unconfined" } } },
      {},
      { annotations: { "container.apparmor.security.beta.kubernetes.io/main": "unconfined" } },
      'forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/main="unconfined"")',
    ],
    [
      "capabilities",
      {},
      { securityContext: { capabilities: { add: ["SYS_ADMIN", "CHOWN", "NET_RAW"] } } },
      {},
      'non-default capabilities (container "main" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
    ],
    ["folders", { volumes: [{ name: "a", hostPath: {} }] }, {}, {}, 'hostPath volumes (volume "a")'],
    [
      "ports",
      {},
      { ports: [{ hostPort: 90 }, { hostPort: 8080 }] },
      {},
      'hostPort (container "main" uses hostPorts 8080, 90)',
    ],
    [
      "hosts of probes",
      {},
      { livenessProbe: { httpGet: { host: "b" } }, lifecycle: { preStop: { tcpSocket: { host: "a" } } } },
      {},
      'probe or lifecycle host (container "main" uses probe or lifecycle hosts "a", "b")',
    ],
    [
      "/proc",
      {},
      { securityContext: { procMount: "Unmasked" } },
      {},
      'procMount (container "main" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      "SELinux",
      { securityContext: { seLinuxOptions: { type: "spc_t", user: "u" } } },
      { securityContext: { seLinuxOptions: { role: "r" } } },
      {},
      'seLinuxOptions (pod and container "main" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
    ],
    [
      "seccomp",
      { securityContext: { seccompProfile: { type: "Unconfined" } } },
      {},
      {},
      'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      "sysctls",
      { securityContext: { sysctls: [{ name: "kernel.msgmax" }, { name: "net.ipv4.tcp_rmem" }] } },
      {},
      {},
      "forbidden sysctls (kernel.msgmax)",
    ],
    [
      "processes of a Windows node",
      { securityContext: { windowsOptions: { hostProcess: true } } },
      {},
      {},
      "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
    ],
  ])("knows of %s", (_, spec, container, metadata, sentence) => {
    expect(reasons("baseline", undefined, spec, container, metadata)).toEqual([sentence]);
  });

  it("is what it was in the version that is named", () => {
    const context = { sysctls: [{ name: "net.ipv4.tcp_rmem" }] };
    expect(reasons("baseline", 31, { securityContext: context })).toEqual(["forbidden sysctls (net.ipv4.tcp_rmem)"]);
    expect(reasons("baseline", 32, { securityContext: context })).toEqual([]);
    expect(reasons("restricted", 7, { securityContext: { runAsNonRoot: true } })).toEqual([]);
    const notes = { annotations: { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" } };
    expect(reasons("baseline", 18, {}, {}, notes)).toEqual([
      'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    ]);
  });

  it("leaves Windows and pods with users of their own what they cannot do without", () => {
    expect(
      reasons("restricted", undefined, { os: { name: "windows" }, securityContext: { runAsNonRoot: true } }),
    ).toEqual([]);
    const own = { hostUsers: false, securityContext: { runAsUser: 0, seccompProfile: { type: "RuntimeDefault" } } };
    const container = { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } } };
    expect(reasons("restricted", undefined, own, container)).toEqual([]);
    expect(reasons("restricted", 34, own, container)).toHaveLength(2);
  });

  it("is about volumes, users and capabilities in the strictest one", () => {
    const spec = {
      volumes: [
        { name: "a", nfs: {} },
        { name: "b", hostPath: {} },
        { name: "c", emptyDir: {} },
      ],
      securityContext: { runAsUser: 0, runAsNonRoot: false },
    };
    const container = { securityContext: { ...modest, capabilities: { add: ["CHOWN"] }, runAsUser: 0 } };
    expect(reasons("restricted", undefined, spec, container)).toEqual([
      'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]; container "main" must not include "CHOWN" in securityContext.capabilities.add)',
      'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
      "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)",
      'runAsUser=0 (pod and container "main" must not set runAsUser=0)',
    ]);
  });
});
