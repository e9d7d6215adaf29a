/** The patch object that handlers fill, and the arithmetic of merge patches. */
import type { KubeBody } from "@lotse/client";
import { isObject, type JsonObject } from "@lotse/client/meta";
import type { Patch } from "../declare/index.ts";

/** An empty patch for a handler to fill: its usual sections are there, so that `patch.status.x = 1` just works. */
export function emptyPatch(): Patch<KubeBody> {
  return { metadata: { labels: {}, annotations: {} }, spec: {}, status: {} } as Patch<KubeBody>;
}

/** What a handler wrote into its patch, as a merge patch; undefined when it wrote nothing. */
export function mergePatchOf(patch: Patch<KubeBody>): JsonObject | undefined {
  return prune(JSON.parse(JSON.stringify(patch)) as JsonObject, SECTIONS);
}

/** Sections of {@link emptyPatch}: when nobody wrote into them, they mean nothing, not "an empty object". */
type Sections = { readonly [key: string]: Sections | true };
const SECTIONS: Sections = { metadata: { labels: true, annotations: true }, spec: true, status: true };

function prune(value: JsonObject, sections: Sections): JsonObject | undefined {
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const section = sections[key];
    if (section === undefined || !isObject(item)) result[key] = item;
    else {
      const kept = section === true ? item : prune(item as JsonObject, section);
      if (kept && Object.keys(kept).length > 0) result[key] = kept as JsonObject;
    }
  }
  return Object.keys(result).length > 0 ? result : undefined;
}

/** One merge patch that does what `first` and then `second` do. */
export function combinePatches(first: JsonObject | undefined, second: JsonObject | undefined): JsonObject | undefined {
  if (!first || !second) return first ?? second;
  const result: JsonObject = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const before = result[key];
    result[key] =
      isObject(before) && isObject(value) ? combinePatches(before as JsonObject, value as JsonObject) : value;
  }
  return result;
}
