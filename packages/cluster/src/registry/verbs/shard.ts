/** Reads shard selectors: the form in which clients write them, of all that CEL allows. Pure. */
import { SHARD_HASH_END, type ShardSelector } from "@lotse/client/meta";

const TERM = /^shardRange\(object\.metadata\.(uid|namespace), '0x([0-9a-f]{16,17})', '0x([0-9a-f]{16,17})'\)$/;

/** Reads what `formatShardSelector` writes; undefined for every other text. */
export function parseShardSelector(text: string): ShardSelector | undefined {
  const terms = text.split(" || ").map((term) => TERM.exec(term.trim()));
  const [first] = terms;
  if (!first || terms.some((term) => term?.[1] !== first[1])) return undefined;
  const ranges = (terms as RegExpExecArray[]).map(([, , from, to]) => ({
    from: BigInt(`0x${from}`),
    to: BigInt(`0x${to}`),
  }));
  if (ranges.some(({ from, to }) => from >= to || to > SHARD_HASH_END)) return undefined;
  return { by: first[1] as ShardSelector["by"], ranges };
}
