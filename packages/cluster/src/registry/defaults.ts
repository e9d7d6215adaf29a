import { lookup } from "@lotse/client/meta";
import { defaultPod, defaultPodSpec, preset } from "./defaults-pod.ts";
import { type ApiObject, ensureObject, isRecord, listAt, objectAt } from "./object.ts";
import { foldStringData } from "./prepare.ts";

type Fields = Record<string, unknown>;

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
  preset(strategy, "type", "RollingUpdate");
  if (strategy.type === "RollingUpdate") preset(ensureObject(strategy, "rollingUpdate"), "partition", 0);
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
  template(spec);
}

function cronJob(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "concurrencyPolicy", "Allow");
  preset(spec, "suspend", false);
  preset(spec, "successfulJobsHistoryLimit", 3);
  preset(spec, "failedJobsHistoryLimit", 1);
  // A template keeps fewer of a job's defaults: the job itself gets the rest when it is made.
  template(ensureObject(ensureObject(spec, "jobTemplate"), "spec"));
}

function service(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "sessionAffinity", "None");
  if (spec.sessionAffinity === "ClientIP") {
    preset(ensureObject(ensureObject(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds", 10_800);
  }
  preset(spec, "type", "ClusterIP");
  for (const port of listAt(spec, "ports")) {
    preset(port, "protocol", "TCP");
    preset(port, "targetPort", port.port);
  }
  if (spec.type === "NodePort" || spec.type === "LoadBalancer") preset(spec, "externalTrafficPolicy", "Cluster");
  if (spec.type === "LoadBalancer") preset(spec, "allocateLoadBalancerNodePorts", true);
  if (spec.type !== "ExternalName") preset(spec, "internalTrafficPolicy", "Cluster");
}

function claim(object: ApiObject): void {
  preset(specOf(object), "volumeMode", "Filesystem");
}

function persistentVolume(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "persistentVolumeReclaimPolicy", "Retain");
  preset(spec, "volumeMode", "Filesystem");
  if (isRecord(spec.hostPath)) preset(spec.hostPath, "type", "");
}

function networkPolicy(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "policyTypes", spec.egress === undefined ? ["Ingress"] : ["Ingress", "Egress"]);
  for (const rule of [...listAt(spec, "ingress"), ...listAt(spec, "egress")]) {
    for (const port of listAt(rule, "ports")) preset(port, "protocol", "TCP");
  }
}

function autoscaler(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "minReplicas", 1);
  if (object.apiVersion === "autoscaling/v1") return;
  const target = { type: "Utilization", averageUtilization: 80 };
  preset(spec, "metrics", [{ type: "Resource", resource: { name: "cpu", target } }]);
}

function webhooks(object: ApiObject, mutating: boolean): void {
  for (const hook of listAt(object, "webhooks")) {
    preset(hook, "failurePolicy", "Fail");
    preset(hook, "matchPolicy", "Equivalent");
    preset(hook, "namespaceSelector", {});
    preset(hook, "objectSelector", {});
    preset(hook, "timeoutSeconds", 10);
    if (mutating) preset(hook, "reinvocationPolicy", "Never");
    for (const rule of listAt(hook, "rules")) preset(rule, "scope", "*");
    const target = objectAt(hook, "clientConfig").service;
    if (isRecord(target)) preset(target, "port", 443);
  }
}

function policy(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "failurePolicy", "Fail");
  matchResources(spec.matchConstraints);
}

function binding(object: ApiObject): void {
  matchResources(specOf(object).matchResources);
}

function matchResources(match: unknown): void {
  if (!isRecord(match)) return;
  preset(match, "matchPolicy", "Equivalent");
  preset(match, "namespaceSelector", {});
  preset(match, "objectSelector", {});
  for (const rule of [...listAt(match, "resourceRules"), ...listAt(match, "excludeResourceRules")]) {
    preset(rule, "scope", "*");
  }
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
}

function endpoints(object: ApiObject): void {
  for (const subset of listAt(object, "subsets")) {
    for (const port of listAt(subset, "ports")) preset(port, "protocol", "TCP");
  }
}

function endpointSlice(object: ApiObject): void {
  for (const port of listAt(object, "ports")) {
    preset(port, "name", "");
    preset(port, "protocol", "TCP");
  }
}

function csiDriver(object: ApiObject): void {
  const spec = specOf(object);
  preset(spec, "attachRequired", true);
  preset(spec, "podInfoOnMount", false);
  preset(spec, "storageCapacity", false);
  preset(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
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
  if (response.type === "Queue") {
    const queuing = ensureObject(response, "queuing");
    preset(queuing, "queues", 64);
    preset(queuing, "handSize", 8);
    preset(queuing, "queueLengthLimit", 50);
  }
}

function flowSchema(object: ApiObject): void {
  const spec = specOf(object);
  if (!spec.matchingPrecedence) spec.matchingPrecedence = 1000;
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
    const { status } = object;
    if (isRecord(status) && status.podIP && listIsEmpty(status.podIPs)) status.podIPs = [{ ip: status.podIP }];
  },
  "/PodTemplate": (object) => defaultPodSpec(ensureObject(ensureObject(object, "template"), "spec")),
  "/ReplicationController": replicationController,
  "/Secret": (object) => {
    foldStringData(object);
    preset(object, "type", "Opaque");
  },
  "/LimitRange": limitRange,
  "/Service": service,
  "/PersistentVolumeClaim": claim,
  "/PersistentVolume": persistentVolume,
  "/Endpoints": endpoints,
  "discovery.k8s.io/EndpointSlice": endpointSlice,
  "storage.k8s.io/CSIDriver": csiDriver,
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
  "networking.k8s.io/NetworkPolicy": networkPolicy,
  "authentication.k8s.io/TokenRequest": (object) => preset(specOf(object), "expirationSeconds", 3_600),
  "rbac.authorization.k8s.io/RoleBinding": roleRef,
  "rbac.authorization.k8s.io/ClusterRoleBinding": roleRef,
  "storage.k8s.io/StorageClass": (object) => {
    preset(object, "reclaimPolicy", "Delete");
    preset(object, "volumeBindingMode", "Immediate");
  },
  "scheduling.k8s.io/PriorityClass": (object) => preset(object, "preemptionPolicy", "PreemptLowerPriority"),
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
