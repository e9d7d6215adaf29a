import { lookup } from "@lotse/client/meta";
import { type ApiObject, ensureObject, isRecord, listAt, objectAt } from "../object.ts";
import { defaultPod, defaultPodSpec, preset } from "./defaults-pod.ts";
import { foldStringData } from "./prepare.ts";

type Fields = Record<string, unknown>;

/** As {@link preset}, for fields in which an empty text is something that was said. */
function fill(object: Fields, key: string, value: unknown): void {
  object[key] ??= value;
}

const specOf = (object: ApiObject): Fields => ensureObject(object, "spec");

function template(spec: Fields): void {
  defaultPodSpec(ensureObject(ensureObject(spec, "template"), "spec"));
}

function deployment(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "replicas", 1);
  const strategy = ensureObject(spec, "strategy");
  preset(strategy, "type", "RollingUpdate");
  if (strategy.type === "RollingUpdate") {
    const rolling = ensureObject(strategy, "rollingUpdate");
    preset(rolling, "maxUnavailable", "25%");
    preset(rolling, "maxSurge", "25%");
  }
  preset(spec, "revisionHistoryLimit", 10);
  preset(spec, "progressDeadlineSeconds", 600);
  template(spec);
}

function replicaSet(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "replicas", 1);
  template(spec);
}

function replicationController(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "replicas", 1);
  const labels = objectAt(spec, "template", "metadata").labels;
  if (isRecord(labels)) preset(spec, "selector", { ...labels });
  labelLikePods(object);
  if (isRecord(spec.template)) template(spec);
}

/** Without labels of its own, a workload takes those of its pods. */
function labelLikePods(object: ApiObject): void {
  const { labels } = objectAt(object, "spec", "template", "metadata");
  if (isRecord(labels) && Object.keys(object.metadata.labels ?? {}).length === 0) {
    object.metadata.labels = { ...(labels as Record<string, string>) };
  }
}

function statefulSet(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "podManagementPolicy", "OrderedReady");
  const strategy = ensureObject(spec, "updateStrategy");
  if (!strategy.type) {
    strategy.type = "RollingUpdate";
    ensureObject(strategy, "rollingUpdate");
  }
  if (isRecord(strategy.rollingUpdate)) {
    if (strategy.type === "RollingUpdate") preset(strategy.rollingUpdate, "partition", 0);
    // The feature gate for this is off.
    delete strategy.rollingUpdate.maxUnavailable;
  }
  const retention = ensureObject(spec, "persistentVolumeClaimRetentionPolicy");
  preset(retention, "whenDeleted", "Retain");
  preset(retention, "whenScaled", "Retain");
  preset(spec, "replicas", 1);
  preset(spec, "revisionHistoryLimit", 10);
  template(spec);
  for (const claim of listAt(spec, "volumeClaimTemplates")) {
    preset(claim, "apiVersion", "v1");
    preset(claim, "kind", "PersistentVolumeClaim");
    preset(ensureObject(claim, "spec"), "volumeMode", "Filesystem");
    ensureObject(claim, "status").phase = "Pending";
  }
}

function daemonSet(object: ApiObject): void {
  const spec = specOf(object);
  const strategy = ensureObject(spec, "updateStrategy");
  preset(strategy, "type", "RollingUpdate");
  if (strategy.type === "RollingUpdate") {
    const rolling = ensureObject(strategy, "rollingUpdate");
    preset(rolling, "maxUnavailable", 1);
    preset(rolling, "maxSurge", 0);
  }
  preset(spec, "revisionHistoryLimit", 10);
  template(spec);
  // An older version kept this count in the spec; it goes on in an annotation.
  const annotations = object.metadata.annotations ?? {};
  object.metadata.annotations = { "deprecated.daemonset.template.generation": "1", ...annotations };
}

function jobSpec(spec: Fields): void {
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1;
    spec.parallelism = 1;
  }
  preset(spec, "parallelism", 1);
  preset(spec, "backoffLimit", spec.backoffLimitPerIndex === undefined ? 6 : 2_147_483_647);
  preset(spec, "completionMode", "NonIndexed");
  preset(spec, "suspend", false);
  preset(spec, "manualSelector", false);
  preset(spec, "podReplacementPolicy", spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed");
  failurePolicy(spec);
  template(spec);
}

/** A condition without a status is one that is true. */
function failurePolicy(spec: Fields): void {
  for (const rule of listAt(objectAt(spec, "podFailurePolicy"), "rules")) {
    for (const pattern of listAt(rule, "onPodConditions")) preset(pattern, "status", "True");
  }
}

function cronJob(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "concurrencyPolicy", "Allow");
  preset(spec, "suspend", false);
  preset(spec, "successfulJobsHistoryLimit", 3);
  preset(spec, "failedJobsHistoryLimit", 1);
  // A template keeps fewer of a job's defaults: the job itself gets the rest when it is made.
  const work = ensureObject(ensureObject(spec, "jobTemplate"), "spec");
  failurePolicy(work);
  template(work);
}

function service(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "sessionAffinity", "None");
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === "ClientIP") {
    preset(ensureObject(ensureObject(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds", 10_800);
  }
  preset(spec, "type", "ClusterIP");
  for (const port of listAt(spec, "ports")) {
    preset(port, "protocol", "TCP");
    if (!port.targetPort) port.targetPort = port.port;
  }
  const balancer = spec.type === "LoadBalancer";
  const open = balancer || spec.type === "NodePort" || (spec.type === "ClusterIP" && !listIsEmpty(spec.externalIPs));
  if (open) preset(spec, "externalTrafficPolicy", "Cluster");
  if (balancer) preset(spec, "allocateLoadBalancerNodePorts", true);
  if (spec.type !== "ExternalName") fill(spec, "internalTrafficPolicy", "Cluster");
  if (!balancer) return;
  for (const item of listAt(object, "status", "loadBalancer", "ingress")) if (item.ip) fill(item, "ipMode", "VIP");
}

function claim(object: ApiObject): void {
  fill(specOf(object), "volumeMode", "Filesystem");
  preset(ensureObject(object, "status"), "phase", "Pending");
}

/** What sources of volumes fill in. */
const VOLUME_DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  rbd: { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" },
  iscsi: { iscsiInterface: "default" },
  azureDisk: { cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" },
  scaleIO: { storageMode: "ThinProvisioned", fsType: "xfs" },
};

function persistentVolume(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "persistentVolumeReclaimPolicy", "Retain");
  fill(spec, "volumeMode", "Filesystem");
  preset(ensureObject(object, "status"), "phase", "Pending");
  if (isRecord(spec.hostPath)) preset(spec.hostPath, "type", "");
  for (const [key, defaults] of Object.entries(VOLUME_DEFAULTS)) {
    const source = spec[key];
    if (!isRecord(source)) continue;
    for (const [field, value] of Object.entries(defaults)) {
      if (key === "azureDisk") fill(source, field, value);
      else preset(source, field, value);
    }
  }
}

function networkPolicy(object: ApiObject): void {
  const spec = specOf(object);
  if (listIsEmpty(spec.policyTypes)) {
    spec.policyTypes = listIsEmpty(spec.egress) ? ["Ingress"] : ["Ingress", "Egress"];
  }
  for (const rule of [...listAt(spec, "ingress"), ...listAt(spec, "egress")]) {
    for (const port of listAt(rule, "ports")) fill(port, "protocol", "TCP");
  }
}

function autoscaler(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "minReplicas", 1);
  if (object.apiVersion === "autoscaling/v1") {
    fill(spec, "targetCPUUtilizationPercentage", 80);
    return;
  }
  const target = { type: "Utilization", averageUtilization: 80 };
  if (listIsEmpty(spec.metrics)) spec.metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
  const { behavior } = spec;
  if (!isRecord(behavior)) return;
  const percent = { type: "Percent", value: 100, periodSeconds: 15 };
  const up = ensureObject(behavior, "scaleUp");
  preset(up, "stabilizationWindowSeconds", 0);
  fill(up, "selectPolicy", "Max");
  preset(up, "policies", [{ type: "Pods", value: 4, periodSeconds: 15 }, percent]);
  const down = ensureObject(behavior, "scaleDown");
  fill(down, "selectPolicy", "Max");
  preset(down, "policies", [percent]);
}

function ingressClass(object: ApiObject): void {
  const { parameters } = specOf(object);
  if (isRecord(parameters)) fill(parameters, "scope", "Cluster");
}

function webhooks(object: ApiObject, mutating: boolean): void {
  for (const hook of listAt(object, "webhooks")) {
    fill(hook, "failurePolicy", "Fail");
    fill(hook, "matchPolicy", "Equivalent");
    fill(hook, "namespaceSelector", {});
    fill(hook, "objectSelector", {});
    fill(hook, "timeoutSeconds", 10);
    if (mutating) fill(hook, "reinvocationPolicy", "Never");
    for (const rule of listAt(hook, "rules")) fill(rule, "scope", "*");
    const target = objectAt(hook, "clientConfig").service;
    if (isRecord(target)) fill(target, "port", 443);
  }
}

function policy(object: ApiObject): void {
  const spec = specOf(object);
  fill(spec, "failurePolicy", "Fail");
  matchResources(spec.matchConstraints);
}

function binding(object: ApiObject): void {
  matchResources(specOf(object).matchResources);
}

function matchResources(match: unknown): void {
  if (!isRecord(match)) return;
  fill(match, "matchPolicy", "Equivalent");
  fill(match, "namespaceSelector", {});
  fill(match, "objectSelector", {});
  for (const rule of [...listAt(match, "resourceRules"), ...listAt(match, "excludeResourceRules")]) {
    fill(rule, "scope", "*");
  }
}

/** The one range of a node's pods and the list of them say the same; the one is believed. */
function nodeRanges(object: ApiObject): void {
  const { spec } = object;
  if (!isRecord(spec)) return;
  const { podCIDR, podCIDRs } = spec;
  const [first] = Array.isArray(podCIDRs) ? podCIDRs : [];
  if (podCIDR && first !== podCIDR) spec.podCIDRs = [podCIDR];
  else if (!podCIDR && first) spec.podCIDR = first;
}

/** A LimitRange fills in itself what it says only half of. */
function limitRange(object: ApiObject): void {
  for (const item of listAt(object, "spec", "limits")) {
    if (item.type !== "Container") continue;
    const limits = { ...objectAt(item, "max"), ...objectAt(item, "default") };
    const requests = { ...objectAt(item, "min"), ...limits, ...objectAt(item, "defaultRequest") };
    if (Object.keys(limits).length > 0) item.default = limits;
    if (Object.keys(requests).length > 0) item.defaultRequest = requests;
  }
}

function roleRef(object: ApiObject): void {
  preset(ensureObject(object, "roleRef"), "apiGroup", "rbac.authorization.k8s.io");
  for (const subject of listAt(object, "subjects")) {
    if (subject.kind === "User" || subject.kind === "Group") preset(subject, "apiGroup", "rbac.authorization.k8s.io");
  }
}

function apiService(object: ApiObject): void {
  const { service } = specOf(object);
  if (isRecord(service)) preset(service, "port", 443);
}

function crd(object: ApiObject): void {
  const spec = specOf(object);
  const names = ensureObject(spec, "names");
  if (typeof names.kind === "string" && names.kind !== "") {
    preset(names, "singular", names.kind.toLowerCase());
    preset(names, "listKind", `${names.kind}List`);
  }
  const conversion = ensureObject(spec, "conversion");
  preset(conversion, "strategy", "None");
  const target = objectAt(conversion, "webhook", "clientConfig").service;
  if (isRecord(target)) preset(target, "port", 443);
  const status = ensureObject(object, "status");
  if (!listIsEmpty(status.storedVersions)) return;
  const storage = listAt(spec, "versions").find((version) => version.storage === true);
  if (storage) status.storedVersions = [storage.name];
}

function endpoints(object: ApiObject): void {
  for (const subset of listAt(object, "subsets")) {
    for (const port of listAt(subset, "ports")) preset(port, "protocol", "TCP");
  }
}

function endpointSlice(object: ApiObject): void {
  for (const port of listAt(object, "ports")) {
    preset(port, "name", "");
    fill(port, "protocol", "TCP");
  }
}

function csiDriver(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "attachRequired", true);
  preset(spec, "podInfoOnMount", false);
  preset(spec, "storageCapacity", false);
  fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if (listIsEmpty(spec.volumeLifecycleModes)) spec.volumeLifecycleModes = ["Persistent"];
  preset(spec, "requiresRepublish", false);
  preset(spec, "seLinuxMount", false);
}

const listIsEmpty = (value: unknown): boolean => !Array.isArray(value) || value.length === 0;

function priorityLevel(object: ApiObject): void {
  const { limited, exempt } = specOf(object);
  if (isRecord(exempt)) {
    preset(exempt, "nominalConcurrencyShares", 0);
    preset(exempt, "lendablePercent", 0);
  }
  if (!isRecord(limited)) return;
  preset(limited, "nominalConcurrencyShares", 30);
  preset(limited, "lendablePercent", 0);
  const response = ensureObject(limited, "limitResponse");
  // Queues that the client does not mention are refused later; of those that are there a zero is as good as nothing.
  if (isRecord(response.queuing)) {
    const { queues, handSize, queueLengthLimit } = response.queuing;
    Object.assign(response.queuing, {
      queues: queues || 64,
      handSize: handSize || 8,
      queueLengthLimit: queueLengthLimit || 50,
    });
  }
}

function flowSchema(object: ApiObject): void {
  const spec = specOf(object);
  if (!spec.matchingPrecedence) spec.matchingPrecedence = 1000;
}

/** The one address of a pod and the list of them say the same; the one is believed where there is one. */
function podAddresses(status: Fields): void {
  const [first] = listAt(status, "podIPs");
  if (status.podIP && status.podIP !== first?.ip) status.podIPs = [{ ip: status.podIP }];
  else if (first?.ip) status.podIP = first.ip;
}

/** What a node has is what it can give away, unless it says otherwise. */
function nodeResources(object: ApiObject): void {
  const { status } = object;
  if (!isRecord(status) || !isRecord(status.capacity) || isRecord(status.allocatable)) return;
  status.allocatable = { ...status.capacity };
}

/** The name as a label, so that selectors of policies and webhooks can speak of namespaces by name. */
function namespaceLabel(object: ApiObject): void {
  const { name } = object.metadata;
  if (name) object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": name };
  preset(ensureObject(object, "status"), "phase", "Active");
}

const DEFAULTS: Record<string, (object: ApiObject) => void> = {
  "/Namespace": namespaceLabel,
  "/Pod": (object) => {
    defaultPod(specOf(object));
    if (isRecord(object.status)) podAddresses(object.status);
  },
  "/PodTemplate": (object) => defaultPodSpec(ensureObject(ensureObject(object, "template"), "spec")),
  "/ReplicationController": replicationController,
  "/Secret": (object) => {
    foldStringData(object);
    preset(object, "type", "Opaque");
  },
  "/LimitRange": limitRange,
  "/Node": (object) => {
    nodeRanges(object);
    nodeResources(object);
  },
  "/Service": service,
  "/PersistentVolumeClaim": claim,
  "/PersistentVolume": persistentVolume,
  "/Endpoints": endpoints,
  "discovery.k8s.io/EndpointSlice": endpointSlice,
  "storage.k8s.io/CSIDriver": csiDriver,
  "apiregistration.k8s.io/APIService": apiService,
  "flowcontrol.apiserver.k8s.io/FlowSchema": flowSchema,
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": priorityLevel,
  "apps/Deployment": deployment,
  "apps/ReplicaSet": replicaSet,
  "apps/StatefulSet": statefulSet,
  "apps/DaemonSet": daemonSet,
  "batch/Job": (object) => {
    labelLikePods(object);
    jobSpec(specOf(object));
  },
  "batch/CronJob": cronJob,
  "autoscaling/HorizontalPodAutoscaler": autoscaler,
  "networking.k8s.io/IngressClass": ingressClass,
  "networking.k8s.io/NetworkPolicy": networkPolicy,
  "authentication.k8s.io/TokenRequest": (object) => preset(specOf(object), "expirationSeconds", 3_600),
  "rbac.authorization.k8s.io/RoleBinding": roleRef,
  "rbac.authorization.k8s.io/ClusterRoleBinding": roleRef,
  "storage.k8s.io/StorageClass": (object) => {
    fill(object, "reclaimPolicy", "Delete");
    fill(object, "volumeBindingMode", "Immediate");
  },
  "scheduling.k8s.io/PriorityClass": (object) => fill(object, "preemptionPolicy", "PreemptLowerPriority"),
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": (object) => webhooks(object, true),
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": (object) => webhooks(object, false),
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": policy,
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": policy,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": binding,
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": binding,
  "apiextensions.k8s.io/CustomResourceDefinition": crd,
};

/** What a built-in kind fills in on every write, or undefined when it fills in nothing. */
export function defaultsOf(group: string, kind: string): ((object: ApiObject) => void) | undefined {
  return lookup(DEFAULTS, `${group}/${kind}`);
}
