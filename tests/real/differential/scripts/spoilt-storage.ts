import type { Script } from "../script.ts";
import { everywhere, type Fields, inNamespace, type Specimen, spoil } from "./mutations.ts";

const claim = inNamespace("v1", "persistentvolumeclaims", "PersistentVolumeClaim");
const volume = everywhere("v1", "persistentvolumes", "PersistentVolume");
const base = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] };
const affinity = {
  required: {
    nodeSelectorTerms: [
      {
        matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }],
        matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }],
      },
    ],
  },
};
const secret = { name: "s", namespace: "n" };

/** Sources of volumes, each complete. */
const sources: Readonly<Record<string, Fields>> = {
  gcePersistentDisk: { pdName: "d", partition: 1 },
  awsElasticBlockStore: { volumeID: "v", partition: 1 },
  nfs: { server: "s", path: "/p" },
  iscsi: {
    targetPortal: "1.2.3.4:3260",
    iqn: "iqn.2001-04.com.example:storage.kube.sys1.xyz",
    lun: 1,
    chapAuthSession: true,
    secretRef: secret,
    initiatorName: "iqn.2001-04.com.example:a",
  },
  fc: { targetWWNs: ["50060e801049cfd1"], lun: 2 },
  glusterfs: { endpoints: "e", path: "p", endpointsNamespace: "n" },
  rbd: { monitors: ["m"], image: "i" },
  cephfs: { monitors: ["m"] },
  cinder: { volumeID: "v", secretRef: secret },
  flocker: { datasetName: "d" },
  flexVolume: { driver: "a.io/b", options: { a: "b" } },
  azureFile: { secretName: "s", shareName: "s", secretNamespace: "n" },
  azureDisk: { diskName: "d", diskURI: "https://a.blob.core.windows.net/b/c.vhd", cachingMode: "None", kind: "Shared" },
  vsphereVolume: { volumePath: "p" },
  quobyte: { registry: "a:1,b:2", volume: "v" },
  photonPersistentDisk: { pdID: "p" },
  portworxVolume: { volumeID: "v" },
  scaleIO: { gateway: "g", system: "s", volumeName: "v", secretRef: secret },
  storageos: { volumeName: "v", volumeNamespace: "n", secretRef: { name: "s", namespace: "n" } },
};

const specimens: readonly Specimen[] = [
  {
    ...claim,
    good: {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "2Gi" }, limits: { storage: "3Gi" } },
        selector: { matchLabels: { a: "b" }, matchExpressions: [{ key: "c", operator: "Exists" }] },
        storageClassName: "fast",
        volumeMode: "Filesystem",
        volumeName: "v",
        dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" },
        dataSourceRef: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" },
        volumeAttributesClassName: "gold",
      },
    },
    also: {
      "a negative size": { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "-1" } } } },
      "no size at all": { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "0" } } } },
      "one pod and many": {
        spec: { accessModes: ["ReadWriteOncePod", "ReadWriteMany"], resources: { requests: { storage: "1" } } },
      },
      "a source of the core": {
        spec: { ...base, resources: { requests: { storage: "1" } }, dataSource: { kind: "Thing", name: "n" } },
      },
      "two sources": {
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1" } },
          dataSource: { kind: "PersistentVolumeClaim", name: "a" },
          dataSourceRef: { kind: "PersistentVolumeClaim", name: "b" },
        },
      },
    },
    changes: {
      "more space": { spec: { resources: { requests: { storage: "4Gi" } } } },
      "less space": { spec: { resources: { requests: { storage: "1Gi" } } } },
      "another class": { spec: { storageClassName: "slow" } },
      "another volume": { spec: { volumeName: "w" } },
      "another note of its class": {
        metadata: { annotations: { "volume.beta.kubernetes.io/storage-class": "other" } },
      },
    },
  },
  {
    ...volume,
    good: {
      spec: {
        ...base,
        persistentVolumeReclaimPolicy: "Retain",
        storageClassName: "fast",
        volumeMode: "Filesystem",
        mountOptions: ["ro"],
        nodeAffinity: affinity,
        volumeAttributesClassName: "gold",
        csi: {
          driver: "a.io",
          volumeHandle: "h",
          nodePublishSecretRef: secret,
          controllerPublishSecretRef: secret,
          nodeExpandSecretRef: secret,
        },
      },
    },
    also: {
      "a negative size": { spec: { ...base, capacity: { storage: "-1" }, hostPath: { path: "/a" } } },
      "two sizes": { spec: { ...base, capacity: { storage: "1", cpu: "1" }, hostPath: { path: "/a" } } },
      "one pod and many": {
        spec: { ...base, accessModes: ["ReadWriteOncePod", "ReadOnlyMany"], hostPath: { path: "/a" } },
      },
      "two sources": { spec: { ...base, hostPath: { path: "/a" }, nfs: { server: "s", path: "/p" } } },
      "a path upwards": { spec: { ...base, hostPath: { path: "/a/../b" } } },
      "an unknown type of path": { spec: { ...base, hostPath: { path: "/a", type: "Magic" } } },
      "a root that is recycled": {
        spec: { ...base, hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" },
      },
      "a local place": { spec: { ...base, local: { path: "/a" } } },
      "a local place upwards": { spec: { ...base, local: { path: "/a/.." }, nodeAffinity: affinity } },
      "a driver with a long name": { spec: { ...base, csi: { driver: `a.${"x".repeat(63)}`, volumeHandle: "h" } } },
      "a comparison with two values": {
        spec: {
          ...base,
          hostPath: { path: "/a" },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Gt", values: ["1", "2"] }] }],
            },
          },
        },
      },
      "both kinds of names": { spec: { ...base, fc: { targetWWNs: ["a"], wwids: ["b"], lun: 1 } } },
      "a flocker with two names": { spec: { ...base, flocker: { datasetName: "a", datasetUUID: "b" } } },
      "a managed disk elsewhere": {
        spec: { ...base, azureDisk: { diskName: "d", diskURI: "https://x", kind: "Managed" } },
      },
      "options of Kubernetes": {
        spec: { ...base, flexVolume: { driver: "a.io/b", options: { "a.kubernetes.io/b": "c" } } },
      },
      "a qualified name that is none": { spec: { ...base, iscsi: { targetPortal: "p", iqn: "iqn.x", lun: 256 } } },
    },
    changes: {
      "another source": { spec: { csi: { volumeHandle: "i" } } },
      "a secret to expand it": { spec: { csi: { controllerExpandSecretRef: secret } } },
      "another mode": { spec: { volumeMode: "Block" } },
      "no class of attributes": { spec: { volumeAttributesClassName: null } },
      "another size": { spec: { capacity: { storage: "2Gi" } } },
    },
  },
  ...Object.entries(sources).map(([key, source]) => ({
    ...volume,
    label: `${key} volume`,
    name: `diff-spoilt-${key.toLowerCase()}`,
    good: { spec: { ...base, [key]: source } },
    onlyNew: true,
  })),
  {
    ...everywhere("storage.k8s.io/v1", "storageclasses", "StorageClass"),
    good: {
      provisioner: "a.io/b",
      parameters: { a: "b" },
      reclaimPolicy: "Retain",
      volumeBindingMode: "WaitForFirstConsumer",
      allowVolumeExpansion: true,
      mountOptions: ["ro"],
      allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["a", "b"] }] }],
    },
    also: {
      "an empty parameter": { parameters: { "": "x" } },
      "a key twice": {
        allowedTopologies: [
          {
            matchLabelExpressions: [
              { key: "zone", values: ["a"] },
              { key: "zone", values: ["b"] },
            ],
          },
        ],
      },
    },
    changes: { "other parameters": { parameters: { a: "c" } } },
  },
  {
    ...everywhere("storage.k8s.io/v1", "volumeattributesclasses", "VolumeAttributesClass"),
    good: { driverName: "a.io", parameters: { a: "b" } },
    changes: { "another driver": { driverName: "b.io" }, "other parameters": { parameters: { a: "c" } } },
  },
  {
    ...everywhere("storage.k8s.io/v1", "csidrivers", "CSIDriver"),
    good: {
      spec: {
        attachRequired: true,
        podInfoOnMount: true,
        fsGroupPolicy: "File",
        volumeLifecycleModes: ["Persistent", "Ephemeral"],
        requiresRepublish: true,
        seLinuxMount: true,
        storageCapacity: true,
        nodeAllocatableUpdatePeriodSeconds: 60,
      },
    },
    also: {
      "secrets without tokens": { spec: { serviceAccountTokenInSecrets: true } },
      "a token twice": { spec: { tokenRequests: [{ audience: "a" }, { audience: "a" }] } },
      "a short token": { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 60 }] } },
      "a long token": { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 4294967297 }] } },
    },
  },
  {
    ...everywhere("storage.k8s.io/v1", "csinodes", "CSINode"),
    good: {
      spec: {
        drivers: [{ name: "a.io", nodeID: "i", topologyKeys: ["a.io/zone"], allocatable: { count: 3 } }],
      },
    },
    also: {
      "a driver twice": {
        spec: {
          drivers: [
            { name: "a.io", nodeID: "i", topologyKeys: [] },
            { name: "a.io", nodeID: "i", topologyKeys: [] },
          ],
        },
      },
      "a long id": { spec: { drivers: [{ name: "a.io", nodeID: "x".repeat(257), topologyKeys: [] }] } },
    },
  },
  {
    ...everywhere("storage.k8s.io/v1", "volumeattachments", "VolumeAttachment"),
    good: { spec: { attacher: "a.io", nodeName: "n", source: { persistentVolumeName: "v" } } },
    also: {
      "an inline volume": {
        spec: {
          attacher: "a.io",
          nodeName: "n",
          source: { inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], csi: { driver: "a.io", volumeHandle: "h" } } },
        },
      },
      "an inline volume of a class": {
        spec: {
          attacher: "a.io",
          nodeName: "n",
          source: {
            inlineVolumeSpec: {
              ...base,
              storageClassName: "c",
              persistentVolumeReclaimPolicy: "Delete",
              volumeMode: "Block",
              claimRef: { name: "c" },
              nodeAffinity: affinity,
              hostPath: { path: "/a" },
            },
          },
        },
      },
      "both sources": {
        spec: { attacher: "a.io", nodeName: "n", source: { persistentVolumeName: "v", inlineVolumeSpec: {} } },
      },
    },
  },
  {
    ...inNamespace("storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity"),
    good: {
      storageClassName: "fast",
      nodeTopology: { matchLabels: { zone: "a" } },
      capacity: "1Gi",
      maximumVolumeSize: "1Gi",
    },
    also: { "a negative capacity": { capacity: "-1" } },
    changes: { "another class": { storageClassName: "slow" }, "another topology": { nodeTopology: null } },
  },
];

/** Volumes, claims and their classes, with each field wrong once. */
export const spoiltStorage: Script = {
  title: "fields of storage kinds",
  namespace: "diff-spoilt-storage",
  steps: specimens.flatMap(spoil),
};
