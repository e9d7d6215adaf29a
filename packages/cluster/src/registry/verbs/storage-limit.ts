/**
 * An object is stored in one request to etcd, which takes 1.5 MiB of it; the API server's own connection to etcd ends at
 * 2 MiB. Both refuse with the words that a real server passes on.
 */
import { byteLength } from "@lotse/client/meta";
import { bareInternal } from "../errors.ts";
import type { ApiObject } from "../object.ts";

const ETCD_BYTES = 1_572_864;
const MESSAGE_BYTES = 2_097_152;
/** What a request has beside the value: the key, its lease, the comparison of versions. */
const REQUEST_BYTES = 120;

/** Throws when the object is too large to be stored. */
export function assertStorable(object: ApiObject, key: string): void {
  if (isSmall(object, ETCD_BYTES / 6)) return;
  const bytes = byteLength(JSON.stringify(object)) + key.length + REQUEST_BYTES;
  if (bytes > MESSAGE_BYTES) {
    throw bareInternal(
      `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${bytes} vs. ${MESSAGE_BYTES})`,
    );
  }
  if (bytes > ETCD_BYTES) throw bareInternal("etcdserver: request is too large");
}

/** Whether a value has certainly fewer characters than `limit`, without writing it out; one may take six bytes as JSON. */
function isSmall(value: unknown, limit: number): boolean {
  return spent(value, limit) > 0;
}

/** What is left of `budget` after the characters of `value`; not above 0 when they are too many. */
function spent(value: unknown, budget: number): number {
  let left = budget - 16;
  if (typeof value === "string") return left - value.length;
  if (typeof value !== "object" || value === null) return left;
  for (const key in value) {
    left = spent((value as Record<string, unknown>)[key], left - key.length);
    if (left <= 0) return left;
  }
  return left;
}
