import type { Store } from "../store/index.ts";
import { objectAt } from "./object.ts";

/** The range that Services get their addresses from; its first address is the API server's own. */
const PREFIX = "10.96.";
const ADDRESSES = 65_534;
export const API_SERVER_IP = `${PREFIX}0.1`;

/** Hands out addresses that no stored Service has. The store is the only memory, so nothing can leak. */
export function createClusterIpAllocator(store: Store): (wanted: string | undefined) => string | undefined {
  let next = 2;
  return (wanted) => {
    const used = new Set(store.list("services").map((entry) => objectAt(entry.object, "spec").clusterIP));
    if (wanted !== undefined) return used.has(wanted) ? undefined : wanted;
    for (let tries = 0; tries < ADDRESSES; tries++) {
      const address = `${PREFIX}${next >> 8}.${next & 0xff}`;
      next = next >= ADDRESSES ? 2 : next + 1;
      if (!used.has(address)) return address;
    }
    return undefined;
  };
}
