import { type Backend, objectAt, type Requester, storeKey, update } from "../../registry/index.ts";

/** Lets another client hold a Lease from now on, as if the holder had lost it. Nothing happens when there is none. */
export async function stealLease(
  backend: Backend,
  requester: Requester,
  namespace: string,
  name: string,
  thief: string,
): Promise<void> {
  const endpoint = backend.catalog.storage("coordination.k8s.io", "leases");
  if (!endpoint || !backend.store.get(endpoint.resource.table, storeKey(namespace, name))) return;
  const now = microTime(backend.clock.now());
  await update(
    backend,
    requester,
    { endpoint, namespace, name, subresource: undefined },
    { dryRun: false, fieldManager: thief, fieldValidation: "Ignore" },
    {
      by: "patch",
      tracked: false,
      next: (current) => {
        const spec = objectAt(current, "spec");
        const transitions = Number(spec.leaseTransitions ?? 0) + 1;
        return {
          ...structuredClone(current),
          spec: { ...spec, holderIdentity: thief, acquireTime: now, renewTime: now, leaseTransitions: transitions },
        };
      },
    },
  );
}

/** How a Lease writes points in time. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");
