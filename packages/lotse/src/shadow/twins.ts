/**
 * Children with generated names: the shadow's has another name than that of the version that works, and yet they are the
 * same child. Which one goes with which is told by the owner and by what is in them. Pure.
 */
import type { KubeBody } from "@lotse/client";
import { deepEqual, isObject, type ObjectKey } from "@lotse/client/meta";
import type { Aliases } from "./aliases.ts";
import { type Lens, normalForm } from "./normal-form.ts";

/** Objects that only one of the versions has made, and that wait for their counterpart. */
export class Unpaired {
  readonly #aliases: Aliases;
  readonly #waiting = new Map<ObjectKey, { readonly body: KubeBody; readonly place: string }>();
  /** By what counterparts have in common. */
  readonly #places = new Map<string, Set<ObjectKey>>();

  constructor(aliases: Aliases) {
    this.#aliases = aliases;
  }

  /** The object waits. */
  add(key: ObjectKey, body: KubeBody): void {
    this.delete(key);
    const place = placeOf(body, this.#aliases);
    this.#waiting.set(key, { body, place });
    this.#places.set(place, (this.#places.get(place) ?? new Set()).add(key));
  }

  /** The object waits no longer. */
  delete(key: ObjectKey): void {
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    this.#waiting.delete(key);
    const keys = this.#places.get(waiting.place);
    keys?.delete(key);
    if (keys?.size === 0) this.#places.delete(waiting.place);
  }

  /** The one that waits and is most like `body`, if one can be its counterpart at all. */
  twinOf(body: KubeBody, lens: Lens): ObjectKey | undefined {
    let best: { readonly key: ObjectKey; readonly alike: number } | undefined;
    for (const key of this.#places.get(placeOf(body, lens.aliases)) ?? []) {
      const alike = likeness(body, this.#waiting.get(key)?.body ?? {}, lens);
      if (alike !== undefined && (!best || alike > best.alike)) best = { key, alike };
    }
    return best?.key;
  }
}

/** Counterparts are in one namespace and have the same owners; those without an owner have the beginning of their name. */
function placeOf({ metadata = {} }: KubeBody, aliases: Aliases): string {
  const owners = (metadata.ownerReferences ?? []).map(({ uid }) => aliases.translate(uid)).sort();
  const common = owners.length > 0 ? owners.join() : `name ${metadata.generateName ?? metadata.name}`;
  return `${metadata.namespace ?? ""}/${common}`;
}

/** How many values two objects have in common; undefined when they cannot be the same. */
export function likeness(one: KubeBody, other: KubeBody, lens: Lens): number | undefined {
  const { generateName } = one.metadata ?? {};
  const [form, otherForm] = [normalForm(one, lens), normalForm(other, lens)];
  const sameName = generateName !== undefined && generateName === other.metadata?.generateName;
  // Names that a handler has made up by itself say nothing: then everything has to be the same.
  if (!sameName && !deepEqual(form, otherForm)) return undefined;
  return sharedLeaves(form, otherForm);
}

function sharedLeaves(a: unknown, b: unknown): number {
  if (isObject(a) && isObject(b)) {
    return Object.keys(a).reduce((sum, key) => sum + (Object.hasOwn(b, key) ? sharedLeaves(a[key], b[key]) : 0), 0);
  }
  if (Array.isArray(a) && Array.isArray(b)) return a.reduce<number>((sum, one, i) => sum + sharedLeaves(one, b[i]), 0);
  return deepEqual(a, b) ? 1 : 0;
}
