import { deepEqual } from "@lotse/client/meta";
import type { ApiObject } from "../../object.ts";
import { entries, isSet, struct, structs, text } from "../pod/index.ts";
import { oldLabel, termWarnings } from "./nodes.ts";
import { claimSpecWarnings } from "./pod.ts";

const STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class";
const OLD_CLASS = 'deprecated since v1.8; use "storageClassName" attribute instead';
const MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options";
const OLD_OPTIONS = 'deprecated since v1.31; use "mountOptions" attribute instead';

const GONE_SOURCES: readonly (readonly [field: string, message: string])[] = [
  ["cephfs", "spec.cephfs: deprecated in v1.28, non-functional in v1.31+"],
  ["photonPersistentDisk", "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"],
  ["scaleIO", "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+"],
  ["storageos", "spec.storageOS: deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+"],
  ["rbd", "spec.rbd: deprecated in v1.28, non-functional in v1.31+"],
];

function annotation({ metadata }: ApiObject, key: string, message: string): string[] {
  return Object.hasOwn(metadata.annotations ?? {}, key) ? [`metadata.annotations[${key}]: ${message}`] : [];
}

/** Sources that no node can reach any more, and older ways to say things. */
export function volumeWarnings(object: ApiObject): string[] {
  const spec = struct(object.spec) ?? {};
  const terms = structs(struct(struct(spec.nodeAffinity)?.required)?.nodeSelectorTerms);
  return [
    ...annotation(object, STORAGE_CLASS, OLD_CLASS),
    ...annotation(object, MOUNT_OPTIONS, OLD_OPTIONS),
    ...(spec.persistentVolumeReclaimPolicy === "Recycle"
      ? [
          "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
        ]
      : []),
    ...terms.flatMap((term, i) => termWarnings(term, false, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`)),
    ...GONE_SOURCES.filter(([field]) => isSet(spec[field])).map(([, message]) => message),
  ];
}

/** Warnings about a PersistentVolumeClaim. */
export function claimWarnings(object: ApiObject): string[] {
  return [...annotation(object, STORAGE_CLASS, OLD_CLASS), ...claimSpecWarnings(struct(object.spec), "spec")];
}

/** Warnings about the topologies of a StorageClass. */
export function classWarnings(object: ApiObject): string[] {
  return structs(object.allowedTopologies).flatMap((topology, i) =>
    structs(topology.matchLabelExpressions).flatMap(({ key }, j) => {
      const old = oldLabel(text(key));
      return old === undefined ? [] : [`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${old}`];
    }),
  );
}

/** Warnings about the topology of a CSIStorageCapacity. */
export function capacityWarnings({ nodeTopology }: ApiObject): string[] {
  const selector = struct(nodeTopology);
  return [
    ...termWarnings(selector, false, "nodeTopology"),
    ...entries(selector?.matchLabels).flatMap(([key]) => {
      const old = oldLabel(key);
      return old === undefined ? [] : [`nodeTopology.matchLabels.${key}: ${old}`];
    }),
  ];
}

/** Tokens that a driver gets among the attributes of a volume may end in its log. */
export function driverWarnings(object: ApiObject, old?: ApiObject): string[] {
  const spec = struct(object.spec) ?? {};
  const wants = structs(spec.tokenRequests);
  if (wants.length === 0 || isSet(spec.serviceAccountTokenInSecrets)) return [];
  if (old && deepEqual(wants, structs(struct(old.spec)?.tokenRequests))) return [];
  return [
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes",
  ];
}
