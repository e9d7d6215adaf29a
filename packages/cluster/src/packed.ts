/**
 * The cluster for programs that are nothing else, as `lotse cluster`: with the code that was compiled for it in an earlier
 * run of such a program. It is the same cluster as that of `@lotse/cluster`, loaded a second time where both are used.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as kinds from "@lotse/client/kinds";
import * as meta from "@lotse/client/meta";
import type * as cluster from "./cluster.ts";
import { CodeCache, codeFolder, openPack } from "./compiled/index.ts";

/** What a program needs of a cluster. */
export interface PackedCluster {
  readonly Cluster: typeof cluster.Cluster;
  /** Keeps compiled code for the next start, once this one is over; false when there is nothing to keep it in. */
  keep(): boolean;
}

/**
 * Loads the cluster. Where there is no pack, as in a bundle that somebody else made, it is loaded as ever.
 *
 * @example
 * ```ts
 * const { Cluster, keep } = await loadPacked();
 * await using cluster = await Cluster.start();
 * keep();
 * ```
 */
export async function loadPacked(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<PackedCluster> {
  const place = fileURLToPath(new URL("./pack", import.meta.url));
  if (!existsSync(place)) return { ...(await import("./cluster.ts")), keep: () => false };
  const folder = codeFolder(env);
  const pack = openPack(place, {
    cache: folder === undefined ? undefined : new CodeCache(folder),
    // Not its own copies: an error is the same class for everybody.
    provided: { "@lotse/client/meta": meta, "@lotse/client/kinds": kinds },
  });
  return { ...pack.load<typeof cluster>("cluster"), keep: () => pack.keep() };
}
