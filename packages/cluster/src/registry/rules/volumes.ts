import { deepEqual } from "@lotse/client/meta";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { recordOf, textOf, textsOf, unchanged } from "./common.ts";
import { nodeSelectorErrors } from "./node-selector.ts";
import { basicAmount, nanosOf, notNegativeAmount, positiveAmount } from "./resources.ts";
import { complain, given, labelErrors, oneOf, qualifiedErrors, selectorErrors, subdomainErrors } from "./values.ts";
import { SOURCE_KEYS, sourceErrors } from "./volume-sources.ts";

type Fields = Record<string, unknown>;

const MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];

function accessModeErrors(spec: Fields, path: string): FieldError[] {
  const modes = textsOf(spec.accessModes);
  const field = `${path}.accessModes`;
  const errors = modes.flatMap((mode) => (MODES.includes(mode) ? [] : [notSupported(field, mode, MODES)]));
  const others = modes.some((mode) => mode !== "ReadWriteOncePod" && MODES.includes(mode));
  if (modes.includes("ReadWriteOncePod") && others) {
    errors.push(forbiddenField(field, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

const RECLAIM_POLICIES = ["Delete", "Recycle", "Retain"];

/** What is wrong with a new PersistentVolume. */
export const volumeCreate = (object: ApiObject): FieldError[] => [
  ...volumeSpecErrors(objectAt(object, "spec"), "spec", object.metadata.name ?? "", false),
  ...mountOptionErrors(object),
];

const MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options";
const MOUNTED = [
  ...["gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs"],
  ...["azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"],
];

/** The older way to say how to mount is for the older kinds of volumes. */
function mountOptionErrors({ metadata, spec }: ApiObject): FieldError[] {
  const source = recordOf(spec);
  if (!Object.hasOwn(metadata.annotations ?? {}, MOUNT_OPTIONS) || MOUNTED.some((key) => given(source[key]))) return [];
  return [
    forbiddenField(`metadata.annotations.${MOUNT_OPTIONS}`, "may not specify mount options for this volume type"),
  ];
}

/** The spec of a volume, which is checked alike wherever it stands. */
function volumeSpecErrors(spec: Fields, path: string, name: string, lenient: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (textsOf(spec.accessModes).length === 0) errors.push(required(`${path}.accessModes`));
  errors.push(...accessModeErrors(spec, path));
  const capacity = recordOf(spec.capacity);
  const amounts = Object.entries(capacity);
  if (amounts.length === 0) errors.push(required(`${path}.capacity`));
  if (capacity.storage === undefined || amounts.length > 1) {
    errors.push(notSupported(`${path}.capacity`, spec.capacity ?? null, ["storage"]));
  }
  for (const [key, value] of amounts) {
    const field = `${path}.capacity[${key}]`;
    errors.push(...basicAmount(value, field), ...positiveAmount(value, field));
  }
  const policy = textOf(spec.persistentVolumeReclaimPolicy);
  const reclaim = `${path}.persistentVolumeReclaimPolicy`;
  if (policy !== "") errors.push(...oneOf(policy, reclaim, RECLAIM_POLICIES));
  if (given(spec.nodeAffinity)) errors.push(...affinityErrors(spec, `${path}.nodeAffinity`, lenient));
  errors.push(...sourceErrors(spec, path, name));
  if (policy === "Recycle" && isRoot(textOf(recordOf(spec.hostPath).path))) {
    errors.push(forbiddenField(reclaim, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  errors.push(...classNameErrors(spec.storageClassName, `${path}.storageClassName`));
  if (given(spec.volumeMode)) errors.push(...oneOf(spec.volumeMode, `${path}.volumeMode`, VOLUME_MODES));
  if (given(spec.volumeAttributesClassName)) {
    const field = `${path}.volumeAttributesClassName`;
    if (spec.volumeAttributesClassName === "") errors.push(required(field, "an empty string is disallowed"));
    errors.push(...classNameErrors(spec.volumeAttributesClassName, field));
    if (!given(spec.csi)) {
      errors.push(required(`${path}.csi`, "has to be specified when using volumeAttributesClassName"));
    }
  }
  return errors;
}

/** The spec of a volume that an attachment carries itself. */
export function inlineVolumeErrors(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const context = "may not be specified in the context of inline volumes";
  if (given(spec.claimRef)) errors.push(forbiddenField(`${path}.claimRef`, context));
  if (Object.keys(recordOf(spec.capacity)).length > 0) errors.push(forbiddenField(`${path}.capacity`, context));
  if (!given(spec.csi)) errors.push(required(`${path}.csi`, "has to be specified in the context of inline volumes"));
  if (textsOf(spec.accessModes).length === 0) errors.push(required(`${path}.accessModes`));
  errors.push(...accessModeErrors(spec, path));
  const policy = textOf(spec.persistentVolumeReclaimPolicy);
  if (policy !== "" && policy !== "Retain") {
    const text = "may only be Retain in the context of inline volumes";
    errors.push(forbiddenField(`${path}.persistentVolumeReclaimPolicy`, text));
  }
  if (given(spec.nodeAffinity)) errors.push(forbiddenField(`${path}.nodeAffinity`, context));
  errors.push(...sourceErrors({ ...spec, nodeAffinity: undefined }, path, ""));
  if (textOf(spec.storageClassName) !== "") errors.push(forbiddenField(`${path}.storageClassName`, context));
  if (given(spec.volumeMode) && spec.volumeMode !== "Filesystem") {
    const text = "may not specify volumeMode other than Filesystem in the context of inline volumes";
    errors.push(forbiddenField(`${path}.volumeMode`, text));
  }
  return errors;
}

const isRoot = (path: string): boolean => path !== "" && path.split("/").every((part) => part === "" || part === ".");

function classNameErrors(name: unknown, field: string): FieldError[] {
  return textOf(name) === "" ? [] : subdomainErrors(textOf(name), field);
}

function affinityErrors(spec: Fields, path: string, lenient: boolean): FieldError[] {
  const selector = recordOf(spec.nodeAffinity).required;
  if (!given(selector)) return [required(`${path}.required`, "must specify required node constraints")];
  return nodeSelectorErrors(selector, `${path}.required`, lenient);
}

/** What a volume is made of stays; secrets to expand it may be added. */
export function volumeUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") return [];
  const [now, before] = [objectAt(object, "spec"), objectAt(old, "spec")];
  const wrongBefore = nodeSelectorErrors(recordOf(before.nodeAffinity).required, "", false).length > 0;
  const errors = volumeSpecErrors(now, "spec", object.metadata.name ?? "", wrongBefore);
  if (!deepEqual(sourceOf(now, before), sourceOf(before, before))) {
    const text = "spec.persistentvolumesource is immutable after creation";
    errors.push(forbiddenField("spec.persistentvolumesource", text));
  }
  errors.push(...unchanged(now.volumeMode, before.volumeMode, "volumeMode"));
  if (given(before.nodeAffinity) && !sameAffinity(now.nodeAffinity, before.nodeAffinity)) {
    const text = "field is immutable, except for updating from beta label to GA";
    errors.push(invalidValue("nodeAffinity", shownAffinity(now.nodeAffinity), text));
  }
  if (given(before.volumeAttributesClassName) && !given(now.volumeAttributesClassName)) {
    const text = "update from non-nil value to nil is forbidden";
    errors.push(forbiddenField("spec.volumeAttributesClassName", text));
  }
  errors.push(...mountOptionErrors(object));
  return errors;
}

/** Labels that got a new name; who writes it instead of the old one changes nothing. */
const RENAMED: ReadonlyMap<unknown, string> = new Map([
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["beta.kubernetes.io/os", "kubernetes.io/os"],
  ["beta.kubernetes.io/arch", "kubernetes.io/arch"],
  ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
]);

function sameAffinity(now: unknown, before: unknown): boolean {
  if (Array.isArray(now) && Array.isArray(before)) {
    return now.length === before.length && now.every((item, i) => sameAffinity(item, before[i]));
  }
  if (typeof now !== "object" || typeof before !== "object" || now === null || before === null) {
    return deepEqual(now, before);
  }
  const [fresh, old] = [recordOf(now), recordOf(before)];
  const keys = new Set([...Object.keys(fresh), ...Object.keys(old)]);
  // A key that is gone is, to the server, the new name of every key that has none.
  const renamed = old.operator !== undefined && textOf(fresh.key) === (RENAMED.get(old.key) ?? "");
  return [...keys].every((key) => (key === "key" && renamed) || sameAffinity(fresh[key], old[key]));
}

/** Errors print it with the names of the server's own fields. */
function shownAffinity(affinity: unknown): Verbatim | null {
  if (!given(affinity)) return null;
  const items = (list: unknown) =>
    Array.isArray(list)
      ? list.map((item) => {
          const { key = "", operator = "", values = null } = recordOf(item);
          return { Key: key, Operator: operator, Values: values };
        })
      : null;
  const selector = recordOf(affinity).required;
  const terms = recordOf(selector).nodeSelectorTerms;
  const shown = Array.isArray(terms)
    ? terms.map((term) => ({
        MatchExpressions: items(recordOf(term).matchExpressions),
        MatchFields: items(recordOf(term).matchFields),
      }))
    : null;
  return new Verbatim(JSON.stringify({ Required: given(selector) ? { NodeSelectorTerms: shown } : null }));
}

function sourceOf(spec: Fields, before: Fields): Fields {
  const source: Fields = {};
  for (const key of SOURCE_KEYS) if (given(spec[key])) source[key] = spec[key];
  const [csi, was] = [recordOf(spec.csi), recordOf(before.csi)];
  if (given(spec.csi) && given(before.csi) && !given(was.controllerExpandSecretRef)) {
    source.csi = { ...csi, controllerExpandSecretRef: undefined };
  }
  return source;
}

/** What is wrong with a new PersistentVolumeClaim. */
export const claimCreate = (object: ApiObject): FieldError[] => claimSpecErrors(objectAt(object, "spec"), "spec");

/** What a claim asks of a volume; `old` is what was tolerated before. */
export function claimSpecErrors(spec: Fields, path: string, old?: Fields): FieldError[] {
  const errors: FieldError[] = [];
  if (textsOf(spec.accessModes).length === 0) {
    errors.push(required(`${path}.accessModes`, "at least 1 access mode is required"));
  }
  const lenient = old !== undefined && selectorErrors(old.selector, "").length > 0;
  errors.push(...selectorErrors(spec.selector, `${path}.selector`, lenient), ...accessModeErrors(spec, path));
  const field = `${path}.resources[storage]`;
  const size = objectAt(spec, "resources", "requests").storage;
  if (size === undefined) errors.push(required(field));
  else errors.push(...positiveAmount(size, field));
  errors.push(...classNameErrors(spec.storageClassName, `${path}.storageClassName`));
  if (given(spec.volumeMode)) errors.push(...oneOf(spec.volumeMode, `${path}.volumeMode`, VOLUME_MODES));
  const anyGroup = [old?.dataSource, old?.dataSourceRef].some((source) => given(recordOf(source).apiGroup));
  for (const key of ["dataSource", "dataSourceRef"]) {
    if (given(spec[key])) errors.push(...dataSourceErrors(recordOf(spec[key]), `${path}.${key}`, anyGroup));
  }
  errors.push(...sameSourceErrors(spec, path));
  errors.push(...classNameErrors(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`));
  return errors;
}

function dataSourceErrors({ name, kind, apiGroup, namespace }: Fields, path: string, anyGroup: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (textOf(name) === "") errors.push(required(`${path}.name`));
  if (textOf(kind) === "") errors.push(required(`${path}.kind`));
  const group = textOf(apiGroup);
  if (group === "" && kind !== "PersistentVolumeClaim") {
    const text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(invalidValue(path, textOf(kind), text));
  }
  if (group !== "" && !anyGroup) errors.push(...subdomainErrors(group, `${path}.apiGroup`));
  if (textOf(namespace) !== "") errors.push(...labelErrors(textOf(namespace), `${path}.namespace`));
  return errors;
}

function sameSourceErrors(spec: Fields, path: string): FieldError[] {
  if (!given(spec.dataSource) || !given(spec.dataSourceRef)) return [];
  const [source, ref] = [recordOf(spec.dataSource), recordOf(spec.dataSourceRef)];
  const fails = (text: string) => complain([text], path, {});
  if (textOf(ref.namespace) !== "") return fails("may not be specified when dataSourceRef.namespace is specified");
  const same = ["apiGroup", "kind", "name"].every((key) => (source[key] ?? null) === (ref[key] ?? null));
  return same ? [] : fails("must match dataSourceRef");
}

const BETA_CLASS = "volume.beta.kubernetes.io/storage-class";

/** A claim may only grow once it is bound; which volume it gets, and of which class, is written once. */
export function claimUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") return claimStatusErrors(object);
  const [now, before] = [objectAt(object, "spec"), objectAt(old, "spec")];
  const errors = claimSpecErrors(now, "spec", before);
  const bound = objectAt(object, "status").phase === "Bound";
  const [oldNote, newNote] = [old.metadata.annotations?.[BETA_CLASS], object.metadata.annotations?.[BETA_CLASS]];
  const moved =
    oldNote !== undefined &&
    !given(before.storageClassName) &&
    now.storageClassName === oldNote &&
    (newNote === undefined || newNote === oldNote);
  if (!moved && (newNote ?? "") !== (oldNote ?? "")) {
    errors.push(...unchanged(newNote ?? "", oldNote ?? "", `metadata.annotations.${BETA_CLASS}`));
  }
  const named = !given(before.storageClassName) && (oldNote === undefined || now.storageClassName === oldNote);
  const kept = (spec: Fields) => {
    const { volumeName, storageClassName, volumeAttributesClassName, resources, ...rest } = spec;
    const { requests, limits } = recordOf(resources);
    const { storage, ...others } = recordOf(requests);
    return [
      rest,
      limits ?? {},
      others,
      bound ? undefined : storage,
      bound ? undefined : volumeAttributesClassName,
      before.volumeName ? volumeName : undefined,
      named && given(now.storageClassName) ? undefined : storageClassName,
    ];
  };
  if (!deepEqual(kept(now), kept(before))) {
    const text =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    errors.push(forbiddenField("spec", text));
  }
  return [...errors, ...shrinkErrors(now, before, old), ...unchanged(now.volumeMode, before.volumeMode, "volumeMode")];
}

function shrinkErrors(now: Fields, before: Fields, old: ApiObject): FieldError[] {
  const amount = (value: unknown) => (given(value) ? nanosOf(value) : 0n);
  const storageOf = (spec: Fields) => amount(objectAt(spec, "resources", "requests").storage);
  const status = objectAt(old, "status");
  const errors: FieldError[] = [];
  if (storageOf(now) < storageOf(before) && storageOf(now) <= amount(recordOf(status.capacity).storage)) {
    const text = "field can not be less than status.capacity";
    errors.push(forbiddenField("spec.resources.requests.storage", text));
  }
  const [name, was] = [now.volumeAttributesClassName, before.volumeAttributesClassName];
  if ((name ?? null) === (was ?? null) || !given(status.currentVolumeAttributesClassName)) return errors;
  const field = "spec.volumeAttributesClassName";
  const when = "is forbidden when status.currentVolumeAttributesClassName is not nil";
  if (!given(name)) errors.push(forbiddenField(field, `update to nil ${when}`));
  else if (name === "") errors.push(forbiddenField(field, `update to empty string ${when}`));
  return errors;
}

const RESIZE_STATUSES = [
  ...["ControllerResizeInProgress", "ControllerResizeInfeasible"],
  ...["NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"],
];

/** Of the resources without a domain of their own a claim has storage alone. */
function claimResourceErrors(name: string, field: string): FieldError[] {
  const errors = qualifiedErrors(name, field);
  if (errors.length > 0) return errors;
  const native = !name.includes("/") || name.includes("kubernetes.io/");
  return native && name !== "storage" ? [notSupported(field, name, ["storage"])] : [];
}

function claimStatusErrors(object: ApiObject): FieldError[] {
  const { capacity, allocatedResources, allocatedResourceStatuses } = objectAt(object, "status");
  return [
    ...Object.entries(recordOf(capacity)).flatMap(([name, value]) => basicAmount(value, `status.capacity[${name}]`)),
    ...Object.entries(recordOf(allocatedResourceStatuses)).flatMap(([name, value]) => {
      const field = "status.allocatedResourceStatuses";
      const known = RESIZE_STATUSES.includes(textOf(value));
      return [...claimResourceErrors(name, field), ...(known ? [] : [notSupported(field, name, RESIZE_STATUSES)])];
    }),
    ...Object.entries(recordOf(allocatedResources)).flatMap(([name, value]) => {
      const unknown = claimResourceErrors(name, "status.allocatedResources");
      if (unknown.length > 0) return unknown;
      const field = `status.allocatedResources[${name}]`;
      const wrong = basicAmount(value, field);
      return wrong.length > 0 ? wrong : notNegativeAmount(value, field);
    }),
  ];
}
