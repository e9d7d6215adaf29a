/** The volumes of a pod: their names, and that each has exactly one source. */
import { duplicateValue, forbiddenField, invalidValue, required } from "../../fields.ts";
import { checkLabel, type Errors, type Fields, isSet, struct, subdomainMessages, text } from "./check.ts";
import type { Volumes } from "./mounts.ts";
import { checkProjected } from "./projected.ts";
import { checkClaimTemplate } from "./volume-claims.ts";
import {
  checkDownwardFiles,
  checkFileMode,
  checkKeyFiles,
  SIMPLE_SOURCES,
  type VolumeContext,
} from "./volume-sources.ts";
import { checkAzureDisk, checkFibreChannel, checkIscsi, checkQuobyte } from "./volume-storage.ts";

type SourceCheck = (source: Fields, path: string, errors: Errors, context: VolumeContext) => void;

/** A row for each sort of volume, in the order in which a server looks at them. */
const SOURCES: readonly {
  readonly field: string;
  /** The name that the server has for a second source of this sort, where it is another one. */
  readonly refused?: string;
  /** The name under which the source's own mistakes are told, where it is another one. */
  readonly told?: string;
  readonly check: SourceCheck;
}[] = [
  { field: "emptyDir", check: checkEmptyDir },
  { field: "hostPath", check: SIMPLE_SOURCES.hostPath },
  { field: "gitRepo", check: SIMPLE_SOURCES.gitRepo },
  { field: "gcePersistentDisk", told: "persistentDisk", check: SIMPLE_SOURCES.gcePersistentDisk },
  { field: "awsElasticBlockStore", check: SIMPLE_SOURCES.awsElasticBlockStore },
  { field: "secret", check: (source, path, errors) => checkKeyFiles(source, "secretName", path, errors) },
  { field: "nfs", check: SIMPLE_SOURCES.nfs },
  { field: "iscsi", check: checkIscsi },
  { field: "glusterfs", check: SIMPLE_SOURCES.glusterfs },
  { field: "flocker", check: SIMPLE_SOURCES.flocker },
  { field: "persistentVolumeClaim", check: SIMPLE_SOURCES.persistentVolumeClaim },
  { field: "rbd", check: SIMPLE_SOURCES.rbd },
  { field: "cinder", check: SIMPLE_SOURCES.cinder },
  { field: "cephfs", refused: "cephFS", check: SIMPLE_SOURCES.cephfs },
  { field: "quobyte", check: checkQuobyte },
  { field: "downwardAPI", refused: "downwarAPI", check: checkDownward },
  { field: "fc", check: checkFibreChannel },
  { field: "flexVolume", check: SIMPLE_SOURCES.flexVolume },
  { field: "configMap", check: (source, path, errors) => checkKeyFiles(source, "name", path, errors) },
  { field: "azureFile", check: SIMPLE_SOURCES.azureFile },
  { field: "vsphereVolume", check: SIMPLE_SOURCES.vsphereVolume },
  { field: "photonPersistentDisk", check: SIMPLE_SOURCES.photonPersistentDisk },
  { field: "portworxVolume", check: SIMPLE_SOURCES.portworxVolume },
  { field: "azureDisk", check: checkAzureDisk },
  { field: "storageos", check: SIMPLE_SOURCES.storageos },
  { field: "projected", check: checkProjected },
  { field: "scaleIO", check: SIMPLE_SOURCES.scaleIO },
  { field: "csi", check: SIMPLE_SOURCES.csi },
  { field: "ephemeral", check: checkEphemeral },
  { field: "image", check: SIMPLE_SOURCES.image },
];

/** Checks the volumes of a pod and gives back those that its containers may mount. */
export function checkVolumes(
  list: readonly Fields[],
  pod: string,
  isPod: boolean,
  path: string,
  errors: Errors,
): Volumes {
  const volumes = new Map<string, Fields>();
  if (list.length === 0) return volumes;
  const made = new Set<string>();
  if (pod !== "") for (const { name, ephemeral } of list) if (isSet(ephemeral)) made.add(`${pod}-${text(name)}`);
  for (const [i, volume] of list.entries()) {
    const here = `${path}[${i}]`;
    const before = errors.length;
    const name = text(volume.name);
    checkSources(volume, here, errors, { volume: name, pod, isPod });
    if (name === "") errors.push(required(`${here}.name`));
    else checkLabel(name, `${here}.name`, errors);
    if (volumes.has(name)) errors.push(duplicateValue(`${here}.name`, name));
    // A volume with a mistake is none, so that its mounts are told, too.
    if (errors.length === before) volumes.set(name, volume);
    const claim = text(struct(volume.persistentVolumeClaim)?.claimName);
    if (isSet(volume.persistentVolumeClaim) && made.has(claim)) {
      const detail = "must not reference a PVC that gets created for an ephemeral volume";
      errors.push(invalidValue(`${here}.persistentVolumeClaim.claimName`, claim, detail));
    }
  }
  return volumes;
}

function checkSources(volume: Fields, path: string, errors: Errors, context: VolumeContext): void {
  let found = false;
  for (const { field, refused, told, check } of SOURCES) {
    const source = struct(volume[field]);
    if (source === undefined) continue;
    if (found) errors.push(forbiddenField(`${path}.${refused ?? field}`, "may not specify more than 1 volume type"));
    else check(source, `${path}.${told ?? field}`, errors, context);
    if (field === "iscsi") checkIscsiName(source, context.volume, path, errors);
    found = true;
  }
  if (!found) errors.push(required(path, "must specify a volume type"));
}

function checkIscsiName(source: Fields, volume: string, path: string, errors: Errors): void {
  if (!isSet(source.initiatorName) || `${volume}:${text(source.targetPortal)}`.length <= 64) return;
  const detail =
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
  errors.push(invalidValue(`${path}.name`, volume, detail));
}

function checkEmptyDir(source: Fields, path: string, errors: Errors): void {
  if (!text(source.sizeLimit).startsWith("-")) return;
  errors.push(forbiddenField(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
}

function checkDownward(source: Fields, path: string, errors: Errors): void {
  checkFileMode(source.defaultMode, `${path}.defaultMode`, errors);
  checkDownwardFiles(source.items, path, errors);
}

function checkEphemeral(source: Fields, path: string, errors: Errors, { volume, pod }: VolumeContext): void {
  const template = struct(source.volumeClaimTemplate);
  if (template === undefined) errors.push(required(`${path}.volumeClaimTemplate`));
  else checkClaimTemplate(template, `${path}.volumeClaimTemplate`, errors);
  if (pod === "" || volume === "") return;
  const name = `${pod}-${volume}`;
  const field = `${path.slice(0, path.lastIndexOf("."))}.name`;
  for (const message of subdomainMessages(name)) {
    errors.push(invalidValue(field, volume, `PVC name ${JSON.stringify(name)}: ${message}`));
  }
}
