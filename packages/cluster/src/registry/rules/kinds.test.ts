import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call, MERGE } from "../../test-requests.ts";

type Fields = Record<string, unknown>;

const labels = { app: "x" };
const NOT_QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const networking = "/apis/networking.k8s.io/v1";
const inDefault = (group: string, plural: string) => `/apis/${group}/namespaces/default/${plural}`;
const policy = inDefault("networking.k8s.io/v1", "networkpolicies");
const budgets = inDefault("policy/v1", "poddisruptionbudgets");
const scalers = inDefault("autoscaling/v2", "horizontalpodautoscalers");
const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } };
const volume = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } };

describe("what a server refuses", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, controllers: { workloads: false, quotas: false } });
  });
  afterAll(() => cluster.stop());

  const told = ({ status, body }: { status: number; body: Fields }): string[] => {
    if (status < 300) return [];
    const { causes } = (body.details ?? {}) as { causes?: { field: string; message: string }[] };
    return causes?.map(({ field, message }) => `${field}: ${message}`) ?? [String(body.message)];
  };

  it.each<[what: string, path: string, body: Fields, errors: string[]]>([
    [
      "a NetworkPolicy of a selector that cannot be read",
      policy,
      { spec: { podSelector: { matchExpressions: [{ key: "a b", operator: "Magic" }] } } },
      [
        'spec.podSelector.matchExpressions[0].operator: Invalid value: "Magic": not a valid selector operator',
        `spec.podSelector.matchExpressions[0].key: Invalid value: "a b": ${NOT_QUALIFIED}`,
      ],
    ],
    [
      "a NetworkPolicy of ranges that are none",
      policy,
      {
        spec: {
          podSelector: {},
          ingress: [
            {
              from: [{ ipBlock: { cidr: "10.0.0.1/8" } }, { ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }],
            },
          ],
        },
      },
      [
        'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
        'spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
      ],
    ],
    [
      "a NetworkPolicy of nobody",
      policy,
      { spec: { podSelector: {}, egress: [{ to: [{}], ports: [{ port: 80, endPort: 79 }] }] } },
      [
        "spec.egress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`",
        "spec.egress[0].to[0]: Required value: must specify a peer",
      ],
    ],
    [
      "an Ingress of a path that climbs",
      inDefault("networking.k8s.io/v1", "ingresses"),
      {
        spec: {
          rules: [
            {
              host: "*.*.com",
              http: {
                paths: [
                  { path: "/a/../b", pathType: "Prefix", backend: { service: { name: "s", port: { number: 1 } } } },
                ],
              },
            },
          ],
        },
      },
      [
        "spec.rules[0].host: Invalid value: \"*.*.com\": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.rules[0].http.paths[0].path: Invalid value: \"/a/../b\": must not contain '/../'",
      ],
    ],
    [
      "an IPAddress that is named otherwise",
      `${networking}/ipaddresses`,
      { metadata: { name: "2001:DB8::1" }, spec: {} },
      [
        'metadata.name: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")',
        "spec.parentRef: Required value",
      ],
    ],
    [
      "a ServiceCIDR of two ranges of a family",
      `${networking}/servicecidrs`,
      { spec: { cidrs: ["10.1.0.0/16", "10.2.0.0/16"] } },
      [
        'spec.cidrs: Invalid value: ["10.1.0.0/16","10.2.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
    [
      "a budget of more than all",
      budgets,
      { spec: { minAvailable: "101%", selector: { matchLabels: { app: "a b" } } } },
      [
        'spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
        "spec.selector.matchLabels: Invalid value: \"a b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [
      "an autoscaler of metrics without targets",
      scalers,
      {
        spec: {
          maxReplicas: 1,
          scaleTargetRef: target,
          metrics: [{ type: "Resource", resource: { name: "cpu", target: {} } }],
        },
      },
      [
        "spec.metrics[0].resource.target.type: Required value: must specify a metric target type",
        'spec.metrics[0].resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
        "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
      ],
    ],
    [
      "a claim that mixes modes",
      claims,
      { spec: { ...claim, accessModes: ["ReadWriteOncePod", "ReadWriteMany"], volumeMode: "Magic" } },
      [
        "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
        'spec.volumeMode: Unsupported value: "Magic": supported values: "Block", "Filesystem"',
      ],
    ],
    [
      "a volume of two sources",
      "/api/v1/persistentvolumes",
      { spec: { ...volume, hostPath: { path: "/a/../b" }, nfs: { server: "s", path: "/p" } } },
      [
        "spec.hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
        "spec.nfs: Forbidden: may not specify more than 1 volume type",
      ],
    ],
    [
      "a local volume that is everywhere",
      "/api/v1/persistentvolumes",
      { spec: { ...volume, local: { path: "/a" } } },
      ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
    ],
    [
      "a StorageClass of nothing known",
      "/apis/storage.k8s.io/v1/storageclasses",
      {
        provisioner: "a b",
        volumeBindingMode: "Magic",
        allowedTopologies: [{ matchLabelExpressions: [{ key: "z" }] }],
      },
      [
        `provisioner: Invalid value: "a b": ${NOT_QUALIFIED}`,
        'volumeBindingMode: Unsupported value: "Magic": supported values: "Immediate", "WaitForFirstConsumer"',
        "allowedTopologies[0].matchLabelExpressions[0].values: Required value",
      ],
    ],
    [
      "a CSIDriver of a token that is short",
      "/apis/storage.k8s.io/v1/csidrivers",
      { spec: { fsGroupPolicy: "Magic", tokenRequests: [{ audience: "a", expirationSeconds: 60 }] } },
      [
        'spec.fsGroupPolicy: Unsupported value: "Magic": supported values: "File", "None", "ReadWriteOnceWithFSType"',
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes",
      ],
    ],
    [
      "a VolumeAttachment of nothing",
      "/apis/storage.k8s.io/v1/volumeattachments",
      { spec: { attacher: "", nodeName: "n", source: {} } },
      [
        "spec.attacher: Required value",
        "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
      ],
    ],
    [
      "a ClusterRole that aggregates nothing",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles",
      { aggregationRule: { clusterRoleSelectors: [] } },
      [
        "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
      ],
    ],
    [
      "a PriorityClass of the system",
      "/apis/scheduling.k8s.io/v1/priorityclasses",
      { metadata: { name: "system-mine" }, value: 1 },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
      ],
    ],
    [
      "a RuntimeClass of an overhead that nobody knows",
      "/apis/node.k8s.io/v1/runtimeclasses",
      { handler: "h", overhead: { podFixed: { apples: "1" } }, scheduling: { tolerations: [{ value: "x" }] } },
      [
        'overhead.limits[apples]: Invalid value: "apples": must be a standard resource type or fully qualified',
        'overhead.limits[apples]: Invalid value: "apples": must be a standard resource for containers',
        'scheduling.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    ],
    [
      "a quota of half a pod, and of scopes that exclude each other",
      "/api/v1/namespaces/default/resourcequotas",
      { spec: { hard: { pods: "500m" }, scopes: ["BestEffort", "NotBestEffort"] } },
      [
        'spec.hard[pods]: Invalid value: "500m": must be an integer',
        'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
      ],
    ],
    [
      "limits of an unknown type",
      "/api/v1/namespaces/default/limitranges",
      { spec: { limits: [{ type: "Magic" }, { type: "Pod", default: { cpu: "1" } }] } },
      [
        'spec.limits[0].type: Invalid value: "Magic": must be a standard limit type or fully qualified',
        "spec.limits[1].default: Forbidden: may not be specified when `type` is 'Pod'",
      ],
    ],
    [
      "a Node of a taint without an effect",
      "/api/v1/nodes",
      { spec: { taints: [{ key: "k" }], podCIDR: "x", podCIDRs: ["x"] } },
      [
        "metadata.taints[0].effect: Required value",
        'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
  ])("is %s", async (_, path, body, errors) => {
    const answer = await call(cluster, "POST", `${path}?dryRun=All`, { body: { metadata: { name: "x" }, ...body } });
    expect(told(answer)).toEqual(errors);
  });

  it.each<[what: string, path: string, body: Fields, change: Fields, errors: string[]]>([
    [
      "an IngressClass that changes its controller",
      `${networking}/ingressclasses`,
      { spec: { controller: "a.io/b" } },
      { spec: { controller: "a.io/c" } },
      ['spec.controller: Invalid value: "a.io/c": field is immutable'],
    ],
    [
      "a StorageClass that changes its parameters",
      "/apis/storage.k8s.io/v1/storageclasses",
      { provisioner: "a.io/b", parameters: { a: "b" } },
      { parameters: { a: "c" } },
      ['parameters: Invalid value: {"a":"c"}: field is immutable'],
    ],
    [
      "a claim that is not bound and asks for less",
      claims,
      { spec: claim },
      { spec: { resources: { requests: { storage: "1Gi" } } } },
      [
        "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
      ],
    ],
    [
      "a volume that moves",
      "/api/v1/persistentvolumes",
      { spec: { ...volume, hostPath: { path: "/a" } } },
      { spec: { hostPath: { path: "/b" } } },
      ["spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation"],
    ],
    [
      "a Node that changes who provides it",
      "/api/v1/nodes",
      { spec: { providerID: "p://1" } },
      { spec: { providerID: "p://2" } },
      ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ],
    [
      "a quota of other scopes",
      "/api/v1/namespaces/default/resourcequotas",
      { spec: { hard: { pods: "1" }, scopes: ["BestEffort"] } },
      { spec: { scopes: ["NotBestEffort"] } },
      ['spec.scopes: Invalid value: ["NotBestEffort"]: field is immutable'],
    ],
    [
      "a slice of another type",
      inDefault("discovery.k8s.io/v1", "endpointslices"),
      { addressType: "IPv4", endpoints: [] },
      { addressType: "FQDN" },
      ['addressType: Invalid value: "FQDN": field is immutable'],
    ],
  ])("is %s", async (what, path, body, change, errors) => {
    const name = what.replaceAll(/[^a-z]/g, "").slice(0, 40);
    const made = await call(cluster, "POST", path, { body: { metadata: { name }, ...body } });
    expect(told(made)).toEqual([]);
    expect(told(await call(cluster, "PATCH", `${path}/${name}`, { type: MERGE, body: change }))).toEqual(errors);
  });

  it.each<[what: string, path: string, body: Fields]>([
    ["a budget of a part", budgets, { spec: { maxUnavailable: "100%", selector: { matchLabels: labels } } }],
    [
      "a policy for all",
      policy,
      { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "2001:DB8::/32" } }] }] } },
    ],
    [
      "an autoscaler of a behaviour",
      scalers,
      { spec: { maxReplicas: 1, scaleTargetRef: target, behavior: { scaleUp: {} } } },
    ],
  ])("is not %s", async (_, path, body) => {
    const answer = await call(cluster, "POST", `${path}?dryRun=All`, { body: { metadata: { name: "x" }, ...body } });
    expect(told(answer)).toEqual([]);
  });
});
