/** Sources of volumes that have little to say, and the files that ConfigMaps, Secrets and pods become. */
import { byteLength } from "@lotse/client/meta";
import { invalidValue, required, tooLongValue } from "../../fields.ts";
import {
  checkChoice,
  checkLabel,
  checkOneOf,
  checkPresent,
  checkSubdomain,
  type Errors,
  entries,
  type Fields,
  isSet,
  number,
  struct,
  structs,
  subdomainMessages,
  text,
  texts,
} from "./check.ts";
import { checkFieldRef, checkResourceFieldRef, FILE_FIELDS } from "./env.ts";
import { checkFreePath, checkLocalPath, checkNoBacksteps } from "./paths.ts";

/** What a source of volumes may need to know beside itself. */
export interface VolumeContext {
  readonly volume: string;
  /** Name of the pod, empty in a template. */
  readonly pod: string;
  readonly isPod: boolean;
}

const ALL_MODES = 0o777;

/** The rights of a file. */
export function checkFileMode(mode: unknown, path: string, errors: Errors): void {
  if (typeof mode !== "number" || (mode >= 0 && mode <= ALL_MODES)) return;
  errors.push(invalidValue(path, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
}

/** A Secret or a ConfigMap as files; `nameField` says which it is. */
export function checkKeyFiles(source: Fields, nameField: string, path: string, errors: Errors): void {
  checkPresent(source[nameField], `${path}.${nameField}`, errors);
  checkFileMode(source.defaultMode, `${path}.defaultMode`, errors);
  for (const [i, item] of structs(source.items).entries()) checkKeyFile(item, `${path}.items[${i}]`, errors);
}

/** One key as a file. */
export function checkKeyFile(item: Fields, path: string, errors: Errors): void {
  checkPresent(item.key, `${path}.key`, errors);
  checkPresent(item.path, `${path}.path`, errors);
  checkFreePath(text(item.path), `${path}.path`, errors);
  checkFileMode(item.mode, `${path}.mode`, errors);
}

/** Fields of the pod as files; the list is to blame, and not its item. */
export function checkDownwardFiles(items: unknown, path: string, errors: Errors): void {
  for (const item of structs(items)) checkDownwardFile(item, path, errors);
}

/** One field of the pod as a file. */
export function checkDownwardFile(item: Fields, path: string, errors: Errors): void {
  checkPresent(item.path, `${path}.path`, errors);
  checkFreePath(text(item.path), `${path}.path`, errors);
  const field = struct(item.fieldRef);
  const resource = struct(item.resourceFieldRef);
  if (field !== undefined) {
    checkFieldRef(field, FILE_FIELDS, `${path}.fieldRef`, errors);
    if (resource !== undefined) {
      const detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
      errors.push(invalidValue(path, "resource", detail));
    }
  } else if (resource !== undefined) checkResourceFieldRef(resource, true, `${path}.resourceFieldRef`, errors);
  else errors.push(required(path, "one of fieldRef and resourceFieldRef is required"));
  checkFileMode(item.mode, `${path}.mode`, errors);
}

const HOST_PATHS = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

const needs =
  (...fields: string[]) =>
  (source: Fields, path: string, errors: Errors): void => {
    for (const field of fields) checkPresent(source[field], `${path}.${field}`, errors);
  };

function checkHostPath(source: Fields, path: string, errors: Errors): void {
  if (text(source.path) === "") {
    errors.push(required(`${path}.path`));
    return;
  }
  checkNoBacksteps(text(source.path), `${path}.path`, errors);
  if (isSet(source.type)) checkOneOf(source.type, HOST_PATHS, `${path}.type`, errors);
}

function checkDisk(name: string): (source: Fields, path: string, errors: Errors) => void {
  return (source, path, errors) => {
    checkPresent(source[name], `${path}.${name}`, errors);
    const partition = number(source.partition);
    if (partition >= 0 && partition <= 255) return;
    errors.push(invalidValue(`${path}.partition`, partition, "must be between 1 and 255, inclusive"));
  };
}

function checkNfs(source: Fields, path: string, errors: Errors): void {
  checkPresent(source.server, `${path}.server`, errors);
  checkPresent(source.path, `${path}.path`, errors);
  const folder = text(source.path);
  if (!folder.startsWith("/")) errors.push(invalidValue(`${path}.path`, folder, "must be an absolute path"));
}

function checkFlocker(source: Fields, path: string, errors: Errors): void {
  const name = text(source.datasetName);
  const uuid = text(source.datasetUUID);
  if (name === "" && uuid === "") errors.push(required(path, "one of datasetName and datasetUUID is required"));
  if (name !== "" && uuid !== "") {
    errors.push(invalidValue(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (name.includes("/")) errors.push(invalidValue(`${path}.datasetName`, name, "must not contain '/'"));
}

function checkMonitors(source: Fields, path: string, errors: Errors): void {
  if (texts(source.monitors).length === 0) errors.push(required(`${path}.monitors`));
}

function checkSecretName(source: Fields, field: string, path: string, errors: Errors): void {
  const ref = struct(source[field]);
  if (ref !== undefined && text(ref.name) === "") errors.push(required(`${path}.${field}.name`));
}

function checkFlexVolume(source: Fields, path: string, errors: Errors): void {
  checkPresent(source.driver, `${path}.driver`, errors);
  for (const [key] of entries(source.options)) {
    const slash = key.indexOf("/");
    const owner = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`;
    if (!owner.endsWith(".kubernetes.io") && !owner.endsWith(".k8s.io")) continue;
    errors.push(invalidValue(`${path}.options[${key}]`, key, "kubernetes.io and k8s.io namespaces are reserved"));
  }
}

function checkStorageOs(source: Fields, path: string, errors: Errors): void {
  const name = text(source.volumeName);
  if (name === "") errors.push(required(`${path}.volumeName`));
  else checkLabel(name, `${path}.volumeName`, errors);
  const namespace = text(source.volumeNamespace);
  if (namespace !== "") checkLabel(namespace, `${path}.volumeNamespace`, errors);
  checkSecretName(source, "secretRef", path, errors);
}

const LONGEST_DRIVER = 63;

function checkCsi(source: Fields, path: string, errors: Errors): void {
  const driver = text(source.driver);
  if (driver === "") errors.push(required(`${path}.driver`));
  else {
    if (byteLength(driver) > LONGEST_DRIVER) errors.push(tooLongValue(`${path}.driver`, LONGEST_DRIVER));
    for (const message of subdomainMessages(driver.toLowerCase())) {
      errors.push(invalidValue(`${path}.driver`, driver, message));
    }
  }
  const ref = struct(source.nodePublishSecretRef);
  if (ref === undefined) return;
  if (text(ref.name) === "") errors.push(required(`${path}.nodePublishSecretRef.name`));
  else checkSubdomain(text(ref.name), `${path}.name`, errors);
}

function checkImage(source: Fields, path: string, errors: Errors, { isPod }: VolumeContext): void {
  if (isPod) checkPresent(source.reference, `${path}.reference`, errors);
  checkChoice(source.pullPolicy, ["Always", "IfNotPresent", "Never"], `${path}.pullPolicy`, errors);
}

/** Sources by the field that holds them. */
export const SIMPLE_SOURCES = {
  hostPath: checkHostPath,
  gitRepo: (source: Fields, path: string, errors: Errors): void => {
    checkPresent(source.repository, `${path}.repository`, errors);
    checkLocalPath(text(source.directory), `${path}.directory`, errors);
  },
  gcePersistentDisk: checkDisk("pdName"),
  awsElasticBlockStore: checkDisk("volumeID"),
  nfs: checkNfs,
  glusterfs: needs("endpoints", "path"),
  flocker: checkFlocker,
  persistentVolumeClaim: needs("claimName"),
  rbd: (source: Fields, path: string, errors: Errors): void => {
    checkMonitors(source, path, errors);
    checkPresent(source.image, `${path}.image`, errors);
  },
  cinder: (source: Fields, path: string, errors: Errors): void => {
    checkPresent(source.volumeID, `${path}.volumeID`, errors);
    checkSecretName(source, "secretRef", path, errors);
  },
  cephfs: checkMonitors,
  flexVolume: checkFlexVolume,
  azureFile: needs("secretName", "shareName"),
  vsphereVolume: needs("volumePath"),
  photonPersistentDisk: needs("pdID"),
  portworxVolume: needs("volumeID"),
  storageos: checkStorageOs,
  scaleIO: needs("gateway", "system", "volumeName"),
  csi: checkCsi,
  image: checkImage,
};
