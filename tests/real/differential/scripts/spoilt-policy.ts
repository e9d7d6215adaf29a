import type { Script } from "../script.ts";
import { everywhere, type Fields, inNamespace, type Specimen, spoil } from "./mutations.ts";

const selector = { matchLabels: { app: "x" }, matchExpressions: [{ key: "tier", operator: "NotIn", values: ["a"] }] };
const budget = (spec: Fields): Fields => ({ spec: { selector, ...spec } });
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
const scaler = (spec: Fields): Fields => ({ spec: { maxReplicas: 3, scaleTargetRef: target, ...spec } });
const utilization = { type: "Utilization", averageUtilization: 50 };
const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" };
const limits = (...items: Fields[]): Fields => ({ spec: { limits: items } });
const quota = (spec: Fields): Fields => ({ spec: { hard: { pods: "1" }, ...spec } });
const expression = (...items: Fields[]): Fields => quota({ scopeSelector: { matchExpressions: items } });

const specimens: readonly Specimen[] = [
  {
    ...inNamespace("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"),
    good: { spec: { minAvailable: "50%", selector, unhealthyPodEvictionPolicy: "AlwaysAllow" } },
    also: {
      "more than all": budget({ minAvailable: "101%" }),
      "more than all missing": budget({ maxUnavailable: "200%" }),
      "a part of a part": budget({ minAvailable: "1.5%" }),
      "a number in quotes": budget({ maxUnavailable: "5" }),
      "a negative number": budget({ maxUnavailable: -1 }),
      "both limits": budget({ minAvailable: 1, maxUnavailable: "10%" }),
      "no limit": budget({}),
    },
    changes: { "the other limit": { spec: { minAvailable: null, maxUnavailable: 1 } } },
  },
  {
    ...inNamespace("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
    good: scaler({
      minReplicas: 2,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: utilization } },
        { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "1" } } },
        {
          type: "Object",
          object: {
            describedObject: { kind: "Service", name: "s" },
            metric: { name: "m" },
            target: { type: "Value", value: "1" },
          },
        },
        { type: "External", external: { metric: { name: "m" }, target: { type: "Value", value: "2" } } },
        { type: "ContainerResource", containerResource: { name: "memory", container: "c", target: utilization } },
      ],
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 10,
          selectPolicy: "Min",
          policies: [{ type: "Pods", value: 1, periodSeconds: 10 }],
          tolerance: "0.1",
        },
        scaleDown: { stabilizationWindowSeconds: 10, policies: [{ type: "Percent", value: 1, periodSeconds: 10 }] },
      },
    }),
    also: {
      "a minimum of zero": scaler({ minReplicas: 0 }),
      "a maximum below zero": scaler({ maxReplicas: -1 }),
      "a maximum below the minimum": scaler({ minReplicas: 5 }),
      "a target without a group": scaler({ scaleTargetRef: { kind: "Deployment", name: "d" } }),
      "a target of the core": scaler({
        scaleTargetRef: { apiVersion: "v1", kind: "ReplicationController", name: "d" },
      }),
      "a target with a slash": scaler({ scaleTargetRef: { apiVersion: "a/b/c", kind: "a/b", name: "d%" } }),
      "two sources of a metric": scaler({
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: utilization },
            pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "1" } },
          },
        ],
      }),
      "two targets": scaler({
        metrics: [{ type: "Resource", resource: { name: "cpu", target: { ...utilization, averageValue: "1" } } }],
      }),
      "two external targets": scaler({
        metrics: [
          {
            type: "External",
            external: { metric: { name: "m" }, target: { type: "Value", value: "1", averageValue: "1" } },
          },
        ],
      }),
      "a negative value": scaler({
        metrics: [{ type: "External", external: { metric: { name: "m" }, target: { type: "Value", value: "-1" } } }],
      }),
      "a long window": scaler({ behavior: { scaleUp: { stabilizationWindowSeconds: 3601 } } }),
      "a long period": scaler({
        behavior: { scaleDown: { policies: [{ type: "Pods", value: 1, periodSeconds: 1801 }] } },
      }),
      "a negative tolerance": scaler({ behavior: { scaleUp: { tolerance: "-1" } } }),
      "an empty behaviour": scaler({ behavior: {} }),
      "no policies": scaler({ behavior: { scaleUp: { policies: [] } } }),
    },
    changes: {
      "another target": { spec: { scaleTargetRef: { apiVersion: "v1", kind: "Thing" } } },
      "the same target": { spec: { scaleTargetRef: { name: "e" } } },
    },
  },
  {
    ...inNamespace("autoscaling/v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
    label: "older HorizontalPodAutoscaler",
    good: scaler({ minReplicas: 2, targetCPUUtilizationPercentage: 50 }),
    onlyNew: true,
  },
  {
    ...inNamespace("rbac.authorization.k8s.io/v1", "roles", "Role"),
    good: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: ["a"] }] },
    also: {
      paths: { rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }] },
      "paths and resources": { rules: [{ nonResourceURLs: ["/x"], resources: ["pods"], verbs: ["get"] }] },
    },
  },
  {
    ...everywhere("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole"),
    good: {
      rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
    },
    // The controller that aggregates would write its rules in its own time.
    onlyNew: true,
    also: {
      "no path": { rules: [{ nonResourceURLs: [], verbs: ["get"] }] },
      "paths and names": { rules: [{ nonResourceURLs: ["/x"], resourceNames: ["a"], verbs: ["get"] }] },
    },
  },
  {
    ...everywhere("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole"),
    label: "ClusterRole that stays",
    name: "diff-spoilt-kept",
    good: {
      rules: [
        { nonResourceURLs: ["/x", "/y*"], verbs: ["get"] },
        { apiGroups: [""], resources: ["pods"], resourceNames: ["a"], verbs: ["get", "*"] },
      ],
    },
    changes: {
      "an aggregation": { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } },
      "an aggregation by nothing": { aggregationRule: { clusterRoleSelectors: [] } },
      "an aggregation by bad labels": { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b c" } }] } },
      "no rules": { rules: null },
    },
  },
  {
    ...everywhere("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole"),
    label: "ClusterRole that gathers",
    name: "diff-spoilt-gathers",
    good: { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "diff.io/gathered": "by-none" } }] } },
    changes: {
      "rules of its own": { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
      "no aggregation": { aggregationRule: null },
    },
  },
  {
    ...inNamespace("rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding"),
    good: {
      roleRef: role,
      subjects: [
        { kind: "ServiceAccount", name: "sa", namespace: "default" },
        { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
        { kind: "Group", name: "g", apiGroup: "rbac.authorization.k8s.io" },
      ],
    },
    also: {
      "a role with a slash": { roleRef: { ...role, name: "a/b%" } },
      "an account of a group": {
        subjects: [{ kind: "ServiceAccount", name: "sa", namespace: "n", apiGroup: "rbac.authorization.k8s.io" }],
      },
    },
    changes: { "another role": { roleRef: { name: "s" } } },
  },
  {
    ...everywhere("rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding"),
    good: { roleRef: role, subjects: [{ kind: "ServiceAccount", name: "sa", namespace: "default" }] },
    changes: { "another role": { roleRef: { name: "s" } } },
  },
  {
    ...inNamespace("coordination.k8s.io/v1", "leases", "Lease"),
    good: {
      spec: {
        holderIdentity: "h",
        leaseDurationSeconds: 15,
        leaseTransitions: 1,
        acquireTime: "2024-01-01T00:00:00.000000Z",
        renewTime: "2024-01-01T00:00:00.000000Z",
      },
    },
  },
  {
    ...everywhere("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass"),
    good: { value: 10, preemptionPolicy: "Never", description: "d", globalDefault: false },
    also: { "a value that is too high": { value: 1000000001 } },
    changes: { "another value": { value: 11 }, "another policy": { preemptionPolicy: "PreemptLowerPriority" } },
  },
  ...["system-node-critical", "system-mine"].map((name) => ({
    ...everywhere("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass"),
    label: `PriorityClass ${name}`,
    name,
    good: { value: 5 },
    onlyNew: true,
  })),
  {
    ...everywhere("node.k8s.io/v1", "runtimeclasses", "RuntimeClass"),
    good: {
      handler: "h",
      overhead: { podFixed: { cpu: "10m" } },
      scheduling: {
        nodeSelector: { a: "b" },
        tolerations: [
          { key: "k", operator: "Equal", value: "v", effect: "NoExecute", tolerationSeconds: 5 },
          { operator: "Exists" },
        ],
      },
    },
    also: {
      "a negative overhead": { overhead: { podFixed: { cpu: "-1" } } },
      "an unknown overhead": { overhead: { podFixed: { apples: "1" } } },
      "huge pages alone": { overhead: { podFixed: { "hugepages-2Mi": "2Mi" } } },
      "a toleration that compares": { scheduling: { tolerations: [{ key: "k", operator: "Gt", value: "1" }] } },
      "a value that nobody compares": { scheduling: { tolerations: [{ key: "k", operator: "Exists", value: "1" }] } },
    },
    changes: { "another handler": { handler: "g" } },
  },
  {
    ...inNamespace("v1", "resourcequotas", "ResourceQuota"),
    good: {
      spec: {
        hard: { pods: "10" },
        scopes: ["NotTerminating"],
        scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["a"] }] },
      },
    },
    also: {
      "a negative number": quota({ hard: { pods: "-1" } }),
      "half a pod": quota({ hard: { pods: "1500m" } }),
      "an unknown resource": quota({ hard: { apples: "1" } }),
      "a bad resource": quota({ hard: { "a b": "1" } }),
      "a foreign resource": quota({ hard: { "requests.a.io/b": "1" } }),
      "a count": quota({ hard: { "count/deployments.apps": "1" } }),
      "a scope that does not fit": quota({ hard: { services: "1" }, scopes: ["BestEffort"] }),
      "scopes that exclude each other": quota({ scopes: ["BestEffort", "NotBestEffort"] }),
      "an unknown scope": quota({ scopes: ["Magic"] }),
      "a scope that only exists": expression({ scopeName: "BestEffort", operator: "In", values: ["a"] }),
      "a scope with values": expression({ scopeName: "PriorityClass", operator: "Exists", values: ["a"] }),
      "a scope without values": expression({ scopeName: "PriorityClass", operator: "In" }),
      "an unknown operator": expression({ scopeName: "PriorityClass", operator: "Magic" }),
      "an unknown scope in an expression": expression({ scopeName: "Magic", operator: "Exists" }),
    },
    changes: { "other scopes": { spec: { scopes: ["BestEffort"] } } },
  },
  {
    ...inNamespace("v1", "limitranges", "LimitRange"),
    good: limits(
      {
        type: "Container",
        max: { cpu: "4" },
        min: { cpu: "1" },
        default: { cpu: "3" },
        defaultRequest: { cpu: "2" },
        maxLimitRequestRatio: { cpu: "2" },
      },
      { type: "PersistentVolumeClaim", max: { storage: "1Gi" } },
    ),
    also: {
      "defaults of pods": limits({ type: "Pod", default: { cpu: "1" }, defaultRequest: { cpu: "1" } }),
      "a minimum above the maximum": limits({ type: "Pod", min: { cpu: "2" }, max: { cpu: "1" } }),
      "a default below the minimum": limits({ type: "Container", min: { cpu: "2" }, default: { cpu: "1" } }),
      "a request above the default": limits({
        type: "Container",
        default: { cpu: "1" },
        defaultRequest: { cpu: "2" },
      }),
      "a ratio below one": limits({ type: "Pod", maxLimitRequestRatio: { cpu: "500m" } }),
      "a ratio that cannot be": limits({
        type: "Pod",
        min: { cpu: "1" },
        max: { cpu: "2" },
        maxLimitRequestRatio: { cpu: "3" },
      }),
      "a claim without storage": limits({ type: "PersistentVolumeClaim", max: { cpu: "1" } }),
      "storage of containers": limits({ type: "Container", max: { storage: "1" } }),
      "an unknown type": limits({ type: "Magic", max: { cpu: "1" } }),
      "a foreign type": limits({ type: "a.io/b", max: { cpu: "1" } }),
      "a foreign resource that differs": limits({
        type: "Container",
        default: { "a.io/b": "2" },
        defaultRequest: { "a.io/b": "1" },
      }),
    },
  },
  {
    ...everywhere("v1", "nodes", "Node"),
    chosen: ["taints"],
    good: {
      spec: {
        podCIDR: "10.1.0.0/24",
        podCIDRs: ["10.1.0.0/24"],
        providerID: "p://1",
        taints: [{ key: "k", value: "v", effect: "NoSchedule" }],
        unschedulable: true,
      },
    },
    also: {
      "two ranges of a family": { spec: { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24", "10.2.0.0/24"] } },
    },
    changes: { "another provider": { spec: { providerID: "p://2" } } },
  },
  {
    ...inNamespace("v1", "secrets", "Secret"),
    good: { type: "Opaque", data: { a: "YQ==" }, immutable: true },
    also: {
      "a bad key": { data: { "a b": "YQ==" } },
      "a key upwards": { data: { "..": "YQ==" } },
      "a type without its keys": { type: "kubernetes.io/tls" },
      "an ssh key that is empty": { type: "kubernetes.io/ssh-auth", data: { "ssh-privatekey": "" } },
      "a list as a config": { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "W10=" } },
    },
    changes: { "other data": { data: { a: "Yg==" } }, "one that can change": { immutable: null } },
  },
  {
    ...inNamespace("v1", "configmaps", "ConfigMap"),
    good: { data: { a: "a" }, binaryData: { b: "YQ==" }, immutable: true },
    also: { "a key in both": { data: { b: "a" } }, "a bad key": { binaryData: { "..a": "YQ==" } } },
    changes: { "other data": { data: { a: "b" } } },
  },
];

/** Budgets, autoscalers, roles, classes, quotas and small kinds of the core, with each field wrong once. */
export const spoiltPolicy: Script = {
  title: "fields of policy and core kinds",
  namespace: "diff-spoilt-policy",
  steps: specimens.flatMap(spoil),
};
