import { ensureObject, isRecord, listAt, objectAt } from "../object.ts";
import { formatAmount } from "../quantity-form.ts";
import { roundResources, totals } from "../rules/index.ts";

type Fields = Record<string, unknown>;

/** Sets `key` when the client has not; an empty text counts as nothing where the default says something. */
export function preset(object: Fields, key: string, value: unknown): void {
  const present = object[key];
  if (present === undefined || present === null || (present === "" && value !== "")) object[key] = value;
}

/** The defaults of a pod's spec, alone or in a template. */
export function defaultPodSpec(spec: Fields): void {
  preset(spec, "restartPolicy", "Always");
  preset(spec, "terminationGracePeriodSeconds", 30);
  preset(spec, "dnsPolicy", "ClusterFirst");
  preset(spec, "securityContext", {});
  preset(spec, "schedulerName", "default-scheduler");
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of listAt({ spec }, "spec", list)) defaultContainer(container);
  }
  for (const volume of listAt({ spec }, "spec", "volumes")) defaultVolume(volume);
  for (const list of [objectAt(spec, "resources").requests, objectAt(spec, "resources").limits, spec.overhead]) {
    roundResources(list);
  }
  // The feature gate for this is off.
  delete spec.schedulingGroup;
  // Both names mean the same; old clients read one of them, new ones the other.
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
  else if (spec.serviceAccount !== undefined) spec.serviceAccountName = spec.serviceAccount;
}

/** What only a Pod gets and a template does not. */
export function defaultPod(spec: Fields): void {
  preset(spec, "enableServiceLinks", true);
  defaultPodSpec(spec);
  // A pod without time to end has at least a second.
  if (Number(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1;
  for (const list of ["initContainers", "containers"]) {
    for (const container of listAt({ spec }, "spec", list)) {
      const resources = ensureObject(container, "resources");
      if (!isRecord(resources.limits)) continue;
      resources.requests = { ...resources.limits, ...(isRecord(resources.requests) ? resources.requests : {}) };
    }
  }
  if (isRecord(spec.resources)) defaultPodRequests(spec, spec.resources);
  if (spec.hostNetwork !== true) return;
  for (const list of ["initContainers", "containers"]) {
    for (const container of listAt({ spec }, "spec", list)) {
      for (const port of listAt(container, "ports")) if (!port.hostPort) port.hostPort = port.containerPort;
    }
  }
}

/** A pod that has limits as a whole asks for what its containers ask for, or else for its limits. */
function defaultPodRequests(spec: Fields, resources: Fields): void {
  const pages = [...totals(spec, "limits")].filter(([name]) => name.startsWith("hugepages-"));
  const limits: Fields = { ...objectAt(resources, "limits") };
  if (Object.keys(limits).length + Object.keys(objectAt(resources, "requests")).length === 0) return;
  for (const [name, amount] of pages) limits[name] ??= formatAmount(amount);
  if (Object.keys(limits).length === 0) return;
  resources.limits = limits;
  const requests: Fields = { ...objectAt(resources, "requests") };
  for (const [name, amount] of totals(spec, "requests")) {
    if (name === "cpu" || name === "memory") requests[name] ??= formatAmount(amount);
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (name === "cpu" || name === "memory" || name.startsWith("hugepages-")) requests[name] ??= limit;
  }
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

/** What admission adds to a new Pod: how long it may stay on a failing node, and its priority. */
export function admitPod(spec: Fields): void {
  preset(spec, "serviceAccountName", "default");
  preset(spec, "serviceAccount", spec.serviceAccountName);
  preset(spec, "priority", 0);
  preset(spec, "preemptionPolicy", "PreemptLowerPriority");
  tolerateTrouble(spec);
}

/** Every pod bears with a node in trouble for a while; who takes that away gets it again. */
export function tolerateTrouble(spec: Fields): void {
  const tolerations = listAt({ spec }, "spec", "tolerations");
  for (const key of ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]) {
    const covered = tolerations.some(
      (t) => (t.key === key || (!t.key && t.operator === "Exists")) && (!t.effect || t.effect === "NoExecute"),
    );
    if (!covered) tolerations.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  }
  spec.tolerations = tolerations;
}

function defaultContainer(container: Fields): void {
  preset(container, "resources", {});
  for (const name of ["requests", "limits"]) roundResources(objectAt(container, "resources")[name]);
  preset(container, "terminationMessagePath", "/dev/termination-log");
  preset(container, "terminationMessagePolicy", "File");
  preset(container, "imagePullPolicy", pullPolicy(String(container.image ?? "")));
  for (const port of listAt(container, "ports")) preset(port, "protocol", "TCP");
  for (const variable of listAt(container, "env")) {
    const ref = isRecord(variable.valueFrom) ? variable.valueFrom.fieldRef : undefined;
    if (isRecord(ref)) preset(ref, "apiVersion", "v1");
  }
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[name];
    if (isRecord(probe)) defaultProbe(probe);
  }
  const lifecycle = container.lifecycle;
  // The feature gate for this is off.
  if (isRecord(lifecycle) && lifecycle.stopSignal !== undefined) {
    delete lifecycle.stopSignal;
    if (Object.keys(lifecycle).length === 0) delete container.lifecycle;
  }
  for (const hook of isRecord(lifecycle) ? [lifecycle.postStart, lifecycle.preStop] : []) {
    if (isRecord(hook) && isRecord(hook.httpGet)) defaultHttpGet(hook.httpGet);
  }
}

/** An image without a tag, or with the tag `latest`, may be another one tomorrow. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf("/") + 1);
  if (name.includes("@")) return "IfNotPresent";
  const colon = name.indexOf(":");
  return colon < 0 || name.slice(colon + 1) === "latest" ? "Always" : "IfNotPresent";
}

function defaultProbe(probe: Fields): void {
  preset(probe, "timeoutSeconds", 1);
  preset(probe, "periodSeconds", 10);
  preset(probe, "successThreshold", 1);
  preset(probe, "failureThreshold", 3);
  if (isRecord(probe.httpGet)) defaultHttpGet(probe.httpGet);
  if (isRecord(probe.grpc)) preset(probe.grpc, "service", "");
}

function defaultHttpGet(get: Fields): void {
  preset(get, "path", "/");
  preset(get, "scheme", "HTTP");
}

const READABLE_BY_ALL = 0o644;

function defaultVolume(volume: Fields): void {
  // A volume without a source is an empty directory.
  if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {};
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    const value = volume[source];
    if (!isRecord(value)) continue;
    preset(value, "defaultMode", READABLE_BY_ALL);
    defaultFiles(value);
    for (const item of listAt(value, "sources")) {
      if (isRecord(item.serviceAccountToken)) preset(item.serviceAccountToken, "expirationSeconds", 3_600);
      if (isRecord(item.downwardAPI)) defaultFiles(item.downwardAPI);
      // The feature gates for these are off.
      delete item.clusterTrustBundle;
      delete item.podCertificate;
    }
  }
  if (isRecord(volume.hostPath)) preset(volume.hostPath, "type", "");
  if (isRecord(volume.image)) preset(volume.image, "pullPolicy", pullPolicy(String(volume.image.reference ?? "")));
  for (const [source, values] of STORAGE) {
    const value = volume[source];
    if (isRecord(value)) for (const [key, item] of Object.entries(values)) preset(value, key, item);
  }
  const claim = objectAt(volume, "ephemeral").volumeClaimTemplate;
  if (isRecord(claim)) preset(ensureObject(claim, "spec"), "volumeMode", "Filesystem");
}

/** Fields of the pod in its files are those of the first version. */
function defaultFiles(source: Fields): void {
  for (const item of listAt(source, "items")) if (isRecord(item.fieldRef)) preset(item.fieldRef, "apiVersion", "v1");
}

/** What volumes of storage systems are unless the pod says otherwise. */
const STORAGE: readonly (readonly [source: string, values: Fields])[] = [
  ["iscsi", { iscsiInterface: "default" }],
  ["rbd", { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" }],
  ["azureDisk", { cachingMode: "ReadWrite", kind: "Shared", fsType: "ext4", readOnly: false }],
  ["scaleIO", { storageMode: "ThinProvisioned", fsType: "xfs" }],
];
