/**
 * Keeps exactly the children that a parent shall have. One pass: what is wanted is applied where it differs, in order;
 * what is ours and no longer wanted goes, in reverse order; what became of each is reported on the parent.
 */
import { ConflictError, InvalidError, type KindDescription, type KubeBody } from "@lotse/client";
import { errorMessage, kindKey, objectKey } from "@lotse/client/meta";
import {
  type DesiredChildren,
  PermanentError,
  type Requeue,
  type ResourceInput,
  requeue,
  TemporaryError,
} from "../../declare/index.ts";
import type { BackgroundTurn } from "../../turn/index.ts";
import { type Desired, readDesired } from "./desired.ts";
import { existingChildren } from "./existing.ts";
import { keepExternal } from "./external.ts";
import { type ChildState, type Keeping, stateOf, type WantedObject } from "./keeping.ts";
import { noteAnnotation, type ParentNote, readNote, withNote } from "./marks.ts";
import { deleteObject, keepObject, wantedObject } from "./objects.ts";
import { inOrder, lastOnes } from "./order.ts";
import { reportChildren } from "./report.ts";

/** See the module comment. */
export async function keepChildren(keeping: Keeping, turn: BackgroundTurn): Promise<Requeue | undefined> {
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
      if (thing.type === "external") return put(await keepExternal(keeping, one, thing.external));
      return put(await keepObject(keeping, byKey.get(one.key) as WantedObject));
    } catch (error) {
      errors.push(error);
      return put(stateOf(one, "Failed", { ready: false, failed: isFinal(error), message: errorMessage(error) }));
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
  if (handler.conditions) keeping.reader.children = reportChildren(turn, [...states.values()]);
  keeping.reader.notes.keep(new Set(states.keys()));
  if (errors.length > 0) throw problemOf(errors);
  const again = [...states.values()].flatMap(({ againMs }) => againMs ?? []);
  return again.length > 0 ? requeue(Math.min(...again)) : undefined;
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
  const { names, handler, context } = keeping;
  const external = desired.filter(({ thing }) => thing.type === "external" && thing.external.wanted !== false);
  if (external.length > 0 && handler.children?.external !== true) {
    throw new PermanentError("external things need { external: true }: the parent has to be held until they are gone");
  }
  const note = readNote(names, context.body as KubeBody, handler.id);
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

async function writeNote(keeping: Keeping, note: ParentNote): Promise<void> {
  const { names, operator, handler, context, reader } = keeping;
  const annotation = withNote(names, context.body as KubeBody, handler.id, note);
  const { name, resource, namespace } = context;
  const { resourceVersion } = reader.saw?.metadata ?? {};
  // With its version: what another client has changed meanwhile must not count as seen.
  const former = Object.fromEntries(names.slice(1).map((name) => [noteAnnotation(name), null]));
  const metadata = { resourceVersion, annotations: { ...former, [noteAnnotation(operator)]: annotation } };
  const where = namespace === undefined ? {} : { namespace };
  try {
    const base = reader.saw ?? (context.body as KubeBody);
    const parent = await context.client.patch(resource, name, { metadata }, where);
    keeping.parentWrote(base, parent.body);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    // The stream wakes us when it shows the change.
    throw new TemporaryError("the parent has changed meanwhile", { cause: error });
  }
}

/** The last ones first; those before them when they are gone. A child that takes its time tells its end, and we come again. */
async function deleteSurplus(
  keeping: Keeping,
  note: ParentNote,
  wanted: readonly WantedObject[],
  errors: unknown[],
): Promise<void> {
  const kept = new Set(wanted.map(({ kind, at }) => `${kindKey(kind)} ${at}`));
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const surplus = (await existingChildren(keeping, note, wanted)).filter(
      ({ kind, body }) => !kept.has(`${kindKey(kind)} ${objectKey(body)}`),
    );
    if (surplus.length === 0 || surplus.length >= left) return;
    left = surplus.length;
    await Promise.all(
      lastOnes(surplus).map((one) =>
        deleteObject(keeping, one.kind, one.body, "it is no longer wanted").catch((error) => errors.push(error)),
      ),
    );
  }
}

/** What the server refuses as it is will be refused again; everything else may work the next time. */
function problemOf(errors: readonly unknown[]): Error {
  const text = [...new Set(errors.map(errorMessage))].join("; ");
  const first = errors.find((error) => !isFinal(error));
  if (first === undefined) return new PermanentError(text, { cause: errors[0] });
  return errors.length === 1 && first instanceof Error ? first : new Error(text, { cause: first });
}

function isFinal(error: unknown): boolean {
  return error instanceof PermanentError || error instanceof InvalidError;
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
