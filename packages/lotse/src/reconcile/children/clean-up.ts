/**
 * Children whose parent goes, or is no longer one that has children. Those that come after others go first. What only a
 * function of the user can delete is asked of that function once more.
 */
import type { KubeBody } from "@lotse/client";
import { type DesiredChildren, type ExternalChild, type Requeue, requeue } from "../../declare/index.ts";
import { type BackgroundTurn, conditionsOf, isOwnReason } from "../../turn/index.ts";
import { readDesired } from "./desired.ts";
import { type Existing, existingChildren } from "./existing.ts";
import { deleteExternal } from "./external.ts";
import type { Keeping } from "./keeping.ts";
import { noteAnnotation, readNote, withoutNote } from "./marks.ts";
import { deleteObject } from "./objects.ts";
import { lastOnes, type Ordered } from "./order.ts";

/** Deletions that are under way tell when they are done; this is for those whose end no stream tells. */
const LOOK_AGAIN = "30s";

interface Thing extends Ordered {
  readonly external: ExternalChild;
}

/** Before the parent goes: external things, and with `deletion: "reverse"` all children. */
export function cleanUpChildren(keeping: Keeping): Promise<Requeue | undefined> {
  return deleteAll(keeping, keeping.handler.children?.reverse === true, "its parent goes");
}

/**
 * The parent is no longer one that this declaration is for: everything goes, and nothing on the parent speaks of it any
 * more.
 */
export async function letChildrenGo(keeping: Keeping, turn: BackgroundTurn): Promise<Requeue | undefined> {
  const { names, handler } = keeping;
  const { runner, body } = turn;
  const left = await deleteAll(keeping, true, "its parent no longer matches");
  if (left) return left;
  for (const name of names) {
    if (body.metadata?.annotations?.[noteAnnotation(name)] === undefined) continue;
    runner.change({ metadata: { annotations: { [noteAnnotation(name)]: withoutNote(name, body, handler.id) } } });
  }
  if (handler.conditions) retractReport(turn);
  return undefined;
}

async function deleteAll(keeping: Keeping, objectsToo: boolean, why: string): Promise<Requeue | undefined> {
  const { context, names, handler } = keeping;
  const note = readNote(names, context.body as KubeBody, handler.id);
  const things = await externalThings(keeping, note.external);
  const gone = new Set<string>();
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const objects = objectsToo ? await existingChildren(keeping, note, []) : [];
    const remaining = [...objects, ...things.filter(({ key }) => !gone.has(key))];
    if (remaining.length === 0) return undefined;
    // A child that is still there takes its time: the end of an object tells itself, that of other things does not.
    if (remaining.length >= left) return requeue(objects.length > 0 ? LOOK_AGAIN : "1s");
    left = remaining.length;
    for (const one of lastOnes<Existing | Thing>(remaining)) {
      if (!("external" in one)) await deleteObject(keeping, one.kind, one.body, why);
      else if (await deleteExternal(keeping, one.key, one.external, why)) gone.add(one.key);
    }
  }
}

/** The things outside of the cluster that the function still knows how to delete. */
async function externalThings({ context, handler }: Keeping, noted: readonly string[]): Promise<Thing[]> {
  if (handler.children?.external !== true) return [];
  const desired = readDesired((await handler.fn(context)) as DesiredChildren);
  const things = desired.flatMap(({ key, after, thing }) =>
    thing.type === "external" ? [{ key, after, external: thing.external }] : [],
  );
  const forgotten = noted.filter((key) => !things.some((one) => one.key === key));
  if (forgotten.length > 0) {
    context.logger.warn("things outside of the cluster are left behind, nobody says how to delete them", {
      things: forgotten.join(", "),
      hint: "return them with wanted: false until they are gone; these have to be deleted by hand",
    });
    context.warn("ChildrenForgotten", `${forgotten.join(", ")} is left behind: nobody says how to delete it`);
  }
  return things;
}

/** What was said of the children is not true any more. A `Ready` that another writer has set stays. */
function retractReport({ runner, body }: BackgroundTurn): void {
  const standing = conditionsOf(body) ?? [];
  for (const { type } of standing) if (type.startsWith("child.lotse.dev/")) runner.removeCondition(type);
  if (standing.some(({ type, reason }) => type === "Ready" && isOwnReason(reason))) runner.removeCondition("Ready");
}
