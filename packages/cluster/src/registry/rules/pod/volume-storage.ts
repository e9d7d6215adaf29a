/** Volumes of storage systems whose addresses have a form of their own. */
import { byteLength } from "@lotse/client/meta";
import { invalidValue, notSupported, required } from "../../fields.ts";
import { checkOneOf, checkPresent, checkRange, type Errors, type Fields, isSet, number, text, texts } from "./check.ts";

const IQN = /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$/;
const EUI = /^eui.[a-zA-Z0-9]{16}$/;
const NAA = /^naa.[a-zA-Z0-9]{32}$/;
const FORMS: readonly (readonly [prefix: string, form: RegExp])[] = [
  ["iqn", IQN],
  ["eui", EUI],
  ["naa", NAA],
];

function checkIscsiName(name: string, path: string, errors: Errors): void {
  const form = FORMS.find(([prefix]) => name.startsWith(prefix))?.[1];
  if (form === undefined) {
    errors.push(invalidValue(path, name, "must be valid format starting with iqn, eui, or naa"));
  } else if (!form.test(name)) errors.push(invalidValue(path, name, "must be valid format"));
}

/** A disk behind iSCSI. */
export function checkIscsi(source: Fields, path: string, errors: Errors): void {
  checkPresent(source.targetPortal, `${path}.targetPortal`, errors);
  const name = text(source.iqn);
  if (name === "") errors.push(required(`${path}.iqn`));
  else checkIscsiName(name, `${path}.iqn`, errors);
  checkRange(number(source.lun), 0, 255, `${path}.lun`, errors);
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && !isSet(source.secretRef)) {
    errors.push(required(`${path}.secretRef`));
  }
  if (isSet(source.initiatorName)) checkIscsiName(text(source.initiatorName), `${path}.initiatorname`, errors);
}

/** A disk behind Fibre Channel. */
export function checkFibreChannel(source: Fields, path: string, errors: Errors): void {
  const targets = texts(source.targetWWNs);
  const ids = texts(source.wwids);
  if (targets.length === 0 && ids.length === 0) {
    errors.push(required(`${path}.targetWWNs`, "must specify either targetWWNs or wwids, but not both"));
  }
  if (targets.length > 0 && ids.length > 0) {
    const detail = "targetWWNs and wwids can not be specified simultaneously";
    errors.push(invalidValue(`${path}.targetWWNs`, targets, detail));
  }
  if (targets.length === 0) return;
  if (!isSet(source.lun)) errors.push(required(`${path}.lun`, "lun is required if targetWWNs is specified"));
  else checkRange(number(source.lun), 0, 255, `${path}.lun`, errors);
}

const PAIRS = "must be a host:port pair or multiple pairs separated by commas";
const HOST_AND_PORT = /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/;
const LONGEST_TENANT = 64;

/** A volume of Quobyte. */
export function checkQuobyte(source: Fields, path: string, errors: Errors): void {
  const registry = text(source.registry);
  if (registry === "") errors.push(required(`${path}.registry`, PAIRS));
  else if (byteLength(text(source.tenant)) > LONGEST_TENANT) {
    errors.push(required(`${path}.tenant`, "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (const pair of registry.split(",")) {
      if (!HOST_AND_PORT.test(pair)) errors.push(invalidValue(`${path}.registry`, registry, PAIRS));
    }
  }
  checkPresent(source.volume, `${path}.volume`, errors);
}

const CACHING = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS = ["Dedicated", "Managed", "Shared"];
const MANAGED_URI = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_URI = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/** A disk of Azure. */
export function checkAzureDisk(source: Fields, path: string, errors: Errors): void {
  checkPresent(source.diskName, `${path}.diskName`, errors);
  checkPresent(source.diskURI, `${path}.diskURI`, errors);
  if (isSet(source.cachingMode)) checkOneOf(source.cachingMode, CACHING, `${path}.cachingMode`, errors);
  if (!isSet(source.kind)) return;
  checkOneOf(source.kind, DISK_KINDS, `${path}.kind`, errors);
  const uri = text(source.diskURI);
  const managed = source.kind === "Managed";
  if (uri.startsWith(managed ? "/subscriptions/" : "https://")) return;
  errors.push(notSupported(`${path}.diskURI`, uri, [managed ? MANAGED_URI : BLOB_URI]));
}
