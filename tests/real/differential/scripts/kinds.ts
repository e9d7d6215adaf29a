import type { Json, Script, Step } from "../script.ts";
import { get, patch, post, put, remove, table } from "./requests.ts";

type Fields = { readonly [key: string]: Json };

/** A built-in kind: where it is, one that is right, and what is wrong with others. */
interface Row {
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Everything beside apiVersion, kind and metadata. */
  readonly good: Fields;
  /** Each by its words: merged over the good one, field by field at the first level. */
  readonly bad?: Readonly<Record<string, Fields>>;
  /** Merge patches that the real server refuses or changes. */
  readonly changes?: Readonly<Record<string, Fields>>;
  /** What a controller of the real server adds in its own time; the first reading waits for it. */
  readonly becomes?: { readonly path: string; readonly is: Json };
  /** Field selectors, known and unknown. */
  readonly selectors?: readonly string[];
}

const inNamespace = (groupVersion: string, plural: string): string =>
  groupVersion === "v1" ? `/api/v1/namespaces/{{ns}}/${plural}` : `/apis/${groupVersion}/namespaces/{{ns}}/${plural}`;
const everywhere = (groupVersion: string, plural: string): string =>
  groupVersion === "v1" ? `/api/v1/${plural}` : `/apis/${groupVersion}/${plural}`;

const labels = { app: "x" };
const container = { name: "c", image: "i:1" };
const pod = (spec: Fields = {}): Fields => ({
  metadata: { labels },
  spec: { containers: [container], ...spec },
});
const finite = pod({ restartPolicy: "Never" });
const workload = (more: Fields = {}): Fields => ({ selector: { matchLabels: labels }, template: pod(), ...more });

const namespaced = (groupVersion: string, plural: string, kind: string) => ({
  path: inNamespace(groupVersion, plural),
  apiVersion: groupVersion,
  kind,
});
const cluster = (groupVersion: string, plural: string, kind: string) => ({
  path: everywhere(groupVersion, plural),
  apiVersion: groupVersion,
  kind,
});

const rows: readonly Row[] = [
  {
    ...namespaced("apps/v1", "deployments", "Deployment"),
    good: { spec: workload() },
    bad: {
      "no selector": { spec: { template: pod() } },
      "an empty selector": { spec: workload({ selector: {} }) },
      "another selector": { spec: workload({ selector: { matchLabels: { app: "y" } } }) },
      "no template": { spec: { selector: { matchLabels: labels } } },
      "no containers": { spec: workload({ template: pod({ containers: [] }) }) },
      "a container without a name": { spec: workload({ template: pod({ containers: [{ image: "i" }] }) }) },
      "a container without an image": { spec: workload({ template: pod({ containers: [{ name: "c" }] }) }) },
      "a container twice": { spec: workload({ template: pod({ containers: [container, container] }) }) },
      "negative replicas": { spec: workload({ replicas: -1 }) },
      "an unknown strategy": { spec: workload({ strategy: { type: "Magic" } }) },
      "a restart policy": { spec: workload({ template: pod({ restartPolicy: "Never" }) }) },
      percentages: { spec: workload({ strategy: { rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } } }) },
    },
    changes: {
      "its replicas": { spec: { replicas: 3 } },
      "its selector": { spec: { selector: { matchLabels: { app: "y" } } } },
      "its image": { spec: { template: { spec: { containers: [{ name: "c", image: "i:2" }] } } } },
    },
    selectors: ["metadata.name=one", "status.replicas=1"],
  },
  {
    ...namespaced("apps/v1", "replicasets", "ReplicaSet"),
    good: { spec: workload({ replicas: 0 }) },
    bad: { "no selector": { spec: { template: pod() } } },
    changes: { "its replicas": { spec: { replicas: 0 } } },
    selectors: ["status.replicas=0"],
  },
  {
    ...namespaced("apps/v1", "statefulsets", "StatefulSet"),
    good: { spec: workload({ serviceName: "s", replicas: 0 }) },
    bad: {
      "an unknown policy": { spec: workload({ podManagementPolicy: "Magic" }) },
      "an unknown strategy": { spec: workload({ updateStrategy: { type: "Magic" } }) },
    },
    changes: { "its service": { spec: { serviceName: "t" } }, "its replicas": { spec: { replicas: 0 } } },
  },
  {
    ...namespaced("apps/v1", "daemonsets", "DaemonSet"),
    good: { spec: workload() },
    bad: { "an unknown strategy": { spec: workload({ updateStrategy: { type: "Magic" } }) } },
  },
  {
    ...namespaced("batch/v1", "jobs", "Job"),
    good: { spec: { template: finite } },
    bad: {
      "pods that restart": { spec: { template: pod() } },
      "a negative parallelism": { spec: { template: finite, parallelism: -1 } },
      "an index without completions": { spec: { template: finite, completionMode: "Indexed" } },
    },
    changes: {
      "its parallelism": { spec: { parallelism: 2 } },
      "its completions": { spec: { completions: 2 } },
      "its template": { spec: { template: { spec: { containers: [{ name: "c", image: "i:2" }] } } } },
    },
    selectors: ["status.successful=0"],
  },
  {
    ...namespaced("batch/v1", "cronjobs", "CronJob"),
    good: { spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template: finite } } } },
    bad: {
      "a bad schedule": { spec: { schedule: "often", jobTemplate: { spec: { template: finite } } } },
      "no schedule": { spec: { jobTemplate: { spec: { template: finite } } } },
      "a schedule out of range": { spec: { schedule: "61 * * * *", jobTemplate: { spec: { template: finite } } } },
      "an unknown policy": {
        spec: { schedule: "@daily", concurrencyPolicy: "Magic", jobTemplate: { spec: { template: finite } } },
      },
      "a bad time zone": {
        spec: { schedule: "@daily", timeZone: "Mars/Here", jobTemplate: { spec: { template: finite } } },
      },
    },
    changes: { "whether it is suspended": { spec: { suspend: true } } },
  },
  {
    ...namespaced("v1", "replicationcontrollers", "ReplicationController"),
    good: { spec: { replicas: 0, selector: labels, template: pod() } },
    bad: { "another selector": { spec: { selector: { app: "y" }, template: pod() } } },
    selectors: ["status.replicas=0"],
  },
  {
    ...namespaced("v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
    good: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    bad: {
      "no size": { spec: { accessModes: ["ReadWriteOnce"] } },
      "no mode": { spec: { resources: { requests: { storage: "1Gi" } } } },
      "an unknown mode": { spec: { accessModes: ["Sometimes"], resources: { requests: { storage: "1Gi" } } } },
      "a negative size": { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "-1" } } } },
    },
    changes: { "its mode": { spec: { accessModes: ["ReadOnlyMany"] } } },
  },
  {
    ...cluster("v1", "persistentvolumes", "PersistentVolume"),
    good: {
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/tmp/x" } },
    },
    bad: {
      "no source": { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] } },
      "no capacity": { spec: { accessModes: ["ReadWriteOnce"], hostPath: { path: "/tmp/x" } } },
    },
  },
  {
    ...cluster("v1", "nodes", "Node"),
    good: { spec: { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] } },
    changes: { "whether it takes pods": { spec: { unschedulable: true } } },
    selectors: ["spec.unschedulable=true", "spec.podCIDR=x"],
  },
  {
    ...namespaced("v1", "limitranges", "LimitRange"),
    good: { spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } },
    bad: {
      "a minimum above the maximum": {
        spec: { limits: [{ type: "Container", min: { cpu: "2" }, max: { cpu: "1" } }] },
      },
    },
  },
  {
    ...namespaced("v1", "resourcequotas", "ResourceQuota"),
    good: { spec: { hard: { pods: "100", "requests.cpu": "1500m" } } },
    bad: {
      "a negative limit": { spec: { hard: { pods: "-1" } } },
      "a bad scope": { spec: { hard: { pods: "1" }, scopes: ["Sometimes"] } },
    },
  },
  {
    ...namespaced("v1", "podtemplates", "PodTemplate"),
    good: { template: pod() },
  },
  {
    ...namespaced("v1", "endpoints", "Endpoints"),
    good: { subsets: [{ addresses: [{ ip: "10.1.2.3" }], ports: [{ port: 80 }] }] },
    bad: { "a bad address": { subsets: [{ addresses: [{ ip: "x" }], ports: [{ port: 80 }] }] } },
  },
  {
    ...namespaced("discovery.k8s.io/v1", "endpointslices", "EndpointSlice"),
    good: { addressType: "IPv4", endpoints: [{ addresses: ["10.1.2.3"] }], ports: [{ port: 80 }] },
    bad: {
      "no address type": { addressType: "" },
      "a bad address": { endpoints: [{ addresses: ["x"] }] },
    },
    changes: { "its address type": { addressType: "IPv6" } },
  },
  {
    ...namespaced("networking.k8s.io/v1", "ingresses", "Ingress"),
    good: {
      spec: {
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    bad: {
      "no rules": { spec: {} },
      "no path type": {
        spec: {
          rules: [{ http: { paths: [{ path: "/", backend: { service: { name: "s", port: { number: 80 } } } }] } }],
        },
      },
      "a bad host": {
        spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } }, rules: [{ host: "1.2.3.4" }] },
      },
      "a backend without a port": { spec: { defaultBackend: { service: { name: "s" } } } },
    },
  },
  {
    ...cluster("networking.k8s.io/v1", "ingressclasses", "IngressClass"),
    good: { spec: { controller: "a.io/b" } },
    bad: { "a bad controller": { spec: { controller: "b" } }, "no controller": { spec: {} } },
  },
  {
    ...namespaced("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy"),
    good: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    bad: { "a bad type": { spec: { podSelector: {}, policyTypes: ["Sideways"] } } },
  },
  {
    ...namespaced("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"),
    good: { spec: { minAvailable: 1, selector: { matchLabels: labels } } },
    bad: {
      "both limits": { spec: { minAvailable: 1, maxUnavailable: 1, selector: { matchLabels: labels } } },
      "a negative limit": { spec: { minAvailable: -1, selector: { matchLabels: labels } } },
      "a bad percentage": { spec: { minAvailable: "5", selector: { matchLabels: labels } } },
    },
    changes: { "its limit": { spec: { minAvailable: 2 } } },
  },
  {
    ...namespaced("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
    good: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } } },
    bad: {
      "no target": { spec: { maxReplicas: 3 } },
      "no maximum": { spec: { scaleTargetRef: { kind: "Deployment", name: "d" } } },
      "a minimum above the maximum": {
        spec: { minReplicas: 5, maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } },
      },
    },
  },
  {
    ...namespaced("rbac.authorization.k8s.io/v1", "roles", "Role"),
    good: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
    bad: {
      "no verbs": { rules: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] },
      "no groups": { rules: [{ resources: ["pods"], verbs: ["get"] }] },
      paths: { rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }] },
    },
  },
  {
    ...cluster("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole"),
    good: { rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }] },
    bad: {
      "both kinds of things": {
        rules: [{ nonResourceURLs: ["/x"], apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
      },
    },
  },
  {
    ...namespaced("rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding"),
    good: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
      subjects: [
        { kind: "ServiceAccount", name: "sa", namespace: "{{ns}}" },
        { kind: "User", name: "u" },
      ],
    },
    bad: {
      "no role": { roleRef: { apiGroup: "", kind: "", name: "" } },
      "a role of an unknown kind": { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Roll", name: "r" } },
      "a subject of an unknown kind": { subjects: [{ kind: "Robot", name: "u" }] },
      "an account without a namespace": { subjects: [{ kind: "ServiceAccount", name: "sa" }] },
    },
    changes: { "its role": { roleRef: { name: "s" } } },
  },
  {
    ...cluster("rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding"),
    good: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
      subjects: [{ kind: "Group", name: "g" }],
    },
    bad: { "a role of a namespace": { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" } } },
  },
  {
    ...cluster("storage.k8s.io/v1", "storageclasses", "StorageClass"),
    good: { provisioner: "a.io/b" },
    bad: {
      "no provisioner": { provisioner: "" },
      "a bad reclaim policy": { provisioner: "a.io/b", reclaimPolicy: "Keep" },
    },
    changes: { "its provisioner": { provisioner: "a.io/c" } },
  },
  {
    ...cluster("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass"),
    good: { value: 10 },
    bad: { "a value that is too high": { value: 2000000000 }, "a bad policy": { value: 1, preemptionPolicy: "Maybe" } },
    changes: { "its value": { value: 11 } },
  },
  {
    ...cluster("node.k8s.io/v1", "runtimeclasses", "RuntimeClass"),
    good: { handler: "h" },
    bad: { "a bad handler": { handler: "H_" }, "no handler": { handler: "" } },
    changes: { "its handler": { handler: "g" } },
  },
  {
    ...namespaced("apps/v1", "controllerrevisions", "ControllerRevision"),
    good: { revision: 1, data: { a: { b: "c" } } },
    bad: { "a negative revision": { revision: -1 } },
    changes: { "its data": { data: { a: { b: "d" } } } },
  },
  {
    ...cluster("storage.k8s.io/v1", "csidrivers", "CSIDriver"),
    good: { spec: {} },
  },
  {
    ...cluster("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    good: {
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: { url: "https://127.0.0.1:1/x" },
          rules: [{ apiGroups: ["none.io"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nones"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          failurePolicy: "Ignore",
        },
      ],
    },
    bad: {
      "a bad name": {
        webhooks: [
          { name: "a", clientConfig: { url: "https://x/y" }, sideEffects: "None", admissionReviewVersions: ["v1"] },
        ],
      },
      "a bad URL": {
        webhooks: [
          { name: "a.b.c", clientConfig: { url: "http://x/y" }, sideEffects: "None", admissionReviewVersions: ["v1"] },
        ],
      },
      "no side effects": {
        webhooks: [{ name: "a.b.c", clientConfig: { url: "https://x/y" }, admissionReviewVersions: ["v1"] }],
      },
      "no versions": { webhooks: [{ name: "a.b.c", clientConfig: { url: "https://x/y" }, sideEffects: "None" }] },
      "no client": {
        webhooks: [{ name: "a.b.c", clientConfig: {}, sideEffects: "None", admissionReviewVersions: ["v1"] }],
      },
      "a bad timeout": {
        webhooks: [
          {
            name: "a.b.c",
            clientConfig: { url: "https://x/y" },
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
            timeoutSeconds: 31,
          },
        ],
      },
    },
  },
  {
    ...cluster("flowcontrol.apiserver.k8s.io/v1", "flowschemas", "FlowSchema"),
    becomes: { path: "status.conditions.0.status", is: "False" },
    good: {
      spec: {
        priorityLevelConfiguration: { name: "exempt" },
        rules: [
          {
            subjects: [{ kind: "Group", group: { name: "g" } }],
            nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
          },
        ],
      },
    },
    bad: {
      "no level": { spec: {} },
      "a precedence that is too high": {
        spec: { priorityLevelConfiguration: { name: "exempt" }, matchingPrecedence: 10001 },
      },
      "a subject of an unknown kind": {
        spec: {
          priorityLevelConfiguration: { name: "exempt" },
          rules: [{ subjects: [{ kind: "Robot" }], nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] }],
        },
      },
    },
  },
  {
    ...cluster("flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations", "PriorityLevelConfiguration"),
    good: { spec: { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } } },
    bad: {
      "no type": { spec: {} },
      "an unknown type": { spec: { type: "Magic" } },
      "a limit without limits": { spec: { type: "Limited" } },
    },
  },
];

const bodyOf = (row: Row, name: string, more: Fields = {}): Json => ({
  apiVersion: row.apiVersion,
  kind: row.kind,
  metadata: { name },
  ...row.good,
  ...more,
});

/** A name that no other script uses, for what has no namespace. */
const nameOf = (row: Row): string => (row.path.includes("{{ns}}") ? "one" : "diff-kinds-one");

function stepsOf(row: Row): Step[] {
  const { kind, path } = row;
  const name = nameOf(row);
  const one = `${path}/${name}`;
  return [
    post(`creates a ${kind}`, path, bodyOf(row, name)),
    ...Object.entries(row.bad ?? {}).map(([what, more]) =>
      post(`creates a ${kind} with ${what}`, path, bodyOf(row, "bad", more), {
        query: { dryRun: "All" },
        anyOrder: true,
      }),
    ),
    get(`reads a ${kind}`, one, {}, row.becomes && { until: { status: 200, ...row.becomes } }),
    table(`reads a ${kind} as a table`, one),
    ...(row.selectors ?? []).map((fieldSelector) =>
      get(`selects a ${kind} by ${fieldSelector}`, path, { fieldSelector, labelSelector: "none=such" }),
    ),
    put(`replaces a ${kind} by itself`, one, bodyOf(row, name)),
    patch("strategic", `labels a ${kind}`, one, { metadata: { labels: { l: "1" } } }),
    ...Object.entries(row.changes ?? {}).map(([what, change]) =>
      patch("merge", `changes of a ${kind} ${what}`, one, change, { anyOrder: true }),
    ),
    remove(`deletes a ${kind}`, one, { propagationPolicy: "Background" }),
  ];
}

/** Each built-in kind: what is filled in, what is refused, how it is printed, what may change. */
export const kinds: Script = {
  title: "built-in kinds",
  namespace: "diff-kinds",
  steps: rows.flatMap(stepsOf),
};
