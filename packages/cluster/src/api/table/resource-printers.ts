import { type ApiObject, isRecord, listAt, objectAt } from "../../registry/index.ts";
import { age, type Column, field, NONE, nameColumn, UNKNOWN, UNSET } from "./columns.ts";

const paramKind: Column = {
  name: "ParamKind",
  cell: (o) => {
    const kind = objectAt(o, "spec").paramKind;
    return isRecord(kind) ? `${kind.apiVersion}/${kind.kind}` : UNSET;
  },
};

const length = (name: string, ...path: string[]): Column => ({
  name,
  type: "integer",
  cell: (o) => listAt(o, ...path).length,
});

/** Whether a parameter is of the cluster or of a namespace cannot be told here, so that no namespace is any. */
function paramRef(binding: ApiObject): string {
  const { paramRef: ref } = objectAt(binding, "spec");
  if (!isRecord(ref)) return UNSET;
  if (ref.name) return `${ref.namespace || "*"}/${ref.name}`;
  return isRecord(ref.selector) ? goSelector(ref.selector) : UNSET;
}

/** A selector as Go prints its own: `&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[],}`. */
function goSelector(selector: Record<string, unknown>): string {
  const labels = Object.entries(isRecord(selector.matchLabels) ? selector.matchLabels : {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join("");
  const rules = listAt(selector, "matchExpressions")
    .map(({ key, operator, values }) => {
      const list = Array.isArray(values) ? values.join(" ") : "";
      return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${list}],},`;
    })
    .join("");
  const expressions = rules === "" ? "[]" : `[]LabelSelectorRequirement{${rules}}`;
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:${expressions},}`;
}

const bindingColumns: readonly Column[] = [
  nameColumn,
  field("PolicyName", "spec.policyName"),
  { name: "ParamRef", cell: paramRef },
  age,
];

function claimState(claim: ApiObject): string {
  const deleted = claim.metadata.deletionTimestamp !== undefined;
  const { allocation, reservedFor } = objectAt(claim, "status");
  const states = deleted ? ["deleted"] : [];
  if (!isRecord(allocation)) return deleted ? "deleted" : "pending";
  states.push("allocated");
  if (Array.isArray(reservedFor) && reservedFor.length > 0) states.push("reserved");
  return states.join(",");
}

function parentRef(address: ApiObject): string {
  const { parentRef: ref } = objectAt(address, "spec");
  if (!isRecord(ref)) return NONE;
  const resource = `${ref.resource ?? ""}${ref.group ? `.${ref.group}` : ""}`.toLowerCase();
  return [resource, ...(ref.namespace ? [ref.namespace] : []), ref.name].join("/");
}

function available(service: ApiObject): string {
  const condition = listAt(service, "status", "conditions").find(({ type }) => type === "Available");
  if (condition === undefined) return "Unknown";
  const { status, reason } = condition;
  return status !== "True" && reason ? `${status} (${reason})` : String(status);
}

function apiServiceHost(service: ApiObject): string {
  const { service: host } = objectAt(service, "spec");
  return isRecord(host) ? `${host.namespace}/${host.name}` : "Local";
}

/** Columns of kinds that clusters have, and people seldom list. */
export const resourceColumns: Readonly<Record<string, readonly Column[]>> = {
  "/componentstatuses": [nameColumn, ...["Status", "Message", "Error"].map((name) => ({ name, cell: () => UNKNOWN }))],
  "admissionregistration.k8s.io/validatingadmissionpolicies": [
    nameColumn,
    length("Validations", "spec", "validations"),
    paramKind,
    age,
  ],
  "admissionregistration.k8s.io/mutatingadmissionpolicies": [
    nameColumn,
    length("Mutations", "spec", "mutations"),
    paramKind,
    age,
  ],
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": bindingColumns,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": bindingColumns,
  "apiregistration.k8s.io/apiservices": [
    nameColumn,
    { name: "Service", cell: apiServiceHost },
    { name: "Available", cell: available },
    age,
  ],
  "networking.k8s.io/ipaddresses": [nameColumn, { name: "ParentRef", cell: parentRef }, { ...age, undeclared: true }],
  "networking.k8s.io/servicecidrs": [
    nameColumn,
    { name: "CIDRs", cell: (o) => (objectAt(o, "spec").cidrs as string[] | undefined)?.join(",") ?? "" },
    age,
  ],
  "resource.k8s.io/resourceclaims": [nameColumn, { name: "State", cell: claimState }, age],
  "resource.k8s.io/resourceslices": [
    nameColumn,
    field("Node", "spec.nodeName"),
    field("Driver", "spec.driver"),
    field("Pool", "spec.pool.name"),
    age,
  ],
  "storage.k8s.io/csinodes": [nameColumn, length("Drivers", "spec", "drivers"), age],
  "storage.k8s.io/csistoragecapacities": [
    nameColumn,
    { name: "Created At", type: "date", cell: (o) => o.metadata.creationTimestamp ?? UNKNOWN },
  ],
  "storage.k8s.io/volumeattachments": [
    nameColumn,
    field("Attacher", "spec.attacher", "", { format: "name" }),
    field("PV", "spec.source.persistentVolumeName"),
    field("Node", "spec.nodeName"),
    field("Attached", "status.attached", false, { type: "boolean" }),
    age,
  ],
  "storage.k8s.io/volumeattributesclasses": [nameColumn, field("DriverName", "driverName"), age],
};
