/**
 * Shards of a collection, as API servers cut them (KEP-5866, alpha in Kubernetes 1.36 behind the gate
 * ShardedListAndWatch): by ranges of the hash of an object's uid or namespace.
 */
import { ConfigError } from "./errors.ts";
import { fnv1a64 } from "./hash.ts";

/** From `from` to before `to`, of the numbers from 0 to 2^64. */
export interface ShardRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Which part of a collection is meant: objects of whose uid or namespace the hash lies in one of the ranges. */
export interface ShardSelector {
  readonly by: "uid" | "namespace";
  readonly ranges: readonly ShardRange[];
}

/** One more than the largest hash. */
export const SHARD_HASH_END = 2n ** 64n;

/**
 * One of `total` equal parts.
 *
 * @example
 * ```ts
 * const first = shardOf(0, 4); // a quarter of all objects
 * const isInIt = shardMatcher(first);
 * ```
 */
export function shardOf(index: number, total: number, by: ShardSelector["by"] = "uid"): ShardSelector {
  if (!Number.isInteger(total) || !Number.isInteger(index) || index < 0 || index >= total) {
    throw new ConfigError(`there is no shard ${index} of ${total}`, { hint: "shards are counted from 0 to total - 1" });
  }
  const span = SHARD_HASH_END / BigInt(total);
  const from = span * BigInt(index);
  return { by, ranges: [{ from, to: index === total - 1 ? SHARD_HASH_END : from + span }] };
}

/** The selector as a server reads it, in the form in which it says it again. */
export function formatShardSelector({ by, ranges }: ShardSelector): string {
  if (ranges.length === 0) {
    throw new ConfigError("a shard without ranges has no objects, and a server cannot be asked for it", {
      hint: "do not ask for what is empty",
    });
  }
  const hex = (value: bigint) => `'0x${value.toString(16).padStart(16, "0")}'`;
  return ranges.map(({ from, to }) => `shardRange(object.metadata.${by}, ${hex(from)}, ${hex(to)})`).join(" || ");
}

/** What a selector looks at. */
interface Sharded {
  readonly metadata?: { readonly uid?: string | undefined; readonly namespace?: string | undefined } | undefined;
}

/**
 * Decides whether objects are in a shard, as a server does: for servers that know nothing of shards.
 *
 * @example
 * ```ts
 * const isMine = shardMatcher(shardOf(0, 2));
 * const mine = [{ metadata: { uid: "3f6c" } }, { metadata: { uid: "9a01" } }].filter(isMine);
 * ```
 */
export function shardMatcher({ by, ranges }: ShardSelector): (body: Sharded) => boolean {
  const halves = ranges.map(({ from, to }) => ({ from: split(from), to: split(to) }));
  return ({ metadata }) => {
    const hash = fnv1a64(metadata?.[by] ?? "");
    return halves.some(({ from, to }) => !isLess(hash, from) && isLess(hash, to));
  };
}

interface Halves {
  readonly high: number;
  readonly low: number;
}

function split(value: bigint): Halves {
  return { high: Number(value >> 32n), low: Number(value & 0xffffffffn) };
}

function isLess(a: Halves, b: Halves): boolean {
  return a.high === b.high ? a.low < b.low : a.high < b.high;
}
