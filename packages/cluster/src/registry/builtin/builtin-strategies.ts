import { deepClone, deepEqual, lookup } from "@lotse/client/meta";
import { admissionKind } from "../admission-kinds/index.ts";
import type { CelSlot } from "../cel.ts";
import {
  crdHasRules,
  crdWarnings,
  markCrdDeleting,
  prepareCrd,
  prepareCrdUpdate,
  validateCrd,
  validateCrdStatus,
  validateCrdUpdate,
  validateNewCrd,
} from "../custom/crd-validation.ts";
import type { ApiObject } from "../object.ts";
import { ensureObject, isRecord, listAt, objectAt, timestamp } from "../object.ts";
import { adoptAppArmor, type KindRules, rulesOf, warningsOf } from "../rules/index.ts";
import { defaultStrategy, type Strategy, type StrategyContext } from "../strategy.ts";
import { admitPod, tolerateTrouble } from "./defaults-pod.ts";
import { qosClass } from "./pod-subresources.ts";
import { prepareService } from "./service-allocation.ts";
import { validateCoreEvent, validateNewEvent, validateNewEventUpdate } from "./validate-events.ts";
import { validateConfigMap, validateImmutableData, validateSecret, validateSecretUpdate } from "./validation.ts";

type Row = Partial<Strategy>;

const text = (...path: string[]) => {
  const last = path.pop() as string;
  return (object: ApiObject): string => {
    const value = objectAt(object, ...path)[last];
    return value === undefined || value === null ? "" : String(value);
  };
};

const labels = (...fields: string[]): Strategy["fieldLabels"] =>
  Object.fromEntries(fields.map((field) => [field, text(...field.split("."))]));

const own = (fieldLabels: Strategy["fieldLabels"]): Row => ({ fieldLabels, ownFieldLabels: true });

const GENERATION: Row = { tracksGeneration: true };
const NEEDS_VERSION: Row = { unconditionalUpdate: false };
const SHOWS_DELETED: Row = { deleteReturnsObject: true };
const RBAC: Row = { nameRule: "pathSegment", createOnUpdate: true };
const STATUS_ALONE: Row = { statusKeepsMeta: true };
const ADMISSION: Row = { ...GENERATION, ...NEEDS_VERSION, anyFinalizer: true };

function prepareNamespace(object: ApiObject): void {
  const spec = objectAt(object, "spec");
  const finalizers = Array.isArray(spec.finalizers) ? (spec.finalizers as string[]) : [];
  if (!finalizers.includes("kubernetes")) object.spec = { ...spec, finalizers: [...finalizers, "kubernetes"] };
  object.status = { phase: "Active" };
  labelNamespace(object);
}

/** Selectors find a namespace by its name through this label, so that no client can change it. */
function labelNamespace(object: ApiObject): void {
  const { name } = object.metadata;
  if (!name) return;
  object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": name };
}

/** A namespace goes when its last `spec.finalizers` entry has gone, whatever its metadata says. */
function namespaceHeldBack(object: ApiObject): boolean {
  const finalizers = objectAt(object, "spec").finalizers;
  return Array.isArray(finalizers) && finalizers.length > 0;
}

/** Pods that no kubelet looks after, and those that have finished, do not need time to stop. */
function podGracePeriod(pod: ApiObject, asked: number | undefined): number {
  const spec = objectAt(pod, "spec");
  const phase = objectAt(pod, "status").phase;
  if (!spec.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  const own = typeof spec.terminationGracePeriodSeconds === "number" ? spec.terminationGracePeriodSeconds : 30;
  return Math.max(0, asked ?? own);
}

function preparePod(object: ApiObject, { warn }: StrategyContext): void {
  const spec = ensureObject(object, "spec");
  admitPod(spec);
  adoptAppArmor(spec, object.metadata.annotations ?? {}, warn);
  object.status = { phase: "Pending", qosClass: qosClass(object) };
}

/** What a writer of a pod's status may leave out stays: its quality, and which generations were seen. */
function keepPodFacts(object: ApiObject, old: ApiObject): void {
  const status = ensureObject(object, "status");
  // What volumes that are images say of themselves is switched off.
  for (const list of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"]) {
    for (const container of listAt(status, list)) {
      for (const mount of listAt(container, "volumeMounts")) delete mount.volumeStatus;
    }
  }
  const before = objectAt(old, "status");
  if (!status.qosClass && before.qosClass !== undefined) status.qosClass = before.qosClass;
  if (!status.observedGeneration && before.observedGeneration) status.observedGeneration = before.observedGeneration;
  // There may be several conditions of one type: each takes after its own predecessor.
  const left = [...listAt(before, "conditions")];
  for (const condition of listAt(status, "conditions")) {
    const at = left.findIndex(({ type }) => type === condition.type);
    const [same] = at < 0 ? [] : left.splice(at, 1);
    if (!condition.observedGeneration && same?.observedGeneration) {
      condition.observedGeneration = same.observedGeneration;
    }
  }
}

/** Reads the job's own identity into the selector and labels by which its pods are found. */
function prepareJob(object: ApiObject): void {
  const spec = object.spec as Record<string, unknown>;
  if (spec.manualSelector === true) return;
  const meta = ensureObject(ensureObject(spec, "template"), "metadata");
  // One without a name is refused later, and not here.
  const { uid, name = "" } = object.metadata;
  const names = { "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name };
  const all = { ...names, "controller-uid": uid, "job-name": name };
  const { labels: own } = object.metadata;
  // A job without labels of its own has those of its pods, these here included.
  const shared = Object.keys(own ?? {}).length === 0 || deepEqual(own, meta.labels);
  // Labels that the client wrote are left for validation to refuse.
  meta.labels = { ...all, ...(meta.labels as object) };
  if (shared) object.metadata.labels = { ...(meta.labels as Record<string, string>) };
  const matchLabels = { "batch.kubernetes.io/controller-uid": uid, ...objectAt(spec, "selector", "matchLabels") };
  spec.selector = { ...objectAt(spec, "selector"), matchLabels };
}

/** The older and the newer way to say where a claim's data comes from say the same. */
function matchDataSources(object: ApiObject, old?: ApiObject): void {
  const spec = ensureObject(object, "spec");
  const before = objectAt(old, "spec");
  const foreign = isRecord(spec.dataSourceRef) && Boolean(spec.dataSourceRef.namespace);
  if (foreign && before.dataSourceRef === undefined) delete spec.dataSourceRef;
  if (before.dataSource === undefined && spec.dataSourceRef === undefined && isRecord(spec.dataSource)) {
    const { apiGroup, kind } = spec.dataSource;
    const claim = kind === "PersistentVolumeClaim" && !apiGroup;
    const snapshot = kind === "VolumeSnapshot" && apiGroup === "snapshot.storage.k8s.io";
    // Others were never looked at in the older field, and are not now.
    if (!claim && !snapshot) delete spec.dataSource;
  }
  if (isRecord(spec.dataSource) && spec.dataSourceRef === undefined) spec.dataSourceRef = { ...spec.dataSource };
  else if (isRecord(spec.dataSourceRef) && spec.dataSource === undefined && !spec.dataSourceRef.namespace) {
    const { namespace: _, ...source } = spec.dataSourceRef;
    spec.dataSource = source;
  }
}

/** Elections that the server itself holds are switched off, so that what is said about them is not kept. */
function dropElection(object: ApiObject, old?: ApiObject): void {
  const spec = ensureObject(object, "spec");
  for (const key of ["strategy", "preferredHolder"]) {
    if (old === undefined || objectAt(old, "spec")[key] === undefined) delete spec[key];
  }
}

/** Conditions of a request for a certificate say when they came, also where their writer does not. */
function dateConditions(object: ApiObject, old: ApiObject, now: string): void {
  const before = listAt(old, "status", "conditions");
  for (const condition of listAt(object, "status", "conditions")) {
    condition.lastUpdateTime ??= now;
    const same = before.find(({ type, status }) => type === condition.type && status === condition.status);
    condition.lastTransitionTime ??= same?.lastTransitionTime ?? now;
  }
}

/** What was decided about a request stays as it is written, however somebody else writes it. */
function keepVerdicts(object: ApiObject, old: ApiObject): void {
  const now = listAt(object, "status", "conditions");
  for (const verdict of ["Approved", "Denied"]) {
    const before = listAt(old, "status", "conditions").filter(({ type }) => type === verdict);
    const places = [...now.keys()].filter((i) => now[i]?.type === verdict);
    if (before.length !== places.length) continue;
    for (const [i, place] of places.entries()) now[place] = deepClone(before[i] as Record<string, unknown>);
  }
}

const EVENT_LABELS = labels(
  ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
    (f) => `involvedObject.${f}`,
  ),
  "reason",
  "reportingComponent",
  "type",
);

/** Events of the newer kind name who tells them in another field. */
const eventSource = (event: ApiObject): string => {
  const { component } = objectAt(event, "source");
  return String(component || event.reportingComponent || "");
};

const ROWS: Record<string, Row> = {
  "apiregistration.k8s.io/apiservices": { ...STATUS_ALONE, nameRule: "pathSegment", anyFinalizer: true },
  "/configmaps": { validate: validateConfigMap, validateUpdate: validateImmutableData },
  "/secrets": {
    ...own(labels("type")),
    validate: validateSecret,
    validateUpdate: validateSecretUpdate,
  },
  "/namespaces": {
    ...SHOWS_DELETED,
    ...own(labels("status.phase")),
    nameRule: "label",
    prepareForCreate: prepareNamespace,
    // Only the finalize subresource changes the finalizers of the spec.
    prepareForUpdate: (object, old) => {
      object.spec = { ...objectAt(object, "spec"), finalizers: objectAt(old, "spec").finalizers };
      labelNamespace(object);
    },
    marksTimeOnly: true,
    markDeleting: (object) => {
      object.status = { ...objectAt(object, "status"), phase: "Terminating" };
    },
    heldBack: namespaceHeldBack,
  },
  "/pods": {
    ...GENERATION,
    ...SHOWS_DELETED,
    ...own({
      ...labels("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
      ...labels("status.phase", "status.podIP", "status.nominatedNodeName"),
      "spec.hostNetwork": (object) => String(objectAt(object, "spec").hostNetwork === true),
      "status.podIPs": (object) =>
        listAt(object, "status", "podIPs")
          .map((ip) => String(ip.ip))
          .join(","),
    }),
    prepareForCreate: preparePod,
    prepareForUpdate: (object) => tolerateTrouble(ensureObject(object, "spec")),
    gracePeriodSeconds: podGracePeriod,
    // Older kubelets wrote owners that were wrong.
    statusKeeps: ["ownerReferences"],
    prepareStatus: keepPodFacts,
  },
  "/services": {
    ...SHOWS_DELETED,
    ...own(labels("spec.clusterIP", "spec.type")),
    nameRule: "label",
    createOnUpdate: true,
    prepareForCreate: prepareService,
    prepareForUpdate: (object, old, context) => prepareService(object, context, old),
  },
  "/serviceaccounts": SHOWS_DELETED,
  "/persistentvolumeclaims": {
    ...SHOWS_DELETED,
    prepareForCreate: (object) => {
      object.metadata.finalizers = [
        ...new Set([...(object.metadata.finalizers ?? []), "kubernetes.io/pvc-protection"]),
      ];
      object.status = { phase: "Pending" };
      matchDataSources(object);
    },
    prepareForUpdate: matchDataSources,
  },
  "/persistentvolumes": {
    ...SHOWS_DELETED,
    prepareForCreate: (object, { now }) => {
      object.metadata.finalizers = [...new Set([...(object.metadata.finalizers ?? []), "kubernetes.io/pv-protection"])];
      object.status = { phase: "Pending", lastPhaseTransitionTime: timestamp(now) };
    },
  },
  "/podtemplates": { ...GENERATION, ...SHOWS_DELETED },
  "/resourcequotas": SHOWS_DELETED,
  "/limitranges": { createOnUpdate: true },
  "/endpoints": { createOnUpdate: true },
  "/events": {
    ...own({ ...EVENT_LABELS, source: eventSource }),
    createOnUpdate: true,
    uncached: true,
    validate: validateCoreEvent,
  },
  "/nodes": {
    ...own({ "spec.unschedulable": (object) => String(objectAt(object, "spec").unschedulable === true) }),
    // A kubelet tells what its node is when it joins.
    createsWithStatus: true,
    // What configured kubelets once is not kept.
    prepareForCreate: (object) => {
      delete ensureObject(object, "spec").configSource;
      delete ensureObject(object, "status").config;
    },
    prepareStatus: (object, old) => {
      if (objectAt(old, "status").config === undefined) delete ensureObject(object, "status").config;
    },
    prepareForUpdate: (object, old) => {
      if (objectAt(old, "spec").configSource === undefined) delete ensureObject(object, "spec").configSource;
    },
  },
  "/replicationcontrollers": {
    ...GENERATION,
    ...own(labels("status.replicas")),
    orphansByDefault: true,
  },
  "events.k8s.io/events": {
    ...own({
      ...labels(...["kind", "namespace", "name", "uid", "apiVersion"].map((f) => `regarding.${f}`)),
      ...labels("reason", "reportingController", "type"),
    }),
    createOnUpdate: true,
    errorGroup: "",
    uncached: true,
    validateCreate: validateNewEvent,
    validateUpdate: validateNewEventUpdate,
  },
  "apps/deployments": {
    ...GENERATION,
    statusKeeps: ["labels"],
  },
  "apps/replicasets": GENERATION,
  "apps/daemonsets": GENERATION,
  "apps/statefulsets": { ...GENERATION, nameRule: "label" },
  "batch/jobs": {
    ...GENERATION,
    ...own({ "status.successful": (object) => String(objectAt(object, "status").succeeded ?? 0) }),
    orphansByDefault: true,
    defaultPropagationWarning:
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
    prepareForCreate: prepareJob,
  },
  "batch/cronjobs": GENERATION,
  "policy/poddisruptionbudgets": { ...GENERATION, ...NEEDS_VERSION, nameRule: "pathSegment" },
  "networking.k8s.io/ipaddresses": { nameRule: "pathSegment" },
  "networking.k8s.io/servicecidrs": STATUS_ALONE,
  "networking.k8s.io/ingresses": GENERATION,
  "networking.k8s.io/ingressclasses": GENERATION,
  "networking.k8s.io/networkpolicies": GENERATION,
  "discovery.k8s.io/endpointslices": {
    ...GENERATION,
    // Labels say which service a slice belongs to, and so they are part of what it is.
    prepareForUpdate: (object, old) => {
      if (!deepEqual(object.metadata.labels, old.metadata.labels)) {
        object.metadata.generation = (old.metadata.generation ?? 0) + 1;
      }
    },
  },
  "scheduling.k8s.io/priorityclasses": GENERATION,
  "flowcontrol.apiserver.k8s.io/flowschemas": { ...GENERATION, ...STATUS_ALONE },
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": { ...GENERATION, ...STATUS_ALONE },
  "resource.k8s.io/resourceslices": { ...GENERATION, ...SHOWS_DELETED },
  "resource.k8s.io/deviceclasses": { ...GENERATION, ...SHOWS_DELETED },
  "resource.k8s.io/resourceclaims": SHOWS_DELETED,
  "resource.k8s.io/resourceclaimtemplates": SHOWS_DELETED,
  "coordination.k8s.io/leases": {
    ...NEEDS_VERSION,
    anyFinalizer: true,
    createOnUpdate: true,
    prepareForCreate: (object) => dropElection(object),
    prepareForUpdate: dropElection,
  },
  "node.k8s.io/runtimeclasses": { ...NEEDS_VERSION, createOnUpdate: true },
  "storage.k8s.io/storageclasses": SHOWS_DELETED,
  "storage.k8s.io/volumeattributesclasses": SHOWS_DELETED,
  "storage.k8s.io/volumeattachments": { ...NEEDS_VERSION, ...SHOWS_DELETED, ...STATUS_ALONE },
  "storage.k8s.io/csidrivers": { ...NEEDS_VERSION, ...SHOWS_DELETED },
  "storage.k8s.io/csinodes": { ...NEEDS_VERSION, ...SHOWS_DELETED },
  "storage.k8s.io/csistoragecapacities": NEEDS_VERSION,
  "certificates.k8s.io/certificatesigningrequests": {
    ...own(labels("spec.signerName")),
    fixedFields: ["spec"],
    prepareForCreate: (object, { user }) => {
      const { username, uid, groups, extra } = user;
      const asker = { username, uid, groups: [...groups], extra };
      object.spec = { ...objectAt(object, "spec"), ...JSON.parse(JSON.stringify(asker)) };
    },
    prepareForUpdate: (object, old, { now }) => {
      object.spec = old.spec;
      dateConditions(object, old, timestamp(now));
    },
    prepareStatus: keepVerdicts,
    prepareApproval: (object, old) => {
      const { conditions } = objectAt(object, "status");
      object.status = { ...objectAt(old, "status"), conditions };
    },
  },
  "rbac.authorization.k8s.io/roles": RBAC,
  "rbac.authorization.k8s.io/clusterroles": RBAC,
  "rbac.authorization.k8s.io/rolebindings": RBAC,
  "rbac.authorization.k8s.io/clusterrolebindings": RBAC,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": ADMISSION,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": ADMISSION,
  "admissionregistration.k8s.io/validatingadmissionpolicies": { ...ADMISSION, ...STATUS_ALONE },
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": ADMISSION,
  "admissionregistration.k8s.io/mutatingadmissionpolicies": ADMISSION,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": ADMISSION,
};

/** Definitions may carry rules, whose engine is loaded before the first of them is checked. */
const definitions = (cel: CelSlot): Row => ({
  ...GENERATION,
  ...NEEDS_VERSION,
  anyFinalizer: true,
  prepareForCreate: prepareCrd,
  prepareForUpdate: prepareCrdUpdate,
  marksTimeOnly: true,
  markDeleting: markCrdDeleting,
  // The first DELETE only announces what will happen to the objects.
  heldBack: (object) => object.metadata.deletionTimestamp === undefined,
  prepareValidation: async (object) => {
    if (crdHasRules(object)) await cel.load();
  },
  validate: (object, subresource) =>
    subresource === "status" ? validateCrdStatus(object) : validateCrd(object, cel.engine),
  validateCreate: validateNewCrd,
  validateUpdate: validateCrdUpdate,
  warnings: crdWarnings,
});

/** The behaviour of a built-in kind: what its row says, and the defaults for the rest. */
export function builtinStrategy(group: string, plural: string, hasStatus: boolean, cel: CelSlot): Strategy {
  const key = `${group}/${plural}`;
  const row = key === "apiextensions.k8s.io/customresourcedefinitions" ? definitions(cel) : lookup(ROWS, key);
  const warnings = warningsOf(group, plural);
  const strategy = {
    ...defaultStrategy,
    hasStatus,
    ...(warnings && { warnings }),
    ...row,
    ...admissionKind(group, plural, cel),
  };
  return withRules(strategy, rulesOf(group, plural));
}

/** A strategy that also checks what the table of rules says about its kind. */
function withRules(strategy: Strategy, { validate, validateCreate, validateUpdate }: KindRules): Strategy {
  const { validate: check, validateUpdate: checkUpdate } = strategy;
  return {
    ...strategy,
    ...(validate && {
      validate: (object, sub) => [...(check?.(object, sub) ?? []), ...validate(object, sub)],
    }),
    ...(validateCreate && { validateCreate }),
    ...(validateUpdate && {
      validateUpdate: (object, old, sub) => [
        ...(checkUpdate?.(object, old, sub) ?? []),
        ...validateUpdate(object, old, sub),
      ],
    }),
  };
}
