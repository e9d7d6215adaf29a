import { capabilities } from "./baseline.ts";
import { type Container, type Found, record, type Subject } from "./subject.ts";
import { named, plural, quoted, setters, sortedSet } from "./wording.ts";

/** Whether a pod says that it is for Windows, which knows nothing of most of this. */
export const isWindows = ({ spec }: Subject): boolean => record(spec.os).name === "windows";

/** Every container says that it gets no more rights than it began with. */
export function escalation({ containers }: Subject): Found {
  const bad = containers.filter(({ security }) => security.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  const detail = `${named(bad)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: "allowPrivilegeEscalation != false", detail };
}

/** Every container drops all capabilities; only one may come back. */
export function fewCapabilities({ containers }: Subject): Found {
  const odd = (container: Container) => capabilities(container, "add").filter((name) => name !== "NET_BIND_SERVICE");
  const keeping = containers.filter((container) => !capabilities(container, "drop").includes("ALL"));
  const adding = containers.filter((container) => odd(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) details.push(`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const names = quoted(sortedSet(adding.flatMap(odd)));
    details.push(`${named(adding)} must not include ${names} in securityContext.capabilities.add`);
  }
  return details.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: details.join("; ") };
}

const PLAIN_VOLUMES = [
  ...["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected"],
  "secret",
];
const OTHER_VOLUMES = [
  ...["hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd"],
  ...["flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk"],
  ...["photonPersistentDisk", "portworxVolume", "scaleIO", "storageos"],
];

/** Volumes that reach nothing but what the cluster itself hands out. */
export function volumeTypes({ spec }: Subject): Found {
  const volumes = Array.isArray(spec.volumes) ? spec.volumes.map(record) : [];
  const bad = volumes.filter((volume) => !PLAIN_VOLUMES.some((type) => volume[type] !== undefined));
  if (bad.length === 0) return undefined;
  const types = sortedSet(bad.map((volume) => OTHER_VOLUMES.find((type) => volume[type] !== undefined) ?? "unknown"));
  const names = quoted(bad.map(({ name }) => String(name)));
  const what = plural(types.length, "restricted volume type", "restricted volume types");
  const detail = `${plural(bad.length, "volume", "volumes")} ${names} ${plural(bad.length, "uses", "use")} ${what} ${quoted(types)}`;
  return { reason: "restricted volume types", detail };
}

/** The pod or each container says that it does not run as root. */
export function nonRoot({ security, containers }: Subject): Found {
  const reason = "runAsNonRoot != true";
  const explicit = containers.filter((container) => container.security.runAsNonRoot === false);
  const who = setters(security.runAsNonRoot === false, explicit);
  if (who !== "") return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  if (security.runAsNonRoot === true) return undefined;
  const silent = containers.filter((container) => container.security.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${named(silent)} must set securityContext.runAsNonRoot=true` };
}

/** No container asks for root by its number. */
export function notUserZero({ security, containers }: Subject): Found {
  const bad = containers.filter((container) => container.security.runAsUser === 0);
  const who = setters(security.runAsUser === 0, bad);
  return who === "" ? undefined : { reason: "runAsUser=0", detail: `${who} must not set runAsUser=0` };
}
