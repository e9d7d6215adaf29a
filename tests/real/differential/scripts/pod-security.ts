import type { Json, Script, Step } from "../script.ts";
import { headersOnly } from "../views.ts";
import { patch, post, put } from "./requests.ts";

type Fields = { readonly [key: string]: Json };

const PREFIX = "pod-security.kubernetes.io/";
const labels = (levels: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(Object.entries(levels).map(([mode, level]) => [PREFIX + mode, level]));

const namespace = (name: string, levels: Readonly<Record<string, string>>): Json => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: labels(levels) },
});

const container = { name: "c", image: "i:1" };
const one = (more: Fields = {}, spec: Fields = {}): Fields => ({ containers: [{ ...container, ...more }], ...spec });
const secure = (securityContext: Fields, spec: Fields = {}): Fields => one({ securityContext }, spec);
const ofPod = (securityContext: Fields, more: Fields = {}): Fields => one(more, { securityContext });
const volume = (name: string, source: Fields): Fields => ({ name, ...source });
const modest: Fields = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};
const several = (securityContext: Fields): Fields => ({
  initContainers: [{ name: "i", image: "i:1", securityContext }],
  containers: [
    { ...container, securityContext },
    { name: "d", image: "i:1", securityContext: modest },
  ],
});

/** Pods of which each asks for something that a level may object to. */
const SPECS: Readonly<Record<string, Fields>> = {
  "nothing said": one(),
  "all that is wanted": secure(modest),
  "all that is wanted of the pod": {
    ...one({ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } } }),
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "Localhost", localhostProfile: "p" } },
  },
  "AppArmor off for the pod": ofPod({ appArmorProfile: { type: "Unconfined" } }),
  "AppArmor off for two containers": several({ appArmorProfile: { type: "Unconfined" } }),
  "AppArmor of the runtime": ofPod({ appArmorProfile: { type: "RuntimeDefault" } }),
  "capabilities beyond the default": secure({ capabilities: { add: ["SYS_ADMIN", "NET_RAW", "CHOWN"] } }),
  "capabilities of the default": secure({ ...modest, capabilities: { add: ["CHOWN"], drop: ["ALL"] } }),
  "the one capability that may be": secure({ ...modest, capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] } }),
  "capabilities of two containers": several({ capabilities: { add: ["SYS_ADMIN"], drop: ["KILL"] } }),
  "the network of the node": one({}, { hostNetwork: true }),
  "all namespaces of the node": one({}, { hostNetwork: true, hostPID: true, hostIPC: true }),
  "folders of the node": one(
    {},
    { volumes: [volume("v", { hostPath: { path: "/v" } }), volume("w", { hostPath: { path: "/w" } })] },
  ),
  "other volumes": one(
    {},
    {
      volumes: [
        volume("v", { hostPath: { path: "/v" } }),
        volume("n", { nfs: { server: "s", path: "/p" } }),
        volume("e", { emptyDir: {} }),
        volume("g", { gcePersistentDisk: { pdName: "p" } }),
      ],
    },
  ),
  "one other volume": secure(modest, { volumes: [volume("n", { nfs: { server: "s", path: "/p" } })] }),
  "plain volumes": secure(modest, {
    volumes: [volume("e", { emptyDir: {} }), volume("c", { configMap: { name: "c" } }), volume("s", { secret: {} })],
  }),
  "a port of the node": one({ ports: [{ containerPort: 1, hostPort: 5 }] }),
  "ports of the node": one({
    ports: [
      { containerPort: 1, hostPort: 80 },
      { containerPort: 2, hostPort: 443 },
    ],
  }),
  "a probe of another host": one({ livenessProbe: { httpGet: { host: "h", port: 1, path: "/" } } }),
  "probes and hooks of other hosts": one({
    readinessProbe: { tcpSocket: { host: "h", port: 1 } },
    lifecycle: { preStop: { httpGet: { host: "g", port: 1 } } },
  }),
  "a privileged container": secure({ privileged: true }),
  "privileged containers": several({ privileged: true }),
  "/proc unmasked": secure({ procMount: "Unmasked" }, { hostUsers: false }),
  "/proc as it is": secure({ procMount: "Default" }),
  "another type of SELinux": ofPod({ seLinuxOptions: { type: "spc_t" } }),
  "an engine's type of SELinux": ofPod({ seLinuxOptions: { type: "container_engine_t" } }),
  "user and role of SELinux": several({ seLinuxOptions: { user: "u", role: "r" } }),
  "no seccomp for the pod": ofPod({ seccompProfile: { type: "Unconfined" } }),
  "no seccomp for a container": secure({ seccompProfile: { type: "Unconfined" } }),
  "no seccomp for both": ofPod(
    { seccompProfile: { type: "Unconfined" } },
    { securityContext: { seccompProfile: { type: "Unconfined" } } },
  ),
  "safe sysctls": ofPod({ sysctls: [{ name: "net.ipv4.tcp_rmem", value: "1" }] }),
  "unsafe sysctls": ofPod({
    sysctls: [
      { name: "kernel.msgmax", value: "1" },
      { name: "net.core.somaxconn", value: "1" },
    ],
  }),
  "root by its number": ofPod({ runAsUser: 0 }, { securityContext: { ...modest, runAsUser: 0 } }),
  "root by name": ofPod({ runAsNonRoot: false }, { securityContext: modest }),
  "root in one container": several({ ...modest, runAsNonRoot: false }),
  "users of its own": ofPod({ runAsUser: 0 }, {}),
  "users of its own, root": { ...secure({ ...modest, runAsNonRoot: false, runAsUser: 0 }), hostUsers: false },
  Windows: one({}, { os: { name: "windows" } }),
  "a process of the Windows node": {
    ...one(),
    hostNetwork: true,
    os: { name: "windows" },
    securityContext: { windowsOptions: { hostProcess: true } },
  },
};

const NOTES: Readonly<Record<string, Fields>> = {
  "AppArmor off by annotation": { "container.apparmor.security.beta.kubernetes.io/c": "unconfined" },
  "seccomp off by annotation": { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" },
};

const MODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "enforce-baseline": { enforce: "baseline" },
  "enforce-restricted": { enforce: "restricted" },
  "warn-restricted": { warn: "restricted", enforce: "privileged" },
  "warn-baseline": { enforce: "baseline", "enforce-version": "v1.18", warn: "restricted", "warn-version": "v1.34" },
  "old-restricted": { enforce: "restricted", "enforce-version": "v1.24", audit: "restricted" },
  "ancient-restricted": { enforce: "restricted", "enforce-version": "v1.7" },
  "future-baseline": { enforce: "baseline", "enforce-version": "v1.99" },
};

const view = { view: headersOnly } as const;

function pods(mode: string): Step[] {
  const path = `/api/v1/namespaces/ps-${mode}/pods`;
  const send = (what: string, spec: Fields, annotations: Fields = {}): Step =>
    post(
      `${mode}: a pod with ${what}`,
      path,
      { apiVersion: "v1", kind: "Pod", metadata: { name: "p", annotations }, spec },
      { query: { dryRun: "All" }, ...view },
    );
  return [
    ...Object.entries(SPECS).map(([what, spec]) => send(what, spec)),
    ...Object.entries(NOTES).map(([what, annotations]) => send(what, one(), annotations)),
  ];
}

const template = (spec: Fields): Fields => ({ metadata: { labels: { a: "b" } }, spec });
const selector = { matchLabels: { a: "b" } };
const bad = one({}, { hostPID: true });
const OWNERS: readonly (readonly [string, string, Fields])[] = [
  ["apps/v1", "Deployment", { spec: { selector, template: template(bad) } }],
  ["apps/v1", "ReplicaSet", { spec: { selector, template: template(bad) } }],
  ["apps/v1", "DaemonSet", { spec: { selector, template: template(bad) } }],
  ["apps/v1", "StatefulSet", { spec: { selector, serviceName: "s", template: template(bad) } }],
  ["v1", "ReplicationController", { spec: { selector: { a: "b" }, template: template(bad) } }],
  ["v1", "PodTemplate", { template: template(bad) }],
  ["batch/v1", "Job", { spec: { template: template({ ...bad, restartPolicy: "Never" }) } }],
  [
    "batch/v1",
    "CronJob",
    {
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: template({ ...bad, restartPolicy: "Never" }) } },
      },
    },
  ],
];

function owners(mode: string): Step[] {
  return OWNERS.map(([apiVersion, kind, fields]) => {
    const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
    const body = { apiVersion, kind, metadata: { name: "o" }, ...fields };
    const query = { dryRun: "All" };
    return post(`${mode}: a ${kind}`, `${root}/namespaces/ps-${mode}/${kind.toLowerCase()}s`, body, { query, ...view });
  });
}

const place = "/api/v1/namespaces/ps-changing";
const relabel = (name: string, levels: Readonly<Record<string, string | null>>): Step =>
  patch("merge", name, place, { metadata: { labels: labels(levels as Record<string, string>) } }, view);
const create = (name: string, spec: Fields, owner?: string): Step =>
  post(
    `makes the pod ${name}`,
    `${place}/pods`,
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        ...(owner === undefined
          ? {}
          : {
              ownerReferences: [
                { apiVersion: "v1", kind: "ConfigMap", name: owner, uid: "{{owner}}", controller: true },
              ],
            }),
      },
      spec,
    },
    view,
  );

const changing: readonly Step[] = [
  post("makes a namespace without a level", "/api/v1/namespaces", namespace("ps-changing", {}), view),
  { name: "waits for its account", path: `${place}/serviceaccounts/default`, until: { status: 200 }, ...view },
  post(
    "makes an owner",
    `${place}/configmaps`,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "r" } },
    { ...view, capture: { owner: "metadata.uid" } },
  ),
  create("b", bad),
  create("a", bad),
  create("d", secure({ privileged: true })),
  create("e", secure(modest)),
  create("f", several({ privileged: true }), "r"),
  create("g", several({ privileged: true }), "r"),
  {
    ...relabel("tries a level on pods that are there", { enforce: "baseline" }),
    query: { dryRun: "All" },
    steady: true,
  },
  relabel("sets a level on pods that are there", { enforce: "restricted" }),
  relabel("relaxes it", { enforce: "baseline" }),
  relabel("names another version", { "enforce-version": "v1.20" }),
  relabel("names a level that there is not", { enforce: "strict" }),
  relabel("warns at a level that there is not", { warn: "Baseline", "warn-version": "30" }),
  patch("merge", "labels a pod that should not be", `${place}/pods/a`, { metadata: { labels: { x: "y" } } }, view),
  patch(
    "strategic",
    "changes the image of a pod that should not be",
    `${place}/pods/a`,
    {
      spec: { containers: [{ name: "c", image: "i:2" }] },
    },
    view,
  ),
  patch(
    "strategic",
    "changes the image of one that may be",
    `${place}/pods/e`,
    {
      spec: { containers: [{ name: "c", image: "i:2" }] },
    },
    view,
  ),
  patch(
    "strategic",
    "adds a container to look into one that should not be",
    `${place}/pods/a/ephemeralcontainers`,
    {
      spec: { ephemeralContainers: [{ name: "x", image: "i:1" }] },
    },
    view,
  ),
  patch(
    "strategic",
    "adds a privileged container",
    `${place}/pods/e/ephemeralcontainers`,
    {
      spec: { ephemeralContainers: [{ name: "x", image: "i:1", securityContext: { privileged: true } }] },
    },
    view,
  ),
  relabel("lets everything be", { enforce: "privileged", "enforce-version": null }),
  post(
    "makes one with a generated name",
    "/api/v1/namespaces/ps-enforce-baseline/pods",
    { apiVersion: "v1", kind: "Pod", metadata: { generateName: "p-" }, spec: bad },
    view,
  ),
];

const mistakes: readonly Step[] = Object.entries({
  "an unknown level": { enforce: "toString" },
  "an empty level": { enforce: "" },
  "unknown levels": { enforce: "a", audit: "b", warn: "c" },
  "unknown versions": { "enforce-version": "1.30", "audit-version": "v2.0", "warn-version": "v1.01" },
  "an empty version": { enforce: "baseline", "enforce-version": "" },
  "the newest version": { enforce: "baseline", "enforce-version": "latest" },
}).map(([what, levels]) =>
  post(
    `makes a namespace with ${what}`,
    "/api/v1/namespaces",
    namespace("ps-mistaken", levels as Record<string, string>),
    {
      query: { dryRun: "All" },
      ...view,
    },
  ),
);

/** What each level of pod security refuses and warns about. */
export const podSecurity: Script = {
  title: "pod security",
  steps: [
    ...mistakes,
    ...Object.entries(MODES).flatMap(([mode, levels]) => [
      post(`makes the namespace of ${mode}`, "/api/v1/namespaces", namespace(`ps-${mode}`, levels), view),
      {
        name: `waits for the account of ${mode}`,
        path: `/api/v1/namespaces/ps-${mode}/serviceaccounts/default`,
        until: { status: 200 },
        ...view,
      },
      ...pods(mode),
    ]),
    ...owners("warn-restricted"),
    ...owners("enforce-baseline"),
    put(
      "replaces a namespace by one with an unknown level",
      "/api/v1/namespaces/ps-future-baseline",
      namespace("ps-future-baseline", { enforce: "x" }),
      view,
    ),
    ...changing,
  ],
};
