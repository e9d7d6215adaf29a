import { type ApiObject, fromStore, listAt, objectAt, parseStoreKey, storeKey } from "../registry/index.ts";
import type { Store } from "../store/index.ts";

/** The keys of the claims that a pod names. */
export function claimKeys(pod: ApiObject): string[] {
  return listAt(pod, "spec", "volumes").flatMap((volume) => {
    const { claimName } = objectAt(volume, "persistentVolumeClaim");
    return typeof claimName === "string" ? [storeKey(pod.metadata.namespace, claimName)] : [];
  });
}

/** Why a pod's claims keep it from having a node; undefined when they do not. */
export function claimRefusal(store: Store, pod: ApiObject): string | undefined {
  for (const key of claimKeys(pod)) {
    const entry = store.get("persistentvolumeclaims", key);
    const { name } = parseStoreKey(key);
    if (!entry) return `persistentvolumeclaim "${name}" not found`;
    const claim = fromStore(entry.object);
    if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
    if (objectAt(claim, "status").phase !== "Bound" && !waitsForPod(store, claim)) {
      return "pod has unbound immediate PersistentVolumeClaims";
    }
  }
  return undefined;
}

/** Where the class says so, the volume comes after the pod has its node. */
function waitsForPod(store: Store, claim: ApiObject): boolean {
  const { storageClassName } = objectAt(claim, "spec");
  const entry = store.get("storageclasses.storage.k8s.io", String(storageClassName ?? ""));
  return entry !== undefined && fromStore(entry.object).volumeBindingMode === "WaitForFirstConsumer";
}
