import { type BuiltinKind, decodeKind, decodeKinds } from "./decode.ts";
import { kindLines } from "./kinds.ts";

export type { BuiltinKind, BuiltinSubresource } from "./decode.ts";
export type * from "./types/index.ts";

/**
 * The kinds of Kubernetes' stable group versions, in the order of a server's discovery: the core group first.
 *
 * @example
 * ```ts
 * const pods = builtinKinds.find((kind) => kind.group === "" && kind.plural === "pods");
 * ```
 */
export const builtinKinds: readonly BuiltinKind[] = /* @__PURE__ */ decodeKinds(kindLines);

/** One of them, with no other one read: importing the client must not cost the whole table. */
export function findBuiltinKind(group: string, version: string, kind: string): BuiltinKind | undefined {
  for (const mark of ["*", ""]) {
    const start = kindLines.indexOf(`\n${group || "-"} ${version}${mark} ${kind} `);
    if (start >= 0) return decodeKind(kindLines.slice(start + 1, kindLines.indexOf("\n", start + 1)));
  }
  return undefined;
}
