/** The children that are there. Whatever lacks the mark or the owner is not ours, and not seen here. */
import { type KindDescription, type KubeBody, KubeObject, UnknownKindError } from "@lotse/client";
import type { KindView } from "../kind-view.ts";
import { readQuery } from "../query.ts";
import type { Keeping, WantedObject } from "./keeping.ts";
import { type OperatorNames, ownMark, type ParentNote, readNote } from "./marks.ts";
import type { Ordered } from "./order.ts";

/** A child of ours that is there. */
export interface Existing extends Ordered {
  readonly kind: KindDescription;
  readonly body: KubeBody;
}

/** All that is there and ours, in every kind that may have some. */
export async function existingChildren(
  keeping: Keeping,
  note: ParentNote,
  wanted: readonly WantedObject[],
): Promise<Existing[]> {
  const { names, handler, reader, session, context } = keeping;
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
      const mark = ownMark(names, handler.id, context.uid, body);
      return mark ? [{ key: mark.key, after: mark.after, kind: view.kind, body }] : [];
    });
  });
}

/** Whether something of a declaration is, or may be, still there for a parent: by its note, and in the kinds `views`. */
export function hasChildren(
  names: OperatorNames,
  handler: string,
  parent: KubeBody,
  views: Iterable<KindView>,
): boolean {
  const { kinds, external } = readNote(names, parent, handler);
  if (kinds.length + external.length > 0) return true;
  const { uid = "", namespace } = parent.metadata ?? {};
  for (const { kind, lookup } of views) {
    const query = readQuery({ namespace: kind.namespaced ? namespace : undefined, owner: uid });
    if (lookup.list(query).some((body) => ownMark(names, handler, uid, body) !== undefined)) return true;
  }
  return false;
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
