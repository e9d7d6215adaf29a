/** Random objects, queries and changes, for property tests. */
import type { KubeBody } from "@lotse/client";
import { objectKey } from "@lotse/client/meta";
import fc from "fast-check";
import type { QueryInput } from "./query.ts";

const VALUES = ["red", "blue", ""];
const UIDS = ["owner-1", "owner-2"];

const labels = fc.option(
  fc.dictionary(fc.constantFrom("app", "tier"), fc.constantFrom(...VALUES), { maxKeys: 2, noNullPrototype: true }),
  { nil: undefined },
);

/** One of a few places, so that scripts meet the same object again and again. */
export const place = fc.record({
  namespace: fc.constantFrom("one", "two", undefined),
  name: fc.constantFrom("a", "b", "c"),
});

/** What can be asked of an object, beside where it is. */
export const shape = fc.record({
  labels,
  owners: fc.subarray(UIDS),
  node: fc.constantFrom("n1", "n2", undefined),
});

type Place = { readonly namespace: string | undefined; readonly name: string };
type Shape = {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly owners: readonly string[];
  readonly node: string | undefined;
};

/** An object at a place; every version has a number of its own. */
export function bodyOf({ namespace, name }: Place, { labels, owners, node }: Shape, uid: string, version: number) {
  const ownerReferences = owners.map((owner) => ({ apiVersion: "v1", kind: "Thing", name: owner, uid: owner }));
  const metadata = {
    name,
    uid,
    resourceVersion: String(version),
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    ...(owners.length > 0 && { ownerReferences }),
  };
  return { metadata, ...(node && { spec: { nodeName: node } }) } as KubeBody;
}

/** Queries of every form that a reconciler can ask. */
export const query: fc.Arbitrary<QueryInput> = fc.record({
  namespace: fc.constantFrom("one", "two", undefined),
  labelSelector: fc.constantFrom(
    undefined,
    "app=red",
    "app=",
    "app=red,tier=blue",
    "app!=red",
    "app in (red,blue)",
    "app in (blue)",
    "!app",
    "tier",
    "app notin (red),tier=red",
  ),
  fieldSelector: fc.constantFrom(
    undefined,
    "spec.nodeName=n1",
    "spec.nodeName!=n1",
    "spec.nodeName=",
    "metadata.name=a",
  ),
  owner: fc.constantFrom(undefined, ...UIDS),
});

/** What happens to the object at a place: it is made, changed, replaced by one of the same name, or deleted. */
export const event = fc.record({
  place,
  shape,
  what: fc.constantFrom("put" as const, "put" as const, "replace" as const, "delete" as const),
});
/** One change of the test's objects. */
export type ObjectEvent = { readonly place: Place; readonly shape: Shape; readonly what: "put" | "replace" | "delete" };

/** The objects of a cluster, as a list of changes makes them. */
export class TestObjects {
  readonly all = new Map<string, KubeBody>();
  #version = 0;

  get(key: string): KubeBody | undefined {
    return this.all.get(key);
  }

  values(): IterableIterator<KubeBody> {
    return this.all.values();
  }

  /** Makes an event happen; undefined when there is nothing to delete. */
  happen({ place, shape, what }: ObjectEvent): { before: KubeBody | undefined; now: KubeBody | undefined } | undefined {
    const key = `${place.namespace ?? ""}/${place.name}`;
    const before = this.all.get(key);
    if (what === "delete") {
      this.all.delete(key);
      return before && { before, now: undefined };
    }
    const version = ++this.#version;
    const uid = (what === "put" && before?.metadata?.uid) || `uid-${version}`;
    const now = bodyOf(place, shape, uid, version);
    this.all.set(objectKey(now), now);
    return { before, now };
  }
}

/** Whether an object is what is asked for, in the words of the server and without any index. */
export function naivelyMatches(input: QueryInput, body: KubeBody): boolean {
  const { namespace, labels = {}, ownerReferences = [], name } = body.metadata ?? {};
  const { nodeName = "" } = (body.spec ?? {}) as { nodeName?: string };
  if (input.namespace !== undefined && input.namespace !== namespace) return false;
  if (input.owner !== undefined && !ownerReferences.some(({ uid }) => uid === input.owner)) return false;
  const { app, tier } = labels;
  const byLabel: Record<string, boolean> = {
    "app=red": app === "red",
    "app=": app === "",
    "app=red,tier=blue": app === "red" && tier === "blue",
    "app!=red": app !== "red",
    "app in (red,blue)": app === "red" || app === "blue",
    "app in (blue)": app === "blue",
    "!app": app === undefined,
    tier: tier !== undefined,
    "app notin (red),tier=red": app !== "red" && tier === "red",
  };
  const byField: Record<string, boolean> = {
    "spec.nodeName=n1": nodeName === "n1",
    "spec.nodeName!=n1": nodeName !== "n1",
    "spec.nodeName=": nodeName === "",
    "metadata.name=a": name === "a",
  };
  const { labelSelector, fieldSelector } = input as { labelSelector?: string; fieldSelector?: string };
  return (
    (labelSelector ? byLabel[labelSelector] : true) === true && (fieldSelector ? byField[fieldSelector] : true) === true
  );
}
