import { at } from "../player.ts";
import type { Json, Script, Step } from "../script.ts";
import { headersOnly } from "../views.ts";
import { patch, post, put } from "./requests.ts";

type Fields = { readonly [key: string]: Json };

const view = { view: headersOnly } as const;
const tried = { query: { dryRun: "All" }, ...view } as const;

/** Where objects of a kind are made. */
function collection(apiVersion: string, plural: string, namespaced = true): string {
  const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  return namespaced ? `${root}/namespaces/{{ns}}/${plural}` : `${root}/${plural}`;
}

const container = { name: "c", image: "i:1" };
const one = (more: Fields = {}, spec: Fields = {}): Fields => ({ containers: [{ ...container, ...more }], ...spec });
const volumes = (...list: Fields[]): Fields =>
  one({}, { volumes: list.map((source, i) => ({ name: `v${i}`, ...source })) });
const expression = (key: string, values: readonly string[] = ["v"]): Fields => ({ key, operator: "In", values });
const nodes = (nodeAffinity: Fields): Fields => one({}, { affinity: { nodeAffinity } });
const near = { topologyKey: "z" };
const spread = (more: Fields): Fields =>
  one(
    {},
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule", ...more }] },
  );
const env = (...list: Fields[]): Fields => one({ env: list });
const ports = (...list: Fields[]): Fields => one({ ports: list });
const items = (...paths: string[]): Json => paths.map((path) => ({ key: "k", path }));

const PODS: Readonly<Record<string, Fields>> = {
  "an old label of nodes": one({}, { nodeSelector: { "beta.kubernetes.io/os": "linux" } }),
  "the old name of control planes": one({}, { nodeSelector: { "node-role.kubernetes.io/master": "" } }),
  "old labels in a required term": nodes({
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [expression("beta.kubernetes.io/arch")] }],
    },
  }),
  "old labels and bad values in a preferred term": nodes({
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 1,
        preference: { matchExpressions: [expression("failure-domain.beta.kubernetes.io/zone", ["bad value!", "x"])] },
      },
    ],
  }),
  "an old label to spread over": spread({
    topologyKey: "failure-domain.beta.kubernetes.io/region",
    labelSelector: {},
  }),
  "spreading without a selector": spread({}),
  "volumes that are gone": volumes(
    { gitRepo: { repository: "r" } },
    { scaleIO: { gateway: "g", system: "s", secretRef: { name: "s" }, volumeName: "v" } },
    { flocker: { datasetName: "d" } },
    { storageos: { volumeName: "v" } },
    { quobyte: { registry: "r:1", volume: "v" } },
    { glusterfs: { endpoints: "e", path: "p" } },
    { cephfs: { monitors: ["m"] } },
    { rbd: { monitors: ["m"], image: "i" } },
    { photonPersistentDisk: { pdID: "p" } },
  ),
  "a claim with half a byte": volumes({
    ephemeral: {
      volumeClaimTemplate: {
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1500m" } } },
      },
    },
  }),
  "files over each other": volumes({ configMap: { name: "c", items: items("a", "a") } }),
  "files in each other": volumes({ secret: { secretName: "s", items: items("a", "a/b", "ab") } }),
  "fields over each other": volumes({
    downwardAPI: {
      items: [
        { path: "a", fieldRef: { fieldPath: "metadata.name" } },
        { path: "a", fieldRef: { fieldPath: "metadata.uid" } },
      ],
    },
  }),
  "sources over each other": volumes({
    projected: {
      sources: [
        { configMap: { name: "c", items: items("a") } },
        { secret: { name: "s", items: items("a/b") } },
        { serviceAccountToken: { path: "a" } },
      ],
    },
  }),
  "hosts twice": one({}, { hostAliases: [{ ip: "1.2.3.4" }, { ip: "1.2.3.4" }] }),
  "secrets twice": one({}, { imagePullSecrets: [{ name: "a" }, { name: "a" }] }),
  "a secret without a name": one({}, { imagePullSecrets: [{}] }),
  "half a byte": one({
    resources: {
      limits: { memory: "1500m", "ephemeral-storage": "1.5" },
      requests: { memory: "100m", "ephemeral-storage": "1.25" },
    },
  }),
  "a variable twice": env({ name: "A", value: "1" }, { name: "A", value: "2" }),
  "a variable made of itself": env({ name: "A", value: "1" }, { name: "A", value: "$(A)2" }),
  "a variable that is itself": env({ name: "A", value: "1" }, { name: "A", value: "$(A)" }),
  "a variable from elsewhere": env(
    { name: "A", value: "1" },
    { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  ),
  "a port twice": ports({ containerPort: 80 }, { containerPort: 80 }),
  "a port of two protocols": ports({ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }),
  "ports that overlap": ports({ containerPort: 80, hostPort: 80 }, { containerPort: 80 }),
  "ports that may be one": ports(
    { containerPort: 80, hostPort: 80, hostIP: "127.0.0.1" },
    { containerPort: 80, hostPort: 80 },
  ),
  "an address without a port": ports({ name: "p", containerPort: 80, hostIP: "127.0.0.1" }),
  "names of ports in two containers": {
    containers: [
      { ...container, ports: [{ name: "p", containerPort: 1 }] },
      { name: "d", image: "i:1", ports: [{ name: "p", containerPort: 2 }] },
    ],
  },
  "no time to end": one({}, { terminationGracePeriodSeconds: -1 }),
  "no selector of friends": one(
    {},
    {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [near],
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: near }],
        },
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [near],
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: near }],
        },
      },
    },
  ),
  "addresses in an odd spelling": one(
    {},
    { dnsPolicy: "None", dnsConfig: { nameservers: ["2001:DB8::1"] }, hostAliases: [{ ip: "2001:db8:0:0::1" }] },
  ),
  "an account in the old field": one({}, { serviceAccount: "default" }),
};

const NOTES: Readonly<Record<string, Fields>> = {
  "an old word for critical": { "scheduler.alpha.kubernetes.io/critical-pod": "" },
  "old sysctls": { "security.alpha.kubernetes.io/sysctls": "a", "security.alpha.kubernetes.io/unsafe-sysctls": "b" },
  "seccomp of the pod": { "seccomp.security.alpha.kubernetes.io/pod": "runtime/default" },
  "seccomp of a container": { "container.seccomp.security.alpha.kubernetes.io/c": "runtime/default" },
  "AppArmor of a container": { "container.apparmor.security.beta.kubernetes.io/c": "localhost/p" },
  "AppArmor that says nothing": { "container.apparmor.security.beta.kubernetes.io/c": "" },
};

const pods: readonly Step[] = [
  ...Object.entries(PODS).map(([what, spec]) =>
    post(
      `a pod with ${what}`,
      collection("v1", "pods"),
      { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec },
      tried,
    ),
  ),
  ...Object.entries(NOTES).map(([what, annotations]) =>
    post(
      `a pod with annotations: ${what}`,
      collection("v1", "pods"),
      { apiVersion: "v1", kind: "Pod", metadata: { name: "p", annotations }, spec: one() },
      { query: { dryRun: "All" }, view: (body) => at(body, "spec.containers.0.securityContext") ?? null },
    ),
  ),
  post(
    "a pod with the name of a domain",
    collection("v1", "pods"),
    { apiVersion: "v1", kind: "Pod", metadata: { name: "a.b" }, spec: one() },
    tried,
  ),
  post(
    "a pod with a long name",
    collection("v1", "pods"),
    { apiVersion: "v1", kind: "Pod", metadata: { name: "a".repeat(70) }, spec: one() },
    tried,
  ),
];

const odd = one(
  {
    env: [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ],
  },
  { nodeSelector: { "beta.kubernetes.io/os": "linux" } },
);
const selector = { matchLabels: { a: "b" } };
const template = (spec: Fields, annotations: Fields = {}): Fields => ({
  metadata: { labels: { a: "b" }, annotations },
  spec,
});
const noted = template(odd, { "container.apparmor.security.beta.kubernetes.io/c": "unconfined" });
const claim = {
  metadata: { name: "d" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1500m" } } },
};

/** Kinds that make pods, and two specs of each: what a write changes counts. */
const OWNERS: readonly (readonly [string, string, string, Fields, Fields])[] = [
  ["apps/v1", "Deployment", "deployments", { selector, template: noted }, { replicas: 2 }],
  ["apps/v1", "ReplicaSet", "replicasets", { selector, template: noted }, { replicas: 2 }],
  ["apps/v1", "DaemonSet", "daemonsets", { selector, template: noted }, { minReadySeconds: 2 }],
  [
    "apps/v1",
    "StatefulSet",
    "statefulsets",
    { selector, serviceName: "s", template: noted, revisionHistoryLimit: -1, volumeClaimTemplates: [claim] },
    { replicas: 2 },
  ],
  ["v1", "ReplicationController", "replicationcontrollers", { selector: { a: "b" }, template: noted }, { replicas: 2 }],
  [
    "batch/v1",
    "Job",
    "jobs",
    { template: template({ ...odd, restartPolicy: "Never" }), suspend: true },
    { parallelism: 2 },
  ],
  [
    "batch/v1",
    "CronJob",
    "cronjobs",
    {
      schedule: "* * * * *",
      suspend: true,
      jobTemplate: { spec: { template: template({ ...odd, restartPolicy: "Never" }) } },
    },
    { failedJobsHistoryLimit: 2 },
  ],
];

const owners: readonly Step[] = OWNERS.flatMap(([apiVersion, kind, plural, spec, change]) => {
  const all = collection(apiVersion, plural);
  const name = kind === "StatefulSet" ? "owner" : "own.er";
  const here = `${all}/${name}`;
  return [
    post(`makes a ${kind}`, all, { apiVersion, kind, metadata: { name }, spec }, view),
    patch("merge", `labels a ${kind}`, here, { metadata: { labels: { x: "y" } } }, view),
    patch("merge", `changes a ${kind}`, here, { spec: change }, view),
    patch("merge", `tells the status of a ${kind}`, `${here}/status`, { metadata: { labels: { x: "z" } } }, view),
  ];
});

const templates: readonly Step[] = [
  post(
    "makes a PodTemplate",
    collection("v1", "podtemplates"),
    {
      apiVersion: "v1",
      kind: "PodTemplate",
      metadata: { name: "t" },
      template: noted,
    },
    view,
  ),
  post(
    "makes a Job with very many indexes",
    collection("batch/v1", "jobs"),
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "many" },
      spec: {
        completionMode: "Indexed",
        completions: 100_001,
        parallelism: 10_001,
        template: template({ ...one(), restartPolicy: "Never" }),
      },
    },
    tried,
  ),
];

const service = (spec: Fields, annotations: Fields = {}): Json => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s", annotations },
  spec: { ports: [{ port: 80 }], ...spec },
});

const SERVICES: Readonly<Record<string, Json>> = {
  "old hints": service({}, { "service.kubernetes.io/topology-aware-hints": "auto" }),
  "addresses outside": service({ externalIPs: ["1.2.3.4"] }),
  "an odd address outside": service({ externalIPs: ["2001:DB8::1"] }),
  "no address, with more": service({
    clusterIP: "None",
    externalIPs: ["1.2.3.4"],
    loadBalancerIP: "1.2.3.4",
    sessionAffinity: "ClientIP",
  }),
  "a balancer's odd address": service({ type: "LoadBalancer", loadBalancerIP: "2001:db8:0::1" }),
  "odd sources of a balancer": service({ type: "LoadBalancer", loadBalancerSourceRanges: ["2001:DB8::/64"] }),
  "a name outside with addresses": service({ type: "ExternalName", externalName: "a.b", externalIPs: ["1.2.3.4"] }),
  "a name outside that is not used": service({ externalName: "a.b" }),
  "the old word for near": service({ trafficDistribution: "PreferClose" }),
  "nothing odd": service({ trafficDistribution: "PreferSameZone" }),
};

const services: readonly Step[] = [
  ...Object.entries(SERVICES).map(([what, body]) =>
    post(`a Service with ${what}`, collection("v1", "services"), body, tried),
  ),
  post("makes a Service", collection("v1", "services"), service({ externalIPs: ["1.2.3.4"] }), view),
  patch("merge", "labels a Service", `${collection("v1", "services")}/s`, { metadata: { labels: { a: "b" } } }, view),
  patch(
    "merge",
    "tells the balancer of a Service without one",
    `${collection("v1", "services")}/s/status`,
    {
      status: { loadBalancer: { ingress: [{ ip: "2001:DB8::1" }] } },
    },
    tried,
  ),
  patch(
    "merge",
    "makes the Service one of a balancer",
    `${collection("v1", "services")}/s`,
    { spec: { type: "LoadBalancer" } },
    view,
  ),
  patch(
    "merge",
    "tells the balancer of a Service",
    `${collection("v1", "services")}/s/status`,
    {
      status: { loadBalancer: { ingress: [{ ip: "2001:DB8::1" }] } },
    },
    tried,
  ),
];

const volume = (spec: Fields, annotations: Fields = {}): Json => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "warned", annotations },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    ...(["rbd", "cephfs", "nfs"].some((key) => key in spec) ? {} : { hostPath: { path: "/p" } }),
    ...spec,
  },
});

const all = (apiVersion: string, plural: string) => collection(apiVersion, plural, false);

const storage: readonly Step[] = [
  ...Object.entries({
    "an old class": volume({}, { "volume.beta.kubernetes.io/storage-class": "c" }),
    "old options": volume({}, { "volume.beta.kubernetes.io/mount-options": "ro" }),
    "old options of files": volume(
      { nfs: { server: "s", path: "/p" } },
      { "volume.beta.kubernetes.io/mount-options": "ro" },
    ),
    recycling: volume({ persistentVolumeReclaimPolicy: "Recycle" }),
    "an old label of nodes": volume({
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [expression("beta.kubernetes.io/instance-type")] }] },
      },
    }),
    "blocks of Ceph": volume({ rbd: { monitors: ["m"], image: "i" } }),
    "files of Ceph": volume({ cephfs: { monitors: ["m"] } }),
  }).map(([what, body]) => post(`a PersistentVolume with ${what}`, all("v1", "persistentvolumes"), body, tried)),
  post(
    "a claim with an old class",
    collection("v1", "persistentvolumeclaims"),
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "c", annotations: { "volume.beta.kubernetes.io/storage-class": "c" } },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1500m" }, limits: { storage: "2500m" } },
      },
    },
    tried,
  ),
  post(
    "a StorageClass with old labels",
    all("storage.k8s.io/v1", "storageclasses"),
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "warned" },
      provisioner: "p.example.com",
      allowedTopologies: [
        { matchLabelExpressions: [{ key: "failure-domain.beta.kubernetes.io/zone", values: ["a"] }] },
      ],
    },
    tried,
  ),
  post(
    "capacities by old labels",
    collection("storage.k8s.io/v1", "csistoragecapacities"),
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIStorageCapacity",
      metadata: { name: "warned" },
      storageClassName: "c",
      nodeTopology: {
        matchExpressions: [expression("beta.kubernetes.io/arch")],
        matchLabels: { "beta.kubernetes.io/os": "linux" },
      },
    },
    tried,
  ),
  post(
    "makes a CSIDriver that gets tokens",
    all("storage.k8s.io/v1", "csidrivers"),
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: "warned.example.com" },
      spec: { tokenRequests: [{ audience: "a" }] },
    },
    view,
  ),
  patch(
    "merge",
    "labels a CSIDriver",
    `${all("storage.k8s.io/v1", "csidrivers")}/warned.example.com`,
    {
      metadata: { labels: { a: "b" } },
    },
    view,
  ),
  patch(
    "merge",
    "changes the tokens of a CSIDriver",
    `${all("storage.k8s.io/v1", "csidrivers")}/warned.example.com`,
    {
      spec: { tokenRequests: [{ audience: "b" }] },
    },
    view,
  ),
];

const slice = (addressType: string, address: string, labels: Fields = {}): Json => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "e", labels },
  addressType,
  endpoints: [{ addresses: [address] }],
});

const peers = (cidr: string, except: readonly string[] = []): Fields => ({ ipBlock: { cidr, except } });

const network: readonly Step[] = [
  post("a slice of names", collection("discovery.k8s.io/v1", "endpointslices"), slice("FQDN", "a.example.com"), tried),
  post(
    "a slice of odd addresses",
    collection("discovery.k8s.io/v1", "endpointslices"),
    slice("IPv6", "2001:DB8::1"),
    tried,
  ),
  post(
    "a slice of a controller",
    collection("discovery.k8s.io/v1", "endpointslices"),
    slice("IPv6", "2001:DB8::1", { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" }),
    tried,
  ),
  post(
    "Endpoints with odd addresses",
    collection("v1", "endpoints"),
    {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name: "e" },
      subsets: [
        { addresses: [{ ip: "2001:DB8::1" }], notReadyAddresses: [{ ip: "2001:db8:0::2" }], ports: [{ port: 1 }] },
      ],
    },
    tried,
  ),
  post(
    "a NetworkPolicy with odd ranges",
    collection("networking.k8s.io/v1", "networkpolicies"),
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "n" },
      spec: {
        podSelector: {},
        ingress: [{ from: [peers("2001:DB8::/32", ["2001:DB8:1::/48"])] }],
        egress: [{ to: [peers("2001:db8:0::/64")] }],
      },
    },
    tried,
  ),
  post(
    "an Ingress with its class in an annotation",
    collection("networking.k8s.io/v1", "ingresses"),
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "i", annotations: { "kubernetes.io/ingress.class": "c" } },
      spec: { defaultBackend: { service: { name: "s", port: { number: 1 } } } },
    },
    view,
  ),
  patch(
    "merge",
    "tells the balancer of an Ingress",
    `${collection("networking.k8s.io/v1", "ingresses")}/i/status`,
    {
      status: { loadBalancer: { ingress: [{ ip: "2001:DB8::1" }] } },
    },
    tried,
  ),
  patch(
    "merge",
    "labels an Ingress",
    `${collection("networking.k8s.io/v1", "ingresses")}/i`,
    {
      metadata: { labels: { a: "b" } },
    },
    view,
  ),
  post(
    "a Node with an old number",
    all("v1", "nodes"),
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "warned" },
      spec: { externalID: "x", configSource: { configMap: { name: "a", namespace: "b", kubeletConfigKey: "k" } } },
    },
    tried,
  ),
  post(
    "a Node with an odd range",
    all("v1", "nodes"),
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "warned" },
      spec: { podCIDR: "2001:DB8::/64", podCIDRs: ["2001:DB8::/64"] },
    },
    tried,
  ),
];

const secret = (certificate: string, key: string): Json => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "t" },
  type: "kubernetes.io/tls",
  stringData: { "tls.crt": certificate, "tls.key": key },
});
const pem = (type: string): string => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;

const others: readonly Step[] = [
  post("a Secret without a certificate", collection("v1", "secrets"), secret("c", "k"), tried),
  post(
    "a Secret with both the wrong way round",
    collection("v1", "secrets"),
    secret(pem("RSA PRIVATE KEY"), pem("CERTIFICATE")),
    tried,
  ),
  post("a Secret with something else", collection("v1", "secrets"), secret(pem("CERTIFICATE REQUEST"), ""), tried),
  post(
    "makes a ServiceAccount that lists its secrets",
    collection("v1", "serviceaccounts"),
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "a", annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } },
    },
    view,
  ),
  patch("merge", "labels it", `${collection("v1", "serviceaccounts")}/a`, { metadata: { labels: { a: "b" } } }, view),
  post(
    "a ResourceQuota of more requests than limits",
    collection("v1", "resourcequotas"),
    {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q" },
      spec: { hard: { cpu: "2", "limits.cpu": "1", "requests.memory": "2Gi", "limits.memory": "1Gi" } },
    },
    tried,
  ),
  post(
    "a RuntimeClass for old labels",
    all("node.k8s.io/v1", "runtimeclasses"),
    {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "warned" },
      handler: "h",
      scheduling: { nodeSelector: { "beta.kubernetes.io/os": "linux" } },
    },
    tried,
  ),
  post(
    "a webhook with a reserved name",
    all("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations"),
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "a.static.k8s.io" },
      webhooks: [],
    },
    tried,
  ),
  post(
    "very many warnings",
    collection("v1", "pods"),
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: env(
        ...Array.from({ length: 60 }, (_, i) => ({ name: `${"LONG".repeat(i < 8 ? 60 : 3)}_${i >> 1}`, value: "1" })),
      ),
    },
    tried,
  ),
];

const WIDGETS = "/apis/warned.example.com/v1/namespaces/{{ns}}/widgets";
const widget = (name: string, finalizers: readonly string[]): Json => ({
  apiVersion: "warned.example.com/v1",
  kind: "Widget",
  metadata: { name, finalizers },
});

const custom: readonly Step[] = [
  post(
    "defines a kind",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.warned.example.com" },
      spec: {
        group: "warned.example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: { a: { type: "string", format: "odd" } } } },
          },
        ],
      },
    },
    view,
  ),
  { name: "waits for the kind", path: WIDGETS, until: { status: 200 }, ...view },
  patch(
    "merge",
    "labels the definition",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.warned.example.com",
    {
      metadata: { labels: { a: "b" } },
    },
    view,
  ),
  post(
    "makes one with finalizers",
    WIDGETS,
    widget("w", ["plain", "a.example.com", "a.example.com/b", "orphan"]),
    view,
  ),
  patch("merge", "labels it with finalizers", `${WIDGETS}/w`, { metadata: { labels: { a: "b" } } }, view),
  patch(
    "merge",
    "adds another finalizer",
    `${WIDGETS}/w`,
    {
      metadata: { finalizers: ["plain", "a.example.com", "other"] },
    },
    view,
  ),
  put("replaces one by nothing new", `${WIDGETS}/nothing`, widget("nothing", ["x"]), view),
  patch("merge", "frees it", `${WIDGETS}/w`, { metadata: { finalizers: null } }, view),
];

/** What writers are told although it is no mistake. */
export const warnings: Script = {
  title: "warnings",
  namespace: "warnings",
  steps: [...pods, ...owners, ...templates, ...services, ...storage, ...network, ...others, ...custom],
};
