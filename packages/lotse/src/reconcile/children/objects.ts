/** Children in the cluster: built, compared, applied, deleted. Whatever is not proven to be ours is not touched. */
import { type Client, ConflictError, type KindDescription, type KubeBody, KubeObject } from "@lotse/client";
import { diff, objectKey } from "@lotse/client/meta";
import { PermanentError, type ReconcileContext, TemporaryError } from "../../declare/index.ts";
import { appendOwnerReference, digestOf, essenceOf, isDeleting } from "../../turn/index.ts";
import { partOf, shows } from "./compare.ts";
import type { Desired } from "./desired.ts";
import { answerDrift, noteRepair, repairPause } from "./drift.ts";
import { type ChildState, type Keeping, stateOf, type WantedObject } from "./keeping.ts";
import { driftIn } from "./managed.ts";
import { isAppliedBy, isOurs, markAnnotation, type OperatorNames, readMark, writeMark } from "./marks.ts";
import { readinessOf } from "./readiness.ts";
import { asStored, sameIn } from "./stored.ts";
import { takeOver } from "./take-over.ts";
import { childText, tellChild } from "./tell.ts";

/** Builds what will be applied: in its namespace, with its owner and our mark. */
export async function wantedObject(keeping: Keeping, desired: Desired): Promise<WantedObject> {
  const { operator, handler, session, context } = keeping;
  const { key, after, readyWhen, thing } = desired;
  if (thing.type !== "object") throw new TypeError("an external thing is no object");
  const { client } = context;
  const source = thing.child instanceof KubeObject ? thing.child : client.object(thing.child);
  const kind = await client.describe(source);
  const body = asStored(source.toManifest() as KubeBody);
  const manifest: KubeBody = {
    ...body,
    metadata: { ...body.metadata, ...(kind.namespaced && { namespace: namespaceOf(body, key, context) }) },
  };
  try {
    const owner = { body: context.body as KubeBody, kind: context.resource };
    appendOwnerReference(manifest, { owner, isNamespaced: () => kind.namespaced });
  } catch (error) {
    const { message, hint } = error as { message: string; hint?: string };
    throw new PermanentError(hint ? `${message}: ${hint}` : message, { cause: error });
  }
  const digest = digestOf(manifest);
  const mark = writeMark({ by: handler.id, of: context.uid, key, after, digest });
  const annotations = { ...manifest.metadata?.annotations, [markAnnotation(operator)]: mark };
  const marked = { ...manifest, metadata: { ...manifest.metadata, annotations } };
  return {
    key,
    after,
    readyWhen,
    kind,
    view: await session.view(kind),
    at: objectKey(marked),
    manifest: marked,
    digest,
  };
}

function namespaceOf({ metadata, kind }: KubeBody, key: string, { namespace }: ReconcileContext<KubeBody>): string {
  const found = metadata?.namespace ?? namespace;
  if (found !== undefined) return found;
  throw new PermanentError(
    `the child "${key}" needs metadata.namespace: ${kind} lives in a namespace, its parent does not`,
  );
}

/** Makes the child what it shall be, if it is not. */
export async function keepObject(keeping: Keeping, wanted: WantedObject): Promise<ChildState> {
  const { context } = keeping;
  const { view, at, kind, manifest } = wanted;
  const { name = "", namespace } = manifest.metadata ?? {};
  const known = view.lookup.get(at);
  if (!known && !(await keeping.parentLives())) {
    return stateOf(wanted, "ParentGone", { ready: false, message: "its parent is gone" });
  }
  const created = known ? undefined : await create(context.client, wanted);
  if (created) {
    tellChild(keeping, "created", childText(kind, manifest, context.namespace));
    return accept(keeping, wanted, created);
  }
  // What the stream has not shown is another client's, or our own whose answer was lost: the server knows.
  const live = known ?? (await context.get.live(kind, name, { namespace }))?.body;
  if (!live) throw new TemporaryError(`${kind.kind} ${name} was there, and is gone again`);
  const held = hindrance(keeping, wanted, live);
  if (held) return held;
  if (!isMarked(keeping, wanted, live)) return change(keeping, wanted, live);
  return isAsWanted(keeping, wanted, live) ? judge(wanted, live) : mend(keeping, wanted, live);
}

/** Why a child that is there cannot be worked on. */
function hindrance(keeping: Keeping, wanted: WantedObject, live: KubeBody): ChildState | undefined {
  const { names, handler, reader, session, context } = keeping;
  const { view, at, kind } = wanted;
  if (!isOurs(names, handler.id, context.uid, live)) {
    session.note(view.reads.object(at, reader));
    return stateOf(wanted, "NameTaken", { ready: false, message: takenBy(names, kind, live) });
  }
  return isDeleting(live) ? stateOf(wanted, "Deleting", readinessOf(live)) : undefined;
}

/** Whether the mark says that this is what was applied last. */
function isMarked({ operator }: Keeping, { manifest }: WantedObject, live: KubeBody): boolean {
  const name = markAnnotation(operator);
  return live.metadata?.annotations?.[name] === manifest.metadata?.annotations?.[name];
}

/** Whether no other client has changed what we applied. */
function isAsWanted({ reader }: Keeping, wanted: WantedObject, live: KubeBody): boolean {
  const { manifest, kind, key } = wanted;
  const { accepted, kept } = reader.notes.get(key) ?? {};
  if (shows(live, manifest, sameIn(kind))) {
    // The next drift is another one, also if it is the same again.
    if (kept !== undefined) reader.notes.set(key, { kept: undefined });
    return true;
  }
  return accepted !== undefined && accepted === acceptedDigest(wanted, live);
}

function acceptedDigest({ manifest, digest }: WantedObject, live: KubeBody): string {
  return digestOf({ digest, part: partOf(live, manifest) } as never);
}

/** The server has this, and it is what it made of what we applied. */
function accept({ reader }: Keeping, wanted: WantedObject, live: KubeBody): ChildState {
  const { manifest, kind, key } = wanted;
  const accepted = shows(live, manifest, sameIn(kind)) ? undefined : acceptedDigest(wanted, live);
  // Of most children nothing has to be remembered.
  if (accepted !== reader.notes.get(key)?.accepted) reader.notes.set(key, { accepted });
  return judge(wanted, live);
}

/** Something else is wanted than what was applied last. */
async function change(keeping: Keeping, wanted: WantedObject, live: KubeBody): Promise<ChildState> {
  const { context } = keeping;
  await takeOver(keeping, wanted.kind, live);
  const written = await apply(context.client, wanted, live);
  const fields = diff(essenceOf(live), essenceOf(written)).map(({ path }) => path.join("."));
  tellChild(keeping, "changed", childText(wanted.kind, wanted.manifest, context.namespace), { fields });
  return accept(keeping, wanted, written);
}

/** The child does not look like what was applied. The API server knows whether another client has changed it. */
async function mend(keeping: Keeping, wanted: WantedObject, known: KubeBody): Promise<ChildState> {
  const { operator, context, reader } = keeping;
  const { kind, manifest, key } = wanted;
  const { name = "", namespace } = manifest.metadata ?? {};
  const pause = repairPause(keeping, wanted);
  if (pause > 0) return contested(wanted, pause);
  const live = (await context.get.live(kind, name, { namespace }))?.body;
  if (!live || live.metadata?.uid !== known.metadata?.uid) throw replaced();
  const held = hindrance(keeping, wanted, live);
  if (held) return held;
  if (!isMarked(keeping, wanted, live)) return change(keeping, wanted, live);
  const fields = driftIn(live, manifest, operator, sameIn(kind));
  if (fields.length === 0) return accept(keeping, wanted, live);
  if ((await answerDrift(keeping, wanted, live, fields)) === "keep") {
    // A function is asked each time; a constant need not be.
    if (keeping.handler.children?.onDrift === "keep") reader.notes.set(key, { accepted: acceptedDigest(wanted, live) });
    return judge(wanted, live);
  }
  const written = await apply(context.client, wanted, live);
  noteRepair(keeping, wanted, fields);
  return accept(keeping, wanted, written);
}

function contested(wanted: WantedObject, againMs: number): ChildState {
  const message = "somebody else changes it again and again, so its repair is slowed down";
  return { ...stateOf(wanted, "Contested", { ready: false, message }), againMs };
}

/** What is not there is created, and never laid over something of another owner's; undefined when the name is taken. */
async function create(client: Client, { kind, manifest }: WantedObject): Promise<KubeBody | undefined> {
  try {
    return (await client.apply(new KubeObject(manifest, client, kind), { absent: true })).body;
  } catch (error) {
    if (error instanceof ConflictError) return undefined;
    throw error;
  }
}

/** What is ours we keep, against others. */
async function apply(client: Client, { kind, manifest }: WantedObject, live: KubeBody): Promise<KubeBody> {
  const { uid } = live.metadata ?? {};
  try {
    return (await client.apply(new KubeObject(manifest, client, kind), { force: true, uid })).body;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw replaced(error);
  }
}

/** Without a delay of its own: a stream that is late would be asked for over and over, and wakes us when it comes. */
function replaced(cause?: unknown): TemporaryError {
  return new TemporaryError("the child was replaced by another one meanwhile", { cause });
}

function takenBy(names: OperatorNames, { kind }: KindDescription, live: KubeBody): string {
  const mark = readMark(names, live);
  if (mark) return `${kind} ${live.metadata?.name} belongs to another parent`;
  return `${kind} ${live.metadata?.name} is there already and was not made by this operator: rename the child, or delete that object`;
}

function judge(wanted: WantedObject, live: KubeBody): ChildState {
  if (!wanted.readyWhen) {
    const readiness = readinessOf(live);
    return stateOf(wanted, readiness.ready ? "Ready" : readiness.failed ? "Failed" : "NotReady", readiness);
  }
  const { kindClass, kind } = wanted.view;
  const ready = wanted.readyWhen((kindClass ? new kindClass(live) : new KubeObject(live, undefined, kind)) as never);
  return stateOf(wanted, ready ? "Ready" : "NotReady", { ready, message: ready ? "it is ready" : "it is not ready" });
}

/** Deletes a child, if the server confirms that it is ours: by mark, owner and field manager. */
export async function deleteObject(
  keeping: Keeping,
  kind: KindDescription,
  known: KubeBody,
  why: string,
): Promise<void> {
  const { names, handler, context } = keeping;
  if (isDeleting(known)) return;
  const { name = "", namespace, uid } = known.metadata ?? {};
  const live = (await context.get.live(kind, name, { namespace }))?.body;
  if (!live || live.metadata?.uid !== uid || isDeleting(live)) return;
  if (!isOurs(names, handler.id, context.uid, live) || !isAppliedBy(names, live)) {
    context.logger.warn("a child that is no longer wanted is left alone, it is not proven to be ours", {
      child: `${kind.kind} ${name}`,
      hint: "another client has taken its mark, its owner or its field manager away: delete it by hand",
    });
    return;
  }
  await context.client.delete(kind, name, {
    ...(namespace !== undefined && { namespace }),
    preconditions: { uid, resourceVersion: live.metadata?.resourceVersion },
    propagationPolicy: "Background",
    ignoreNotFound: true,
  });
  tellChild(keeping, "deleted", childText(kind, known, context.namespace), { why });
}
