/**
 * Keeps exactly the children that a parent shall have. One pass: what is wanted is applied where it differs, in order;
 * what is ours and no longer wanted goes, in reverse order; what became of each is reported on the parent.
 */
import {
  ConflictError,
  InvalidError,
  type KindDescription,
  type KubeBody,
  KubeObject,
  storeKey,
  UnknownKindError,
} from "@lotse/client";
import { errorMessage } from "@lotse/client/meta";
import {
  type DesiredChildren,
  PermanentError,
  type Requeue,
  type ResourceInput,
  requeue,
  TemporaryError,
} from "../../declare/index.ts";
import type { BackgroundTurn } from "../../turn/index.ts";
import type { KindView } from "../kind-view.ts";
import { readQuery } from "../query.ts";
import { type Desired, readDesired } from "./desired.ts";
import { deleteExternal, keepExternal } from "./external.ts";
import { noteAnnotation, ownMark, type ParentNote, readNote, withNote } from "./marks.ts";
import {
  type ChildState,
  deleteObject,
  type Keeping,
  keepObject,
  stateOf,
  type WantedObject,
  wantedObject,
} from "./objects.ts";
import { inOrder, lastOnes, type Ordered } from "./order.ts";
import { reportChildren } from "./report.ts";

/** A child of ours that is there. */
interface Existing extends Ordered {
  readonly kind: KindDescription;
  readonly body: KubeBody;
}

/** Deletions that are under way tell when they are done; this is for those whose end nobody tells. */
const LOOK_AGAIN = "30s";

/** See the module comment. */
export async function keepChildren(keeping: Keeping, turn: BackgroundTurn): Promise<void> {
  const { context, session, handler } = keeping;
  const desired = readDesired((await handler.fn(context)) as DesiredChildren);
  const wanted = await Promise.all(objectsOf(desired).map((one) => wantedObject(keeping, one)));
  const note = await remember(keeping, wanted, desired);
  // Subscribed to before anything is looked at or written: whatever happens to a child from here on is told.
  await existingChildren(keeping, note, wanted);
  const errors: unknown[] = [];
  const states = new Map<string, ChildState>();
  const put = (state: ChildState) => {
    states.set(state.key, state);
    return state.ready;
  };
  const byKey = new Map(wanted.map((one) => [one.key, one]));
  const waiting = await inOrder(desired, async (one) => {
    try {
      const { thing } = one;
      if (thing.type === "external") return put(await keepExternal(one, thing.external));
      return put(await keepObject(keeping, byKey.get(one.key) as WantedObject, keeping.reader.accepted));
    } catch (error) {
      errors.push(error);
      return put(stateOf(one, "Failed", { ready: false, message: errorMessage(error) }));
    }
  });
  for (const { item, for: keys } of waiting) {
    put(stateOf(item, "Waiting", { ready: false, message: `waits for ${keys.join(", ")}` }));
  }
  for (const key of note.external.filter((one) => !desired.some((d) => d.key === one))) {
    const message = `nobody says how to delete it: return it with wanted: false until it is gone`;
    put(stateOf({ key, after: [] }, "Forgotten", { ready: false, message }));
  }
  await deleteSurplus(keeping, note, wanted, errors);
  await forgetExternals(keeping, note, desired, states);
  // What was read before the writes is known to have changed by them.
  session.refresh();
  if (handler.conditions) reportChildren(turn, [...states.values()]);
  if (errors.length > 0) throw problemOf(errors);
}

/** Before the parent goes: external things, and with `deletion: "reverse"` all children, the last ones first. */
export async function cleanUpChildren(keeping: Keeping): Promise<Requeue | undefined> {
  const { context, handler } = keeping;
  const { reverse = false, external = false } = handler.children ?? {};
  const desired = external ? readDesired((await handler.fn(context)) as DesiredChildren) : [];
  const things = desired.flatMap(({ key, after, thing }) =>
    thing.type === "external" ? [{ key, after, external: thing.external }] : [],
  );
  const note = readNote(keeping.operator, context.body as KubeBody, handler.id);
  const gone = new Set<string>();
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const objects = reverse ? await existingChildren(keeping, note, []) : [];
    const remaining = [...objects, ...things.filter(({ key }) => !gone.has(key))];
    if (remaining.length === 0) return undefined;
    // Whoever is still there takes its time: the end of an object tells itself, that of other things does not.
    if (remaining.length >= left) return requeue(objects.length > 0 ? LOOK_AGAIN : "1s");
    left = remaining.length;
    for (const one of lastOnes<Existing | (typeof things)[number]>(remaining)) {
      if (!("external" in one)) await deleteObject(keeping, one.kind, one.body);
      else if (await deleteExternal(one.external)) gone.add(one.key);
    }
  }
}

function objectsOf(desired: readonly Desired[]): Desired[] {
  return desired.filter(({ thing }) => thing.type === "object");
}

/** Writes down kinds and external things before the first of them is made: nothing is forgotten by a crash. */
async function remember(
  keeping: Keeping,
  wanted: readonly WantedObject[],
  desired: readonly Desired[],
): Promise<ParentNote> {
  const { operator, handler, context } = keeping;
  const external = desired.filter(({ thing }) => thing.type === "external" && thing.external.wanted !== false);
  if (external.length > 0 && handler.children?.external !== true) {
    throw new PermanentError("external things need { external: true }: the parent has to be held until they are gone");
  }
  const note = readNote(operator, context.body as KubeBody, handler.id);
  const declared = new Set(declaredKinds(handler.owns));
  const kinds = new Set(note.kinds);
  for (const { manifest } of wanted) {
    const kind = `${manifest.apiVersion}/${manifest.kind}`;
    if (!declared.has(kind)) kinds.add(kind);
  }
  const keys = new Set([...note.external, ...external.map(({ key }) => key)]);
  const next: ParentNote = { kinds: [...kinds].sort(), external: [...keys].sort() };
  if (kinds.size > note.kinds.length || keys.size > note.external.length) await writeNote(keeping, next);
  return next;
}

async function forgetExternals(
  keeping: Keeping,
  note: ParentNote,
  desired: readonly Desired[],
  states: ReadonlyMap<string, ChildState>,
): Promise<void> {
  const gone = desired
    .filter(
      ({ key, thing }) =>
        thing.type === "external" && thing.external.wanted === false && states.get(key)?.reason === "Absent",
    )
    .map(({ key }) => key);
  const external = note.external.filter((key) => !gone.includes(key));
  if (external.length < note.external.length) await writeNote(keeping, { ...note, external });
}

async function writeNote({ operator, handler, context, reader }: Keeping, note: ParentNote): Promise<void> {
  const annotation = withNote(operator, context.body as KubeBody, handler.id, note);
  const { name, resource, namespace } = context;
  const { resourceVersion } = reader.saw?.metadata ?? {};
  // With its version: what somebody else has changed meanwhile must not count as seen.
  const metadata = { resourceVersion, annotations: { [noteAnnotation(operator)]: annotation } };
  const where = namespace === undefined ? {} : { namespace };
  try {
    const parent = await context.client.patch(resource, name, { metadata }, where);
    reader.wrote(resourceVersion, parent.body);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    // The stream wakes us when it shows the change.
    throw new TemporaryError("the parent has changed meanwhile", { cause: error });
  }
}

/** All that is there and ours, in every kind that may have some. */
async function existingChildren(
  keeping: Keeping,
  note: ParentNote,
  wanted: readonly WantedObject[],
): Promise<Existing[]> {
  const { operator, handler, reader, session, context } = keeping;
  const views = new Set<KindView>(wanted.map(({ view }) => view));
  for (const kind of handler.owns) views.add(await session.view(kind as Parameters<typeof session.view>[0]));
  for (const text of note.kinds) {
    const view = await notedView(keeping, text);
    if (view) views.add(view);
  }
  return [...views].flatMap((view) => {
    const query = readQuery({ namespace: view.kind.namespaced ? context.namespace : undefined, owner: context.uid });
    session.note(view.reads.list(query, reader));
    return view.lookup.list(query).flatMap((body) => {
      const mark = ownMark(operator, handler.id, context.uid, body);
      return mark ? [{ key: mark.key, after: mark.after, kind: view.kind, body }] : [];
    });
  });
}

async function notedView({ session, context }: Keeping, text: string): Promise<KindView | undefined> {
  const at = text.lastIndexOf("/");
  const body = { apiVersion: text.slice(0, at), kind: text.slice(at + 1) } as KubeBody;
  try {
    return await session.view(await context.client.describe(new KubeObject(body, context.client)));
  } catch (error) {
    // A kind that is no more has no objects.
    if (error instanceof UnknownKindError) return undefined;
    throw error;
  }
}

/** The last ones first; those before them when they are gone. Whoever takes its time tells its end, and we come again. */
async function deleteSurplus(
  keeping: Keeping,
  note: ParentNote,
  wanted: readonly WantedObject[],
  errors: unknown[],
): Promise<void> {
  const kept = new Set(wanted.map(({ kind, at }) => `${kind.plural}.${kind.group} ${at}`));
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const surplus = (await existingChildren(keeping, note, wanted)).filter(
      ({ kind, body }) => !kept.has(`${kind.plural}.${kind.group} ${storeKey(body)}`),
    );
    if (surplus.length === 0 || surplus.length >= left) return;
    left = surplus.length;
    await Promise.all(
      lastOnes(surplus).map((one) => deleteObject(keeping, one.kind, one.body).catch((error) => errors.push(error))),
    );
  }
}

/** What the server refuses as it is will be refused again; everything else may work the next time. */
function problemOf(errors: readonly unknown[]): Error {
  const text = [...new Set(errors.map(errorMessage))].join("; ");
  const final = errors.every((error) => error instanceof PermanentError || error instanceof InvalidError);
  if (final) return new PermanentError(text, { cause: errors[0] });
  const first = errors.find((error) => !(error instanceof PermanentError || error instanceof InvalidError));
  return errors.length === 1 && first instanceof Error ? first : new Error(text, { cause: first });
}

/** The kinds that a declaration names, as `apiVersion/kind`; names are only known to the server. */
function declaredKinds(owns: readonly ResourceInput[]): string[] {
  return owns.flatMap((resource) => {
    const description =
      typeof resource === "function" ? (resource as { description?: KindDescription }).description : undefined;
    if (!description) return [];
    const { group, version, kind } = description;
    return [`${group ? `${group}/` : ""}${version}/${kind}`];
  });
}
