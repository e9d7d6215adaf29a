import type { Script } from "../script.ts";
import { everywhere, type Fields, inNamespace, type StatusSpecimen, spoilStatus } from "./mutations.ts";

const labels = { app: "x" };
const container = { name: "c", image: "i:1" };
const template = (more: Fields = {}): Fields => ({ metadata: { labels }, spec: { containers: [container], ...more } });
const workload = (more: Fields = {}): Fields => ({ selector: { matchLabels: labels }, template: template(), ...more });
const before = "2024-01-02T03:04:05Z";
const after = "2024-01-02T03:05:05Z";
const condition = (type: string, more: Fields = {}): Fields => ({
  type,
  status: "True",
  reason: "Because",
  message: "text",
  lastTransitionTime: before,
  ...more,
});
const meta = (more: Fields = {}): Fields => ({ ...condition("Ready"), observedGeneration: 1, ...more });
const workloads: readonly StatusSpecimen[] = [
  {
    ...inNamespace("apps/v1", "replicasets", "ReplicaSet"),
    good: { spec: workload({ replicas: 0 }) },
    status: {
      observedGeneration: 1,
      replicas: 3,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 1,
      conditions: [condition("ReplicaFailure")],
    },
  },
  {
    ...inNamespace("v1", "replicationcontrollers", "ReplicationController"),
    good: { spec: { replicas: 0, selector: labels, template: template() } },
    status: {
      observedGeneration: 1,
      replicas: 3,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      conditions: [condition("ReplicaFailure")],
    },
  },
  {
    ...inNamespace("batch/v1", "jobs", "Job"),
    good: { spec: { template: template({ restartPolicy: "Never" }), completions: 3, suspend: false } },
    chosen: ["selector", "labels"],
    status: {
      startTime: before,
      active: 1,
      ready: 1,
      terminating: 1,
      succeeded: 1,
      failed: 1,
      uncountedTerminatedPods: { succeeded: ["a"], failed: ["b"] },
    },
    changes: {
      "its end": {
        status: {
          completionTime: after,
          active: 0,
          ready: 0,
          terminating: 0,
          uncountedTerminatedPods: null,
          conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
        },
      },
      "an end before its beginning": { status: { completionTime: "2023-01-01T00:00:00Z" } },
      "a failure": { status: { conditions: [condition("Failed")] } },
      "an end of both sorts": { status: { conditions: [condition("Complete"), condition("Failed")] } },
      "another beginning": { status: { startTime: after } },
      "pods counted twice": { status: { uncountedTerminatedPods: { succeeded: ["a", "a"], failed: ["a"] } } },
      "indexes that have none": { status: { completedIndexes: "0-1", failedIndexes: "2" } },
    },
  },
  {
    ...inNamespace("batch/v1", "cronjobs", "CronJob"),
    good: {
      spec: {
        schedule: "0 0 * * *",
        suspend: true,
        jobTemplate: { spec: { template: template({ restartPolicy: "Never" }) } },
      },
    },
    status: {
      active: [{ apiVersion: "batch/v1", kind: "Job", name: "j", namespace: "n" }],
      lastScheduleTime: before,
      lastSuccessfulTime: after,
    },
  },
  {
    ...inNamespace("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
    good: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } } },
    status: {
      observedGeneration: 1,
      lastScaleTime: before,
      currentReplicas: 1,
      desiredReplicas: 2,
      currentMetrics: [
        { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 5, averageValue: "1" } } },
      ],
      conditions: [condition("AbleToScale")],
    },
  },
  {
    ...inNamespace("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"),
    good: { spec: { minAvailable: 1, selector: { matchLabels: labels } } },
    status: {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
      disruptedPods: { p: before },
      conditions: [meta({ type: "DisruptionAllowed" })],
    },
  },
];

const cluster: readonly StatusSpecimen[] = [
  {
    ...inNamespace("v1", "resourcequotas", "ResourceQuota"),
    good: { spec: { hard: { "count/spoilt.example.com": "1" } } },
    status: { hard: { "count/spoilt.example.com": "1" }, used: { "count/spoilt.example.com": "1" } },
    changes: {
      "a negative use": { status: { used: { "count/spoilt.example.com": "-1" } } },
      "a part of a thing": { status: { used: { "count/spoilt.example.com": "1500m" } } },
      "an unknown resource": { status: { hard: { apples: "1" } } },
    },
  },
  {
    ...inNamespace("networking.k8s.io/v1", "ingresses", "Ingress"),
    good: { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
    status: {
      loadBalancer: {
        ingress: [
          { ip: "192.0.2.1", ports: [{ port: 80, protocol: "TCP", error: "Oh" }] },
          { hostname: "h.example.com" },
        ],
      },
    },
    changes: {
      "an address that is none": { status: { loadBalancer: { ingress: [{ ip: "no" }] } } },
      "an error with a bad name": {
        status: {
          loadBalancer: {
            ingress: [{ ip: "192.0.2.1", ports: [{ port: 1, protocol: "TCP", error: "example.com/A b" }] }],
          },
        },
      },
    },
  },
  {
    ...everywhere("networking.k8s.io/v1", "servicecidrs", "ServiceCIDR"),
    good: { spec: { cidrs: ["198.51.100.0/24"] } },
    // Each server says in its own time whether it is ready.
    chosen: ["conditions"],
    status: { conditions: [meta({ type: "Spoilt" })] },
  },
  {
    ...everywhere("storage.k8s.io/v1", "volumeattachments", "VolumeAttachment"),
    good: { spec: { attacher: "a.example.com", nodeName: "n", source: { persistentVolumeName: "v" } } },
    status: {
      attached: true,
      attachmentMetadata: { a: "b" },
      attachError: { message: "m", time: before, errorCode: 7 },
      detachError: { message: "m", time: before },
    },
  },
  {
    ...everywhere("admissionregistration.k8s.io/v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    good: {
      spec: {
        matchConstraints: {
          resourceRules: [
            { operations: ["CREATE"], apiGroups: ["status.example.com"], apiVersions: ["v1"], resources: ["things"] },
          ],
        },
        validations: [{ expression: "true" }],
      },
    },
    status: {
      observedGeneration: 1,
      typeChecking: { expressionWarnings: [{ fieldRef: "spec.validations[0].expression", warning: "w" }] },
      conditions: [meta()],
    },
    changes: {
      "a path that is none": {
        status: { typeChecking: { expressionWarnings: [{ fieldRef: "spec[", warning: "w" }] } },
      },
    },
  },
  {
    ...everywhere("flowcontrol.apiserver.k8s.io/v1", "flowschemas", "FlowSchema"),
    good: {
      spec: {
        matchingPrecedence: 9_000,
        priorityLevelConfiguration: { name: "workload-low" },
        rules: [
          {
            subjects: [{ kind: "User", user: { name: "u" } }],
            nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
          },
        ],
      },
    },
    chosen: ["conditions"],
    status: { conditions: [condition("Dangling"), condition("Spoilt")] },
  },
  {
    ...everywhere("flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations", "PriorityLevelConfiguration"),
    good: { spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } } },
    chosen: ["conditions"],
    status: { conditions: [condition("Spoilt")] },
  },
  {
    ...everywhere("apiregistration.k8s.io/v1", "apiservices", "APIService"),
    name: "v1.status.example.com",
    good: {
      spec: {
        group: "status.example.com",
        version: "v1",
        service: { name: "s", namespace: "default" },
        groupPriorityMinimum: 100,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
      },
    },
    chosen: ["conditions"],
    status: { conditions: [condition("Spoilt")] },
  },
];

/** What is written to the status of the kinds that have one, with each field wrong once. */
export const statuses: readonly Script[] = [
  { title: "status of workloads", namespace: "diff-status-workloads", steps: workloads.flatMap(spoilStatus) },
  { title: "status of other kinds", namespace: "diff-status", steps: cluster.flatMap(spoilStatus) },
];
