/** What the writes of an operator tell: whom they hit, and what they have left behind. Pure. */
import type { Actor } from "lotse";
import { isNote, type StoredBody, titleOf } from "../objects/index.ts";
import type { Violation } from "./violation.ts";
import type { SeenObject, SeenWrite } from "./witness.ts";

/** Writes of a handler to an object, or to what belongs to an object, that only has the name of the handler's own. */
export function otherUids(writes: readonly SeenWrite[]): Violation[] {
  const kindsOf = new Map<string, SeenObject>();
  for (const { actor } of writes) {
    const { object } = actor ?? {};
    if (object?.uid !== undefined)
      kindsOf.set(object.uid, {
        ...object,
        namespace: object.namespace,
        uid: object.uid,
        owners: [],
        isDeleting: false,
      });
  }
  const found = new Map<string, Violation>();
  for (const { actor, verb, object } of writes) {
    const mine = actor?.object;
    if (mine?.uid === undefined || object.uid === undefined) continue;
    const sameName = isSame(mine, object);
    const hitsOther = sameName && object.uid !== mine.uid;
    // A child of the one that came after: its owner has the name of the handler's object, and another uid.
    const owner = object.owners
      .map((uid) => kindsOf.get(uid))
      .find((one) => one && isSame(mine, one) && one.uid !== mine.uid);
    if (!hitsOther && !(owner && !object.owners.includes(mine.uid))) continue;
    const target = title(object);
    const what = `${by(actor)} worked for ${title(mine)} (uid ${mine.uid}) and wrote (${verb}) to ${
      hitsOther
        ? `the one that has its name now (uid ${object.uid})`
        : `${target}, which belongs to the one that has its name now (uid ${owner?.uid})`
    }`;
    found.set(`${verb} ${target} ${mine.uid}`, {
      oracle: "otherUid",
      what,
      todo: "say which one is meant: patch with { uid }, end the work when context.signal aborts",
    });
  }
  return [...found.values()];
}

/** What holds data of others: whoever leaves it there is careful, and no orphan-maker. */
const KEPT = new Set(["Namespace", "PersistentVolumeClaim", "PersistentVolume"]);

/** What was made for an object that is gone, and is still there without an owner. */
export function orphans(writes: readonly SeenWrite[], objects: readonly StoredBody[]): Violation[] {
  const alive = new Map(objects.map((body) => [body.metadata.uid, body]));
  const made = new Map<string, SeenWrite[]>();
  for (const write of writes) {
    if (write.object.uid === undefined || !alive.has(write.object.uid)) continue;
    const known = made.get(write.object.uid);
    if (known) known.push(write);
    else if (write.verb === "create" || write.verb === "apply") made.set(write.object.uid, [write]);
  }
  return [...made].flatMap(([uid, all]) => {
    const body = alive.get(uid) as StoredBody;
    const [first] = all;
    const maker = first?.actor?.object;
    if (
      isNote(body) ||
      KEPT.has(body.kind) ||
      body.metadata.deletionTimestamp !== undefined ||
      maker?.uid === undefined
    )
      return [];
    const owners = body.metadata.ownerReferences ?? [];
    if (owners.length > 0) {
      if (owners.some((owner) => alive.has(owner.uid))) return [];
      const what = `${titleOf(body)} is still there, and its owner is not: ${owners.map(({ kind, name }) => `${kind} ${name}`).join(", ")}`;
      return [{ oracle: "orphans" as const, what, todo: "check kind, uid and namespace of the owner reference" }];
    }
    // One that somebody has written for who is still there is shared; one that had an owner was let go on purpose.
    if (all.some(({ actor, object }) => object.owners.length > 0 || isAlive(actor, alive))) return [];
    // What is made while its object goes, a last backup, is meant to outlive it.
    if (first?.actor && wasDeleting(first, writes)) return [];
    if (body.apiVersion !== "" && othersOwn(body)) return [];
    const what = `${by(first?.actor)} made ${titleOf(body)} for ${title(maker)}, which is gone, and nobody deletes it`;
    return [{ oracle: "orphans" as const, what, todo: "give it an owner with adopt(), or delete it in on.delete" }];
  });
}

function isAlive(actor: Actor | undefined, alive: ReadonlyMap<string, unknown>): boolean {
  // What an operator makes for itself, at its start, belongs to no object.
  return actor?.object === undefined || (actor.object.uid !== undefined && alive.has(actor.object.uid));
}

/** Whether the maker was on its way out when it made this: its own writes had shown that before. */
function wasDeleting(write: SeenWrite, writes: readonly SeenWrite[]): boolean {
  const uid = write.actor?.object?.uid;
  return writes.slice(0, writes.indexOf(write)).some(({ object }) => object.uid === uid && object.isDeleting);
}

/** Whether somebody else has a say in the object: then an apply has only joined in. */
function othersOwn({ metadata }: StoredBody): boolean {
  const managers = (metadata.managedFields ?? []) as readonly { manager?: string; subresource?: string }[];
  const names = managers.filter(({ subresource }) => subresource === undefined).map(({ manager }) => manager);
  return new Set(names).size > 1;
}

/** `handler publish` */
export function by(actor: Actor | undefined): string {
  if (!actor || actor.handlers.length === 0) return "the operator";
  return `${actor.handlers.length === 1 ? "handler" : "handlers"} ${actor.handlers.join(", ")}`;
}

function title({
  kind,
  namespace,
  name,
}: Pick<SeenObject, "kind" | "name"> & { readonly namespace?: string | undefined }): string {
  return titleOf({ kind, metadata: { name, ...(namespace !== undefined && { namespace }) } });
}

function isSame(
  a: { readonly kind: string; readonly namespace?: string | undefined; readonly name: string },
  b: { readonly kind: string; readonly namespace?: string | undefined; readonly name: string },
): boolean {
  return a.kind === b.kind && a.name === b.name && a.namespace === b.namespace;
}
