import type { Script } from "../script.ts";
import { everywhere, type Fields, inNamespace, type StatusSpecimen, spoilStatus } from "./mutations.ts";

const labels = { app: "x" };
const container = { name: "c", image: "i:1" };
const template: Fields = { metadata: { labels }, spec: { containers: [container] } };
const workload = (more: Fields = {}): Fields => ({ selector: { matchLabels: labels }, template, ...more });
const before = "2024-01-02T03:04:05Z";
const condition = (type: string, more: Fields = {}): Fields => ({
  type,
  status: "True",
  reason: "Because",
  message: "text",
  lastTransitionTime: before,
  ...more,
});

const user = { linux: { uid: 1, gid: 2, supplementalGroups: [3] } };
const runs: Fields = {
  name: "c",
  image: "i:1",
  imageID: "id",
  containerID: "docker://c",
  ready: true,
  started: true,
  restartCount: 1,
  state: { running: { startedAt: before } },
  lastState: {
    terminated: { exitCode: 1, signal: 2, reason: "Error", message: "m", startedAt: before, finishedAt: before },
  },
  resources: { requests: { cpu: "1" } },
  allocatedResources: { cpu: "1" },
  allocatedResourcesStatus: [{ name: "cpu", resources: [{ resourceID: "r", health: "Healthy" }] }],
  user,
  volumeMounts: [{ name: "v", mountPath: "/v", readOnly: true, recursiveReadOnly: "Disabled" }],
};
const has = (state: Fields, more: Fields = {}): Fields => ({
  name: "c",
  image: "i:1",
  imageID: "",
  ready: false,
  restartCount: 0,
  state,
  ...more,
});
const ended = (exitCode: number): Fields => ({ terminated: { exitCode } });

const pods: readonly StatusSpecimen[] = [
  {
    ...inNamespace("v1", "pods", "Pod"),
    good: {
      spec: {
        automountServiceAccountToken: false,
        containers: [{ ...container, resources: { requests: { cpu: "1" } } }],
        initContainers: [{ name: "i", image: "i:1" }],
        volumes: [{ name: "v", emptyDir: {} }],
      },
    },
    status: {
      observedGeneration: 1,
      phase: "Running",
      conditions: [condition("Ready", { lastProbeTime: before, observedGeneration: 1 }), condition("example.com/own")],
      message: "m",
      reason: "R",
      nominatedNodeName: "n",
      hostIP: "192.0.2.1",
      hostIPs: [{ ip: "192.0.2.1" }],
      podIP: "192.0.2.2",
      podIPs: [{ ip: "192.0.2.2" }, { ip: "2001:db8::2" }],
      startTime: before,
      qosClass: "Burstable",
      resize: "Proposed",
      initContainerStatuses: [has({ waiting: { reason: "R", message: "m" } }, { name: "i" })],
      containerStatuses: [runs],
      ephemeralContainerStatuses: [has(ended(0), { name: "e", user })],
    },
    changes: {
      "an end": { status: { phase: "Succeeded", containerStatuses: [has(ended(0))] } },
      "resources of ephemeral containers": {
        status: {
          ephemeralContainerStatuses: [has(ended(0), { name: "e", allocatedResourcesStatus: [{ name: "cpu" }] })],
        },
      },
      "an ephemeral container that runs again": {
        status: { ephemeralContainerStatuses: [has({ running: {} }, { name: "e" })] },
      },
      "resources that were not asked for": {
        status: {
          containerStatuses: [
            has({ running: {} }, { allocatedResourcesStatus: [{ name: "memory" }, { name: "claim:a/b" }] }),
          ],
        },
      },
      "health that there is not": {
        status: {
          containerStatuses: [
            has(
              { running: {} },
              {
                allocatedResourcesStatus: [
                  {
                    name: "cpu",
                    resources: [
                      { resourceID: "r", health: "Good" },
                      { resourceID: "r", message: "" },
                    ],
                  },
                ],
              },
            ),
          ],
        },
      },
      "a claim that is not there": {
        status: { resourceClaimStatuses: [{ name: "a", resourceClaimName: "A b" }, { name: "a" }] },
      },
      "extended resources that were not asked for": {
        status: {
          extendedResourceClaimStatus: {
            resourceClaimName: "A b",
            requestMappings: [
              { containerName: "c", resourceName: "example.com/x", requestName: "R" },
              { containerName: "d", resourceName: "example.com/x", requestName: "r" },
              { containerName: "d", resourceName: "example.com/x", requestName: "r" },
            ],
          },
        },
      },
      "a node": { spec: { nodeName: "n" }, status: { phase: "Running" } },
      "no quality": { status: { qosClass: null } },
      "no generation": { status: { observedGeneration: null } },
      "three addresses": { status: { podIPs: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }, { ip: "2001:db8::1" }] } },
      "two addresses of nodes": { status: { hostIPs: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }] } },
      "an address with zeros": { status: { podIP: "192.0.2.02", podIPs: [{ ip: "192.0.2.02" }] } },
      "only one address": { status: { podIP: "192.0.2.9", podIPs: null } },
      "only a list of addresses": { status: { podIP: null, podIPs: [{ ip: "192.0.2.9" }] } },
      "addresses that say otherwise": { status: { podIP: "192.0.2.9", podIPs: [{ ip: "192.0.2.8" }] } },
      "a volume's image": {
        status: {
          containerStatuses: [
            has(
              { running: {} },
              { volumeMounts: [{ name: "v", mountPath: "/v", volumeStatus: { image: { imageRef: "" } } }] },
            ),
          ],
        },
      },
    },
  },
  {
    ...inNamespace("v1", "pods", "Pod"),
    label: "Pod that ends",
    name: "ends",
    good: {
      spec: {
        automountServiceAccountToken: false,
        restartPolicy: "OnFailure",
        containers: [container],
        initContainers: [{ name: "i", image: "i:1" }],
      },
    },
    status: { containerStatuses: [has(ended(0))], initContainerStatuses: [has(ended(0), { name: "i" })] },
    changes: {
      "a container that runs again": { status: { containerStatuses: [has({ running: {} })] } },
      "a container that waits again": { status: { initContainerStatuses: [has({ waiting: {} }, { name: "i" })] } },
      "another end": { status: { containerStatuses: [has(ended(1))] } },
    },
  },
];

const counted = { observedGeneration: 1, replicas: 4, readyReplicas: 3, availableReplicas: 2, collisionCount: 1 };
const workloads: readonly StatusSpecimen[] = [
  {
    ...inNamespace("apps/v1", "deployments", "Deployment"),
    good: { spec: workload({ replicas: 0 }) },
    status: {
      ...counted,
      updatedReplicas: 2,
      unavailableReplicas: 1,
      terminatingReplicas: 1,
      conditions: [condition("Available", { lastUpdateTime: before })],
    },
  },
  {
    ...inNamespace("apps/v1", "statefulsets", "StatefulSet"),
    good: { spec: workload({ replicas: 0, serviceName: "s" }) },
    status: {
      ...counted,
      currentReplicas: 2,
      updatedReplicas: 2,
      currentRevision: "a",
      updateRevision: "b",
      conditions: [condition("Available")],
    },
  },
  {
    ...inNamespace("apps/v1", "daemonsets", "DaemonSet"),
    good: { spec: workload() },
    status: {
      currentNumberScheduled: 3,
      numberMisscheduled: 1,
      desiredNumberScheduled: 3,
      numberReady: 2,
      observedGeneration: 1,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
      numberUnavailable: 2,
      collisionCount: 1,
      conditions: [condition("Spoilt")],
    },
  },
];

const balancer = { ip: "192.0.2.1", ipMode: "VIP", ports: [{ port: 80, protocol: "TCP", error: "Oh" }] };
const others: readonly StatusSpecimen[] = [
  {
    ...everywhere("v1", "nodes", "Node"),
    good: {},
    metadata: { labels: { "kubernetes.io/hostname": "x" } },
    status: {
      capacity: { cpu: "2" },
      allocatable: { cpu: "1" },
      phase: "Running",
      conditions: [condition("Ready", { lastHeartbeatTime: before })],
      addresses: [{ type: "InternalIP", address: "192.0.2.1" }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      nodeInfo: {
        machineID: "m",
        systemUUID: "s",
        bootID: "b",
        kernelVersion: "k",
        osImage: "o",
        containerRuntimeVersion: "c://1",
        kubeletVersion: "v1.36.3",
        kubeProxyVersion: "",
        operatingSystem: "linux",
        architecture: "amd64",
      },
      images: [{ names: ["i:1"], sizeBytes: 5 }],
      volumesInUse: ["v"],
      volumesAttached: [{ name: "v", devicePath: "/d" }],
      config: { error: "e" },
      features: { supplementalGroupsPolicy: true },
      runtimeHandlers: [{ name: "h", features: { userNamespaces: true } }],
      declaredFeatures: ["GuaranteedQoSPodCPUResize"],
    },
    changes: {
      "a fraction of a thing": { status: { capacity: { "example.com/x": "1500m" } } },
      "an unknown resource": { status: { allocatable: { apples: "1" } } },
      "an amount below zero": { status: { allocatable: { cpu: "-1" }, capacity: { cpu: "-1" } } },
      "an address twice": {
        status: {
          addresses: [
            { type: "Hostname", address: "x" },
            { type: "Hostname", address: "x" },
          ],
        },
      },
      "features in the wrong order": { status: { declaredFeatures: ["B", "A", "A", "a b"] } },
    },
  },
  {
    ...everywhere("v1", "persistentvolumes", "PersistentVolume"),
    good: {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/x" },
        storageClassName: "none.example.com",
      },
    },
    chosen: ["lastPhaseTransitionTime"],
    status: { phase: "Available", message: "m", reason: "r" },
  },
  {
    ...inNamespace("v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
    good: {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        storageClassName: "none.example.com",
      },
    },
    status: {
      phase: "Bound",
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
      conditions: [condition("Resizing", { lastProbeTime: before })],
      allocatedResources: { storage: "2Gi" },
      allocatedResourceStatuses: { storage: "ControllerResizeInProgress" },
      currentVolumeAttributesClassName: "c",
      modifyVolumeStatus: { targetVolumeAttributesClassName: "d", status: "Pending" },
    },
    changes: {
      "resources that are not storage": {
        status: { allocatedResources: { cpu: "1" }, allocatedResourceStatuses: { "kubernetes.io/x": "y" } },
      },
      "resources of a domain": {
        status: { allocatedResources: { "example.com/x": "1" }, allocatedResourceStatuses: { "example.com/x": "y" } },
      },
      "amounts below zero": { status: { capacity: { storage: "-1" }, allocatedResources: { storage: "-1" } } },
    },
  },
  {
    ...inNamespace("v1", "services", "Service"),
    good: { spec: { type: "LoadBalancer", ports: [{ port: 80 }] } },
    chosen: ["clusterIP", "clusterIPs", "nodePort"],
    status: {
      conditions: [condition("Spoilt", { observedGeneration: 1 })],
      loadBalancer: { ingress: [balancer, { hostname: "h.example.com" }] },
    },
    changes: {
      "a mode without an address": {
        status: { loadBalancer: { ingress: [{ hostname: "h.example.com", ipMode: "VIP" }] } },
      },
      "an address without a mode": { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } },
      "an address that is none": { status: { loadBalancer: { ingress: [{ ip: "192.0.2", ipMode: "VIP" }] } } },
      "a name that is an address": { status: { loadBalancer: { ingress: [{ hostname: "192.0.2.1" }] } } },
    },
  },
  {
    ...everywhere("v1", "namespaces", "Namespace"),
    good: {},
    status: { phase: "Active", conditions: [condition("Spoilt")] },
  },
  {
    ...everywhere("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition"),
    name: "statuses.spoilt.diff.io",
    good: {
      spec: {
        group: "spoilt.diff.io",
        scope: "Namespaced",
        names: { plural: "statuses", kind: "Status" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
    // Each server says in its own time whether the names are taken, and takes back what anybody else says.
    chosen: ["conditions"],
    unstored: true,
    status: {
      conditions: [condition("Established", { observedGeneration: 1 }), condition("Spoilt")],
      acceptedNames: {
        plural: "statuses",
        singular: "status",
        kind: "Status",
        listKind: "StatusList",
        shortNames: ["st"],
        categories: ["all"],
      },
      storedVersions: ["v1"],
      observedGeneration: 1,
    },
    changes: {
      "versions that there are not": { status: { storedVersions: ["v2"] } },
      "no versions": { status: { storedVersions: [] } },
    },
  },
];

/** What is written to the status of pods, workloads and other kinds of the core, with each field wrong once. */
export const coreStatuses: readonly Script[] = [
  { title: "status of pods", namespace: "diff-status-pods", steps: pods.flatMap(spoilStatus) },
  { title: "status of counted workloads", namespace: "diff-status-counted", steps: workloads.flatMap(spoilStatus) },
  { title: "status of the core", namespace: "diff-status-core", steps: others.flatMap(spoilStatus) },
];
