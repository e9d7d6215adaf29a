import { lookup } from "@lotse/client/meta";
import { type ApiObject, type Endpoint, isRecord, listAt, objectAt } from "../../registry/index.ts";
import { humanDuration } from "./age.ts";
import {
  age,
  type Column,
  field,
  NONE,
  nameColumn,
  number,
  selector,
  selectorText,
  UNKNOWN,
  UNSET,
  wide,
} from "./columns.ts";
import {
  endpointsCell,
  externalIps,
  ingressAddress,
  ingressHosts,
  ingressPorts,
  servicePorts,
  slicePorts,
} from "./network-cells.ts";
import {
  accessModes,
  address,
  bindingColumns,
  CREATED,
  count,
  eventSource,
  eventTime,
  hpaTargets,
  isBound,
  joined,
  listLength,
  nodeRoles,
  nodeStatus,
  queuing,
  quotaCell,
} from "./printer-cells.ts";
import { resourceColumns } from "./resource-printers.ts";
import { workloadColumns } from "./workload-printers.ts";

const COLUMNS: Record<string, readonly Column[]> = {
  ...workloadColumns,
  ...resourceColumns,
  "/services": [
    nameColumn,
    field("Type", "spec.type"),
    field("Cluster-IP", "spec.clusterIP", NONE),
    { name: "External-IP", cell: externalIps },
    { name: "Port(s)", cell: servicePorts },
    age,
    selector,
  ],
  "/endpoints": [nameColumn, { name: "Endpoints", cell: endpointsCell }, age],
  "discovery.k8s.io/endpointslices": [
    nameColumn,
    field("AddressType", "addressType"),
    { name: "Ports", cell: slicePorts },
    {
      name: "Endpoints",
      cell: (o) => {
        const all = listAt(o, "endpoints").flatMap((e) => (Array.isArray(e.addresses) ? e.addresses : []));
        if (all.length === 0) return UNSET;
        return all.length > 3 ? `${all.slice(0, 3).join(",")} + ${all.length - 3} more...` : all.join(",");
      },
    },
    age,
  ],
  "networking.k8s.io/ingresses": [
    nameColumn,
    field("Class", "spec.ingressClassName", NONE),
    { name: "Hosts", cell: ingressHosts },
    { name: "Address", cell: ingressAddress },
    { name: "Ports", cell: ingressPorts },
    age,
  ],
  "networking.k8s.io/ingressclasses": [
    nameColumn,
    field("Controller", "spec.controller"),
    {
      name: "Parameters",
      cell: (o) => {
        const p = objectAt(o, "spec").parameters;
        return isRecord(p) ? `${p.kind}${p.apiGroup ? `.${p.apiGroup}` : ""}/${p.name}` : NONE;
      },
    },
    age,
  ],
  "networking.k8s.io/networkpolicies": [
    nameColumn,
    { name: "Pod-Selector", cell: (o) => selectorText(objectAt(o, "spec").podSelector) },
    age,
  ],
  "/nodes": [
    nameColumn,
    { name: "Status", cell: nodeStatus },
    { name: "Roles", cell: nodeRoles },
    age,
    field("Version", "status.nodeInfo.kubeletVersion"),
    wide({ name: "Internal-IP", cell: address("InternalIP") }),
    wide({ name: "External-IP", cell: address("ExternalIP") }),
    wide({ name: "OS-Image", cell: (o) => objectAt(o, "status", "nodeInfo").osImage || UNKNOWN }),
    wide({ name: "Kernel-Version", cell: (o) => objectAt(o, "status", "nodeInfo").kernelVersion || UNKNOWN }),
    wide({
      name: "Container-Runtime",
      cell: (o) => objectAt(o, "status", "nodeInfo").containerRuntimeVersion || UNKNOWN,
    }),
  ],
  "/namespaces": [nameColumn, field("Status", "status.phase"), age],
  "/serviceaccounts": [nameColumn, age],
  "/configmaps": [
    nameColumn,
    { name: "Data", cell: (o) => Number(count("data")(o)) + Number(count("binaryData")(o)) },
    age,
  ],
  "/secrets": [nameColumn, field("Type", "type"), { name: "Data", cell: count("data") }, age],
  "/events": [
    { name: "Last Seen", cell: (o, now) => eventTime(o, false, now) },
    field("Type", "type"),
    field("Reason", "reason"),
    {
      name: "Object",
      cell: (o) => {
        const about = objectAt(o, "involvedObject");
        return about.name
          ? `${String(about.kind ?? "").toLowerCase()}/${about.name}`
          : String(about.kind ?? "").toLowerCase();
      },
    },
    wide(field("Subobject", "involvedObject.fieldPath")),
    wide({ name: "Source", cell: eventSource }),
    { name: "Message", cell: (o) => String(o.message ?? "").trim() },
    wide({ name: "First Seen", cell: (o, now) => eventTime(o, true, now) }),
    wide({ name: "Count", cell: (o) => objectAt(o, "series").count ?? o.count ?? 1 }),
    wide({ ...nameColumn }),
  ],
  "/persistentvolumeclaims": [
    nameColumn,
    {
      name: "Status",
      cell: (o) => (o.metadata.deletionTimestamp ? "Terminating" : (objectAt(o, "status").phase ?? "")),
    },
    field("Volume", "spec.volumeName"),
    // What a claim got is only known when it is bound.
    { name: "Capacity", cell: (o) => (isBound(o) ? (objectAt(o, "status", "capacity").storage ?? "") : "") },
    { ...accessModes, cell: (o, now) => (isBound(o) ? accessModes.cell(o, now) : "") },
    field("StorageClass", "spec.storageClassName"),
    field("VolumeAttributesClass", "status.currentVolumeAttributesClassName", UNSET),
    age,
    wide(field("VolumeMode", "spec.volumeMode", UNSET)),
  ],
  "/persistentvolumes": [
    nameColumn,
    field("Capacity", "spec.capacity.storage"),
    accessModes,
    field("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
    {
      name: "Status",
      cell: (o) => (o.metadata.deletionTimestamp ? "Terminating" : (objectAt(o, "status").phase ?? "")),
    },
    {
      name: "Claim",
      cell: (o) => {
        const claim = objectAt(o, "spec").claimRef;
        return isRecord(claim) ? `${claim.namespace}/${claim.name}` : "";
      },
    },
    field("StorageClass", "spec.storageClassName"),
    field("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
    field("Reason", "status.reason"),
    age,
    wide(field("VolumeMode", "spec.volumeMode", UNSET)),
  ],
  "storage.k8s.io/storageclasses": [
    {
      ...nameColumn,
      cell: (o) =>
        o.metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true"
          ? `${o.metadata.name} (default)`
          : o.metadata.name,
    },
    field("Provisioner", "provisioner"),
    field("ReclaimPolicy", "reclaimPolicy", "Delete"),
    field("VolumeBindingMode", "volumeBindingMode", UNSET),
    field("AllowVolumeExpansion", "allowVolumeExpansion", false),
    age,
  ],
  "rbac.authorization.k8s.io/roles": CREATED,
  "rbac.authorization.k8s.io/clusterroles": CREATED,
  "rbac.authorization.k8s.io/rolebindings": bindingColumns,
  "rbac.authorization.k8s.io/clusterrolebindings": bindingColumns,
  "autoscaling/horizontalpodautoscalers": [
    nameColumn,
    {
      name: "Reference",
      cell: (o) => `${objectAt(o, "spec", "scaleTargetRef").kind}/${objectAt(o, "spec", "scaleTargetRef").name}`,
    },
    { name: "Targets", cell: hpaTargets },
    { name: "MinPods", cell: (o) => String(objectAt(o, "spec").minReplicas ?? UNSET) },
    field("MaxPods", "spec.maxReplicas"),
    field("Replicas", "status.currentReplicas", 0),
    age,
  ],
  "policy/poddisruptionbudgets": [
    nameColumn,
    { name: "Min Available", cell: (o) => String(objectAt(o, "spec").minAvailable ?? "N/A") },
    { name: "Max Unavailable", cell: (o) => String(objectAt(o, "spec").maxUnavailable ?? "N/A") },
    number("Allowed Disruptions", "status.disruptionsAllowed"),
    age,
  ],
  "coordination.k8s.io/leases": [nameColumn, field("Holder", "spec.holderIdentity"), age],
  "apiextensions.k8s.io/customresourcedefinitions": CREATED,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": [
    nameColumn,
    { name: "Webhooks", type: "integer", cell: listLength("webhooks") },
    age,
  ],
  "admissionregistration.k8s.io/validatingwebhookconfigurations": [
    nameColumn,
    { name: "Webhooks", type: "integer", cell: listLength("webhooks") },
    age,
  ],
  "/resourcequotas": [
    nameColumn,
    { name: "Request", cell: quotaCell("request") },
    { name: "Limit", cell: quotaCell("limit") },
    age,
  ],
  "/limitranges": CREATED,
  "scheduling.k8s.io/priorityclasses": [
    nameColumn,
    field("Value", "value", 0, { type: "integer" }),
    field("Global-Default", "globalDefault", false, { type: "boolean" }),
    age,
    field("PreemptionPolicy", "preemptionPolicy"),
  ],
  "flowcontrol.apiserver.k8s.io/flowschemas": [
    nameColumn,
    field("PriorityLevel", "spec.priorityLevelConfiguration.name"),
    field("MatchingPrecedence", "spec.matchingPrecedence", 0),
    field("DistinguisherMethod", "spec.distinguisherMethod.type", NONE),
    age,
    {
      name: "MissingPL",
      cell: (o) => listAt(o, "status", "conditions").find(({ type }) => type === "Dangling")?.status ?? "?",
    },
  ],
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": [
    nameColumn,
    field("Type", "spec.type"),
    field("NominalConcurrencyShares", "spec.limited.nominalConcurrencyShares", NONE),
    { name: "Queues", cell: queuing("queues") },
    { name: "HandSize", cell: queuing("handSize") },
    { name: "QueueLengthLimit", cell: queuing("queueLengthLimit") },
    age,
  ],
  "storage.k8s.io/csidrivers": [
    nameColumn,
    field("AttachRequired", "spec.attachRequired", true, { type: "boolean" }),
    field("PodInfoOnMount", "spec.podInfoOnMount", false, { type: "boolean" }),
    field("StorageCapacity", "spec.storageCapacity", false, { type: "boolean" }),
    {
      name: "TokenRequests",
      cell: (o) =>
        listAt(o, "spec", "tokenRequests")
          .map(({ audience }) => audience)
          .join(",") || UNSET,
    },
    field("RequiresRepublish", "spec.requiresRepublish", false, { type: "boolean" }),
    { name: "Modes", cell: (o) => joined(objectAt(o, "spec").volumeLifecycleModes) || NONE },
    age,
  ],
  "node.k8s.io/runtimeclasses": [nameColumn, field("Handler", "handler"), age],
  "certificates.k8s.io/certificatesigningrequests": [
    nameColumn,
    age,
    field("SignerName", "spec.signerName"),
    field("Requestor", "spec.username"),
    {
      name: "RequestedDuration",
      cell: (o) => {
        const seconds = objectAt(o, "spec").expirationSeconds;
        return typeof seconds === "number" ? humanDuration(seconds * 1_000) : NONE;
      },
    },
    {
      name: "Condition",
      cell: (o) => {
        const types = listAt(o, "status", "conditions").map((condition) => condition.type);
        const words: unknown[] = [types.find((t) => t === "Approved" || t === "Denied") ?? "Pending"];
        if (types.includes("Failed")) words.push("Failed");
        if (objectAt(o, "status").certificate) words.push("Issued");
        return words.join(",");
      },
    },
  ],
};

const PLAIN: readonly Column[] = [nameColumn, age];

/** Kinds whose rows a table shows in another order than that of their names. */
const ORDERS: Readonly<Record<string, (a: ApiObject, b: ApiObject) => number>> = {
  "flowcontrol.apiserver.k8s.io/flowschemas": (a, b) =>
    Number(objectAt(a, "spec").matchingPrecedence) - Number(objectAt(b, "spec").matchingPrecedence),
};

/** The order in which a kind's rows are shown; undefined for the order of names. */
export function orderOf({ resource }: Endpoint): ((a: ApiObject, b: ApiObject) => number) | undefined {
  return lookup(ORDERS, `${resource.group}/${resource.plural}`);
}

/** The columns of a built-in kind; those without a row of their own show name and age. */
export function printerOf(endpoint: Endpoint): readonly Column[] {
  const { group, plural } = endpoint.resource;
  const events = group === "events.k8s.io" && plural === "events";
  return lookup(COLUMNS, events ? "/events" : `${group}/${plural}`) ?? PLAIN;
}
