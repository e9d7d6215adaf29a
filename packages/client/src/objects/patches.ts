/** What a patch may say, as far as the compiler knows the kind. */
import type { KubeBody } from "../kinds/index.ts";
import type { DeepReadonly, JsonPatchOperation } from "../meta/index.ts";
import type { PatchOptions } from "./options.ts";

/** A merge patch for `T`: any part of it, with `null` to remove a field. Lists are replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: MergePatch<T[K]> | null | undefined }
    : T;

/** The same, to be sent: parts of what was read, which is readonly, may be in it. */
export type ReadonlyMergePatch<T> = T extends readonly unknown[]
  ? DeepReadonly<T>
  : T extends object
    ? { readonly [K in keyof T]?: ReadonlyMergePatch<T[K]> | null | undefined }
    : T;

/**
 * A strategic merge patch for `T`: as a merge patch, but lists are merged by key, and `$patch` and the like say how.
 *
 * @example
 * ```ts
 * const image = { spec: { template: { spec: { containers: [{ name: "main", image: "nginx:2" }] } } } };
 * await client.patch(Deployment, "web", image, { type: "strategic" });
 * ```
 */
export type StrategicPatch<T> = T extends readonly (infer Item)[]
  ? readonly StrategicPatch<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: StrategicPatch<T[K]> | null | undefined } & {
        readonly [directive: `$${string}`]: unknown;
      }
    : T;

/** Subresources that have a form of their own; the body of the others is the object itself. */
export type ForeignForm = "scale" | "token" | "eviction" | "binding";

/**
 * What a patch of objects with the body `B` may be, with the options `O`: a merge patch of the kind or JSON patch
 * operations, unless the options say more. Kinds that are only known by name, and forms that are not the kind's, take
 * anything.
 *
 * @example
 * ```ts
 * await client.patch(Deployment, "web", { spec: { replicas: 3, paused: null } });
 * await client.patch(Deployment, "web", [{ op: "replace", path: "/spec/replicas", value: 3 }]);
 * ```
 */
export type PatchFor<B, O extends PatchOptions = PatchOptions> = O extends { readonly type: "json" }
  ? readonly JsonPatchOperation[]
  : KubeBody extends B
    ? object
    : O extends { readonly subresource: ForeignForm }
      ? object
      : O extends { readonly type: "strategic" }
        ? StrategicPatch<B>
        : ReadonlyMergePatch<B> | readonly JsonPatchOperation[];
