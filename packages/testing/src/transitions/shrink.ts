/** A walk that shows a mistake, made as short as it can be, each try in clusters of its own. */
import { isObject } from "@lotse/client/meta";
import { type SchemaNode, validateValue } from "lotse/samples";
import type { TransitionFailure } from "./findings.ts";
import type { Spec } from "./specs.ts";

const MOST_TRIES = 16;

/** The smallest failure that was found; undefined when the walk does not show it where nothing was before. */
export async function shrinkWalk(
  failure: TransitionFailure,
  schema: SchemaNode,
  isValid: (spec: Spec) => boolean,
  walk: (specs: readonly Spec[]) => Promise<TransitionFailure | undefined>,
): Promise<TransitionFailure | undefined> {
  if (failure.mistake === "not refused") return failure;
  let best = await walk(failure.walk);
  if (!best) return undefined;
  let left = MOST_TRIES;
  for (let smaller = true; smaller && left > 0; ) {
    smaller = false;
    for (const candidate of candidates(best.walk, schema)) {
      if (left-- <= 0) break;
      if (!candidate.every((spec) => validateValue(spec, schema).length === 0 && isValid(spec))) continue;
      const found = await walk(candidate);
      if (found?.mistake !== best.mistake) continue;
      best = found;
      smaller = true;
      break;
    }
  }
  return best;
}

/** Fewer steps, then fewer fields in all of them. */
function* candidates(walk: readonly Spec[], schema: SchemaNode): Generator<readonly Spec[]> {
  if (walk.length > 2) yield walk.slice(-2);
  if (walk.length > 3) yield walk.slice(-3);
  const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
  const names = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  for (const name of names) {
    if (required.has(name) || !walk.some((spec) => spec[name] !== undefined)) continue;
    const values = new Set(walk.map((spec) => JSON.stringify(spec[name])));
    // A field that changes is what the walk is about.
    if (values.size > 1) continue;
    yield walk.map(({ [name]: _, ...rest }) => rest);
  }
}
