import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLongValue } from "../fields.ts";
import { recordOf, textOf, textsOf } from "./common.ts";
import { given, labelErrors, rangeText, subdomainComplaints, subdomainErrors } from "./values.ts";

type Fields = Record<string, unknown>;
type Check = (source: Fields, path: string, volume: string) => FieldError[];

const must = (source: Fields, path: string, ...keys: string[]): FieldError[] =>
  keys.flatMap((key) => {
    const value = source[key];
    const missing = Array.isArray(value) ? value.length === 0 : !given(value) || value === "";
    return missing ? [required(`${path}.${key}`)] : [];
  });

const inRange = (value: unknown, field: string, low: number, high: number, text: string): FieldError[] => {
  const number = Number(value ?? 0);
  return number < low || number > high ? [invalidValue(field, number, text)] : [];
};

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

function backsteps(path: string, field: string): FieldError[] {
  return path.split("/").includes("..") ? [invalidValue(field, path, "must not contain '..'")] : [];
}

function hostPath(source: Fields, path: string): FieldError[] {
  const text = textOf(source.path);
  if (text === "") return [required(`${path}.path`)];
  const errors = backsteps(text, `${path}.path`);
  if (given(source.type) && !HOST_PATH_TYPES.includes(textOf(source.type))) {
    errors.push(notSupported(`${path}.type`, source.type, HOST_PATH_TYPES));
  }
  return errors;
}

const PARTITION = rangeText(1, 255);
const LUN = rangeText(0, 255);

const disk =
  (id: string): Check =>
  (source, path) => [...must(source, path, id), ...inRange(source.partition, `${path}.partition`, 0, 255, PARTITION)];

function glusterfs(source: Fields, path: string): FieldError[] {
  const errors = must(source, path, "endpoints", "path");
  const { endpointsNamespace } = source;
  if (!given(endpointsNamespace)) return errors;
  const field = `${path}.endpointsNamespace`;
  if (endpointsNamespace !== "") return [...errors, ...labelErrors(textOf(endpointsNamespace), field)];
  return [...errors, invalidValue(field, "", "if the endpointnamespace is set, it must be a valid namespace name")];
}

function flocker({ datasetName, datasetUUID }: Fields, path: string): FieldError[] {
  if (!datasetName && !datasetUUID) return [required(path, "one of datasetName and datasetUUID is required")];
  const errors: FieldError[] = [];
  if (datasetName && datasetUUID) {
    errors.push(invalidValue(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (textOf(datasetName).includes("/")) {
    errors.push(invalidValue(`${path}.datasetName`, datasetName, "must not contain '/'"));
  }
  return errors;
}

function nfs(source: Fields, path: string): FieldError[] {
  const text = textOf(source.path);
  const errors = must(source, path, "server", "path");
  if (!text.startsWith("/")) errors.push(invalidValue(`${path}.path`, text, "must be an absolute path"));
  return errors;
}

const PAIR = /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

function quobyte(source: Fields, path: string): FieldError[] {
  const registry = textOf(source.registry);
  const pairs = "must be a host:port pair or multiple pairs separated by commas";
  const errors: FieldError[] = [];
  if (registry === "") errors.push(required(`${path}.registry`, pairs));
  else if (textOf(source.tenant).length >= 65) {
    errors.push(required(`${path}.tenant`, "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (const pair of registry.split(",")) {
      if (!PAIR.test(pair)) errors.push(invalidValue(`${path}.registry`, registry, pairs));
    }
  }
  return [...errors, ...must(source, path, "volume")];
}

const IQN = /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/;
const EUI = /^eui.[a-zA-Z0-9]{16}$/;
const NAA = /^naa.[a-zA-Z0-9]{32}$/;
const QUALIFIED: readonly (readonly [string, RegExp])[] = [
  ["iqn", IQN],
  ["eui", EUI],
  ["naa", NAA],
];

function initiatorErrors(name: string, field: string): FieldError[] {
  const known = QUALIFIED.find(([prefix]) => name.startsWith(prefix));
  return known?.[1].test(name) ? [] : [invalidValue(field, name, "must be valid format")];
}

function iscsi(source: Fields, path: string, volume: string): FieldError[] {
  const errors = must(source, path, "targetPortal");
  const { initiatorName, secretRef } = source;
  const portal = textOf(source.targetPortal);
  if (given(initiatorName) && `${volume}:${portal}`.length > 64) {
    const text =
      "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
    errors.push(invalidValue(`${path}.targetportal`, portal, text));
  }
  const iqn = textOf(source.iqn);
  errors.push(...(iqn === "" ? [required(`${path}.iqn`)] : initiatorErrors(iqn, `${path}.iqn`)));
  errors.push(...inRange(source.lun, `${path}.lun`, 0, 255, LUN));
  const chap = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  if (chap && !given(secretRef)) errors.push(required(`${path}.secretRef`));
  if (given(secretRef)) errors.push(...must(recordOf(secretRef), `${path}.secretRef`, "name"));
  if (given(initiatorName)) errors.push(...initiatorErrors(textOf(initiatorName), `${path}.initiatorname`));
  return errors;
}

function fc(source: Fields, path: string): FieldError[] {
  const [names, ids] = [textsOf(source.targetWWNs), textsOf(source.wwids)];
  const field = `${path}.targetWWNs`;
  const errors: FieldError[] = [];
  if (names.length === 0 && ids.length === 0) {
    errors.push(required(field, "must specify either targetWWNs or wwids, but not both"));
  }
  if (names.length > 0 && ids.length > 0) {
    errors.push(invalidValue(field, names, "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (names.length === 0) return errors;
  if (!given(source.lun)) return [...errors, required(`${path}.lun`, "lun is required if targetWWNs is specified")];
  return [...errors, ...inRange(source.lun, `${path}.lun`, 0, 255, LUN)];
}

const secretIn = (source: Fields, path: string): FieldError[] =>
  given(source.secretRef) ? must(recordOf(source.secretRef), `${path}.secretRef`, "name", "namespace") : [];

function flexVolume(source: Fields, path: string): FieldError[] {
  const errors = must(source, path, "driver");
  for (const key of Object.keys(recordOf(source.options))) {
    const slash = key.indexOf("/");
    const owner = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`;
    if (!owner.endsWith(".kubernetes.io") && !owner.endsWith(".k8s.io")) continue;
    const text = "kubernetes.io and k8s.io namespaces are reserved";
    errors.push(invalidValue(`${path}.options[${key}]`, key, text));
  }
  return errors;
}

function azureFile(source: Fields, path: string): FieldError[] {
  const errors = must(source, path, "secretName", "shareName");
  if (source.secretNamespace === "") errors.push(required(`${path}.secretNamespace`));
  return errors;
}

function azureDisk(source: Fields, path: string): FieldError[] {
  const errors = must(source, path, "diskName", "diskURI");
  const uri = textOf(source.diskURI);
  const { kind, cachingMode } = source;
  const [modes, kinds] = [
    ["None", "ReadOnly", "ReadWrite"],
    ["Dedicated", "Managed", "Shared"],
  ];
  if (given(cachingMode) && !modes?.includes(textOf(cachingMode))) {
    errors.push(notSupported(`${path}.cachingMode`, cachingMode, modes ?? []));
  }
  if (given(kind) && !kinds?.includes(textOf(kind))) errors.push(notSupported(`${path}.kind`, kind, kinds ?? []));
  if (kind === "Managed" && !uri.startsWith("/subscriptions/")) {
    const form = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
    errors.push(notSupported(`${path}.diskURI`, uri, [form]));
  }
  if (given(kind) && kind !== "Managed" && !uri.startsWith("https://")) {
    const form = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
    errors.push(notSupported(`${path}.diskURI`, uri, [form]));
  }
  return errors;
}

function local(source: Fields, path: string): FieldError[] {
  const text = textOf(source.path);
  return text === "" ? [required(`${path}.path`)] : backsteps(text, `${path}.path`);
}

function storageos(source: Fields, path: string): FieldError[] {
  const [name, namespace] = [textOf(source.volumeName), textOf(source.volumeNamespace)];
  return [
    ...(name === "" ? [required(`${path}.volumeName`)] : labelErrors(name, `${path}.volumeName`)),
    ...(namespace === "" ? [] : labelErrors(namespace, `${path}.volumeNamespace`)),
    ...secretIn(source, path),
  ];
}

const LONGEST_DRIVER = 63;

/** The name of a CSI driver, in any case. */
export function driverNameErrors(name: string, field: string): FieldError[] {
  if (name === "") return [required(field)];
  const errors: FieldError[] = name.length > LONGEST_DRIVER ? [tooLongValue(field, LONGEST_DRIVER)] : [];
  for (const text of subdomainComplaints(name.toLowerCase())) errors.push(invalidValue(field, name, text));
  return errors;
}

const CSI_SECRETS = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
];

function csi(source: Fields, path: string): FieldError[] {
  const errors = [...driverNameErrors(textOf(source.driver), `${path}.driver`), ...must(source, path, "volumeHandle")];
  for (const key of CSI_SECRETS) {
    if (!given(source[key])) continue;
    const ref = recordOf(source[key]);
    const at = `${path}.${key}`;
    const [name, namespace] = [textOf(ref.name), textOf(ref.namespace)];
    errors.push(...(name === "" ? [required(`${at}.name`)] : subdomainErrors(name, `${at}.name`)));
    errors.push(...(namespace === "" ? [required(`${at}.namespace`)] : labelErrors(namespace, `${at}.namespace`)));
  }
  return errors;
}

const requires =
  (...keys: string[]): Check =>
  (source, path) =>
    must(source, path, ...keys);

/** Where the data of a volume is, in the order in which the server looks; `at` and `twice` are its own spellings. */
const SOURCES: readonly { key: string; check: Check; at?: string; twice?: string }[] = [
  { key: "hostPath", check: hostPath },
  { key: "gcePersistentDisk", check: disk("pdName"), at: "persistentDisk" },
  { key: "awsElasticBlockStore", check: disk("volumeID") },
  { key: "glusterfs", check: glusterfs },
  { key: "flocker", check: flocker },
  { key: "nfs", check: nfs },
  { key: "rbd", check: requires("monitors", "image") },
  { key: "quobyte", check: quobyte },
  { key: "cephfs", check: requires("monitors"), twice: "cephFS" },
  { key: "iscsi", check: iscsi },
  { key: "cinder", check: (source, path) => [...must(source, path, "volumeID"), ...secretIn(source, path)] },
  { key: "fc", check: fc },
  { key: "flexVolume", check: flexVolume },
  { key: "azureFile", check: azureFile },
  { key: "vsphereVolume", check: requires("volumePath") },
  { key: "photonPersistentDisk", check: requires("pdID") },
  { key: "portworxVolume", check: requires("volumeID") },
  { key: "azureDisk", check: azureDisk },
  { key: "scaleIO", check: requires("gateway", "system", "volumeName") },
  { key: "local", check: local },
  { key: "storageos", check: storageos },
  { key: "csi", check: csi },
];

/** The fields of a volume that say where its data is. */
export const SOURCE_KEYS: readonly string[] = SOURCES.map(({ key }) => key);

/** A volume has exactly one source, and that one is complete. */
export function sourceErrors(spec: Fields, path: string, volume: string): FieldError[] {
  const errors: FieldError[] = [];
  let found = 0;
  for (const { key, check, at = key, twice = key } of SOURCES) {
    if (!given(spec[key])) continue;
    // The one source that never minded others.
    if (found > 0 && key !== "flexVolume") {
      errors.push(forbiddenField(`${path}.${twice}`, "may not specify more than 1 volume type"));
      continue;
    }
    found++;
    errors.push(...check(recordOf(spec[key]), `${path}.${at}`, volume));
    if (key === "local" && !given(spec.nodeAffinity)) {
      errors.push(required(`${path}.nodeAffinity`, "Local volume requires node affinity"));
    }
  }
  if (found === 0) errors.push(required(path, "must specify a volume type"));
  return errors;
}
