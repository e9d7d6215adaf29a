import { byteLength, deepEqual } from "@lotse/client/meta";
import {
  duplicateValue,
  type FieldError,
  forbiddenField,
  IMMUTABLE,
  invalidValue,
  notSupported,
  required,
  tooLongValue,
} from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { notNegative, recordOf, textOf, textsOf, unchanged } from "./common.ts";
import { notNegativeAmount } from "./resources.ts";
import { given, qualifiedErrors, selectorErrors, subdomainErrors } from "./values.ts";
import { driverNameErrors } from "./volume-sources.ts";

type Fields = Record<string, unknown>;

const RECLAIM_POLICIES = ["Delete", "Retain"];
const BINDING_MODES = ["Immediate", "WaitForFirstConsumer"];
const MOST_PARAMETERS = 512;
const LARGEST_PARAMETERS = 256 * 1_024;

/** What is wrong with a StorageClass. */
export function classCreate(object: ApiObject): FieldError[] {
  const errors = provisionerErrors(object.provisioner, "provisioner");
  errors.push(...parametersErrors(object.parameters, true));
  const policy = textOf(object.reclaimPolicy);
  if (policy !== "" && !RECLAIM_POLICIES.includes(policy)) {
    errors.push(notSupported("reclaimPolicy", policy, RECLAIM_POLICIES));
  }
  const mode = object.volumeBindingMode;
  if (!given(mode)) errors.push(required("volumeBindingMode"));
  else if (!BINDING_MODES.includes(textOf(mode))) errors.push(notSupported("volumeBindingMode", mode, BINDING_MODES));
  return [...errors, ...topologiesErrors(listAt(object, "allowedTopologies"))];
}

/** What a class means to those who use it may not change. */
export function classUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!deepEqual(object.parameters ?? {}, old.parameters ?? {})) {
    errors.push(invalidValue("parameters", object.parameters ?? null, IMMUTABLE));
  }
  return [
    ...classCreate(object),
    ...errors,
    ...unchanged(object.provisioner ?? "", old.provisioner ?? "", "provisioner"),
    ...unchanged(object.reclaimPolicy, old.reclaimPolicy, "reclaimPolicy"),
    ...unchanged(object.volumeBindingMode, old.volumeBindingMode, "volumeBindingMode"),
  ];
}

function provisionerErrors(value: unknown, field: string): FieldError[] {
  const name = textOf(value);
  return name === "" ? [required(field)] : qualifiedErrors(name.toLowerCase(), field);
}

function parametersErrors(value: unknown, mayBeEmpty: boolean): FieldError[] {
  const parameters = Object.entries(recordOf(value));
  if (parameters.length > MOST_PARAMETERS) return [tooLongValue("parameters", MOST_PARAMETERS)];
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, text] of parameters) {
    if (key === "") errors.push(invalidValue("parameters", key, "field can not be empty."));
    size += byteLength(key) + byteLength(String(text));
  }
  if (size > LARGEST_PARAMETERS) errors.push(tooLongValue("parameters", LARGEST_PARAMETERS));
  if (!mayBeEmpty && parameters.length === 0) {
    errors.push(required("parameters", "must contain at least one key/value pair"));
  }
  return errors;
}

function topologiesErrors(topologies: readonly Fields[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, topology] of topologies.entries()) {
    const path = `allowedTopologies[${i}].matchLabelExpressions`;
    const terms = new Map<string, string[]>();
    for (const [j, item] of listAt(topology, "matchLabelExpressions").entries()) {
      const key = textOf(item.key);
      errors.push(...topologyErrors(item, `${path}[${j}]`));
      if (terms.has(key)) errors.push(duplicateValue(`${path}[${j}].key`, key));
      terms.set(key, [...new Set(textsOf(item.values))].sort());
    }
    const shape = JSON.stringify([...terms].sort(([a], [b]) => (a < b ? -1 : 1)));
    // A term that says nothing equals the empty places that the server begins with.
    if (seen.has(shape) || terms.size === 0) errors.push(duplicateValue(path, ""));
    seen.add(shape);
  }
  return errors;
}

function topologyErrors(item: Fields, path: string): FieldError[] {
  const values = textsOf(item.values);
  const errors: FieldError[] = values.length === 0 ? [required(`${path}.values`)] : [];
  for (const [i, value] of values.entries()) {
    if (values.indexOf(value) < i) errors.push(duplicateValue(`${path}.values[${i}]`, value));
  }
  return [...errors, ...qualifiedErrors(textOf(item.key), `${path}.key`)];
}

/** What is wrong with a VolumeAttributesClass. */
export const attributesClassCreate = (object: ApiObject): FieldError[] => [
  ...provisionerErrors(object.driverName, "driverName"),
  ...parametersErrors(object.parameters, false),
];

/** What a VolumeAttributesClass must not change. */
export function attributesClassUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const changed = (key: string) =>
    deepEqual(object[key], old[key]) ? [] : [forbiddenField(key, `updates to ${key} are forbidden.`)];
  return [...changed("driverName"), ...changed("parameters"), ...attributesClassCreate(object)];
}

const GROUP_POLICIES = ["File", "None", "ReadWriteOnceWithFSType"];
const LIFECYCLES = ["Persistent", "Ephemeral"];
const SHORTEST_TOKEN = 600;
const LONGEST_TOKEN = 2 ** 32;

/** What is wrong with a CSIDriver. */
export function driverCreate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  if (given(spec.fsGroupPolicy) && !GROUP_POLICIES.includes(textOf(spec.fsGroupPolicy))) {
    errors.push(notSupported("spec.fsGroupPolicy", spec.fsGroupPolicy, GROUP_POLICIES));
  }
  errors.push(...tokensErrors(listAt(spec, "tokenRequests")));
  for (const mode of textsOf(spec.volumeLifecycleModes)) {
    if (!LIFECYCLES.includes(mode)) errors.push(notSupported("spec.volumeLifecycleModes", mode, LIFECYCLES));
  }
  const period = spec.nodeAllocatableUpdatePeriodSeconds;
  if (typeof period === "number" && period < 10) {
    const text = "must be greater than or equal to 10 seconds";
    errors.push(invalidValue("spec.nodeAllocatableUpdatePeriodSeconds", period, text));
  }
  if (given(spec.serviceAccountTokenInSecrets) && listAt(spec, "tokenRequests").length === 0) {
    const text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    errors.push(invalidValue("spec.serviceAccountTokenInSecrets", spec.serviceAccountTokenInSecrets, text));
  }
  return errors;
}

/** What is wrong with a changed CSIDriver. */
export function driverUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const [now, before] = [objectAt(object, "spec"), objectAt(old, "spec")];
  return [
    ...driverCreate(object),
    ...unchanged(now.attachRequired, before.attachRequired, "spec.attachedRequired"),
    ...unchanged(now.volumeLifecycleModes, before.volumeLifecycleModes, "spec.volumeLifecycleModes"),
  ];
}

function tokensErrors(tokens: readonly Fields[]): FieldError[] {
  const audiences = new Set<string>();
  return tokens.flatMap((token, i) => {
    const path = `spec.tokenRequests[${i}]`;
    const audience = textOf(token.audience);
    if (audiences.has(audience)) return [duplicateValue(`${path}.audience`, audience)];
    audiences.add(audience);
    const seconds = token.expirationSeconds;
    const fails = (text: string) => [invalidValue(`${path}.expirationSeconds`, seconds, text)];
    if (typeof seconds !== "number") return [];
    if (seconds < SHORTEST_TOKEN) return fails("may not specify a duration less than 10 minutes");
    return seconds > LONGEST_TOKEN ? fails("may not specify a duration larger than 2^32 seconds") : [];
  });
}

const LONGEST_NODE_ID = 256;

/** What is wrong with a CSINode. */
export function csiNodeCreate(object: ApiObject): FieldError[] {
  const names = new Set<string>();
  return listAt(object, "spec", "drivers").flatMap((driver, i) => {
    const path = `spec.drivers[${i}]`;
    const name = textOf(driver.name);
    const id = textOf(driver.nodeID);
    const errors = driverNameErrors(name, `${path}.name`);
    if (id === "") errors.push(required(`${path}.nodeID`));
    if (id.length > LONGEST_NODE_ID) {
      errors.push(invalidValue(`${path}.nodeID`, id, `must be ${LONGEST_NODE_ID} characters or less`));
    }
    errors.push(...notNegative(objectAt(driver, "allocatable").count, `${path}.allocatable.count`));
    if (names.has(name)) errors.push(duplicateValue(`${path}.name`, name));
    names.add(name);
    const keys = new Set<string>();
    for (const key of textsOf(driver.topologyKeys)) {
      if (key === "") errors.push(required(path));
      if (keys.has(key)) errors.push(duplicateValue(path, key));
      keys.add(key);
      errors.push(...qualifiedErrors(key, path));
    }
    return errors;
  });
}

/** What is wrong with a changed CSINode: of a driver only what can be allocated may change. */
export function csiNodeUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors = csiNodeCreate(object);
  for (const before of listAt(old, "spec", "drivers")) {
    for (const driver of listAt(object, "spec", "drivers")) {
      if (driver.name !== before.name) continue;
      const [{ allocatable: _, ...now }, { allocatable: __, ...was }] = [driver, before];
      if (deepEqual(now, was)) continue;
      const { name, nodeID, topologyKeys } = now;
      const shown = { Name: name, NodeID: nodeID ?? "", TopologyKeys: topologyKeys ?? null, Allocatable: null };
      errors.push(invalidValue("spec.drivers", new Verbatim(JSON.stringify(shown)), IMMUTABLE));
    }
  }
  return errors;
}

/** What is wrong with a CSIStorageCapacity. */
export function capacityCreate(object: ApiObject): FieldError[] {
  const errors = selectorErrors(object.nodeTopology, "nodeTopology");
  errors.push(...subdomainErrors(textOf(object.storageClassName), "storageClassName"));
  if (given(object.capacity)) errors.push(...notNegativeAmount(object.capacity, "capacity"));
  return errors;
}

/** What is wrong with a changed CSIStorageCapacity. */
export function capacityUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  return [
    ...capacityCreate(object),
    ...unchanged(object.nodeTopology, old.nodeTopology, "nodeTopology"),
    ...unchanged(object.storageClassName ?? "", old.storageClassName ?? "", "storageClassName"),
  ];
}
