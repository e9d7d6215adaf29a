/** Measures what the objects of one kind take in memory, and says for whom. Pure. */
import { apiVersionOf, type KindDescription, type KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import type { Kept, KindReader } from "../declare/index.ts";
import type { FieldShare, KindMemory } from "../report/index.ts";

/** More are not measured: a few milliseconds, in which nothing else runs, have to be enough. */
const MOST_MEASURED = 200;
/** So many fields are told. */
const MOST_FIELDS = 3;

/** What was measured of some objects. */
interface Measured {
  readonly objects: number;
  readonly bytes: number;
  readonly fields: ReadonlyMap<string, number>;
}

/** See the module comment. `most`: how many objects are measured. */
export function kindMemory(
  kind: KindDescription,
  kept: Kept,
  objects: Iterable<KubeBody>,
  readers: readonly KindReader[],
  most = MOST_MEASURED,
): KindMemory {
  const all = [...objects];
  const { bytes, fields, objects: sampled } = measure(sample(all, most));
  const bytesPerObject = sampled === 0 ? 0 : Math.round(bytes / sampled);
  const largest = largestOf(fields, bytes);
  const hint = hintFor(kept, readers, largest);
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    objects: all.length,
    bytes: sampled === all.length ? bytes : bytesPerObject * all.length,
    bytesPerObject,
    ...(sampled < all.length && { sampled }),
    ...keepOf(kept),
    largest,
    readers: readers.map(({ as, id, kept: needed }) => ({ as, id, ...keepOf(needed) })),
    ...(hint !== undefined && all.length > 0 && { hint }),
  };
}

/** Evenly over all of them: the first ones may be those of one namespace. */
function sample<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  const step = all.length / most;
  return Array.from({ length: most }, (_, i) => all[Math.floor(i * step)] as T);
}

function measure(bodies: readonly KubeBody[]): Measured {
  const fields = new Map<string, number>();
  let bytes = 0;
  for (const body of bodies) {
    bytes += sizeOf(body);
    for (const [key, value] of Object.entries(body)) {
      if (!isObject(value)) add(fields, key, value);
      else for (const [inner, part] of Object.entries(value)) add(fields, `${key}.${inner}`, part);
    }
  }
  return { objects: bodies.length, bytes, fields };
}

function add(fields: Map<string, number>, path: string, value: unknown): void {
  fields.set(path, (fields.get(path) ?? 0) + sizeOf(value));
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

function largestOf(fields: ReadonlyMap<string, number>, bytes: number): FieldShare[] {
  return [...fields]
    .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .slice(0, MOST_FIELDS)
    .map(([path, size]) => ({ path, share: Math.round((size / bytes) * 1_000) / 1_000 }));
}

function keepOf(kept: Kept): { keep?: readonly string[] } {
  return kept === "all" ? {} : { keep: kept.map((path) => path.join(".")) };
}

/**
 * What is known is who needs all of the kind because they have not said otherwise. Which fields their functions look at
 * is not known, so that none is proposed. Where a handler works for the objects, or owns them, all is needed.
 */
function hintFor(kept: Kept, readers: readonly KindReader[], largest: readonly FieldShare[]): string | undefined {
  const [first] = largest.filter(({ path }) => !path.startsWith("metadata."));
  if (kept !== "all" || !first || readers.length === 0) return undefined;
  if (readers.some(({ as }) => as === "handler" || as === "owns")) return undefined;
  const whole = readers.filter((one) => one.kept === "all").map(({ as, id }) => `${id} (${as})`);
  if (whole.length === 0) return undefined;
  const names = [...new Set(whole)].join(", ");
  return `only read, and kept whole for want of keep: ${names}; what they do not read, such as ${first.path}, need not be kept`;
}
