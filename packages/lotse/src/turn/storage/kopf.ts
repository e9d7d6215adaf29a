/**
 * The record as Kopf keeps it, byte for byte, so that a running Kopf operator can be taken over, and taken back.
 *
 * Kopf keeps two things on an object: the *diff-base* (the essence that was handled last, as JSON) and, while a cycle is
 * open, one *progress record* for each handler. It derives everything else from the object, each time anew.
 *
 * | on the object                      | here                                                                         |
 * | ---------------------------------- | ---------------------------------------------------------------------------- |
 * | no diff-base, no progress          | no record: the object's creation                                             |
 * | diff-base, no progress             | `handled` and `base`: a closed cycle                                         |
 * | no diff-base, progress             | `open` with reason create (or delete), `runs`                                |
 * | diff-base, progress                | `handled`, `base`, `open` with reason = purpose, `runs`                      |
 * | progress without or of two purposes| reason as Kopf finds it: deletion mark, no diff-base, no difference, else update |
 * | progress of another purpose        | no run: the handler runs again                                               |
 * | progress of a deletion, no mark    | nothing: it was copied or restored from a backup                             |
 * | progress that cannot be read       | the cycle is open, no run: the handler runs again                            |
 * | diff-base that cannot be read      | unreadable                                                                   |
 * | `retries`, `started`, `delayed`    | `attempts`, `started`, `due`                                                 |
 * | `success` / `failure`, `message`   | `outcome` done / failed, `message`                                           |
 * | progress of `subrefs`              | `steps` of an unfinished run, with the result that Kopf left in the status   |
 * | `stopped`                          | Kopf has finished the handler, see below; kept when the same cycle goes on   |
 *
 * Kopf keeps no `uid`: a copy of an object with its annotations counts as handled, there and here. What else its form
 * has no place for, and what happens then: a handler may run again, but no change is lost.
 *
 * - `open.digest`, `open.essence`: the essence that a cycle opened with. The base stands for it (nothing, if there is
 *   none), so after a restart in the middle of a cycle all update handlers that have not seen the newest state run.
 * - `runs.*.saw`: as above.
 *
 *   Both are different while all that is finished was finished by Kopf, which says when, and Lotse does not: it counts
 *   as having seen the newest state, as it does in Kopf, and must not run twice because another operator goes on. The price
 *   is Kopf's: a change in the middle of its cycle, made while no operator works, is not told to what Kopf had finished.
 *
 *   The same for a creation of which nothing is finished, whichever operator began it: a change made while none works is part of
 *   what is created, and no update.
 * - `open.only`: after a restart all update handlers run.
 * - `steps.*.result`: Kopf puts results into the status, where the kind may have no room. A finished step with a result
 *   that is not there is not written, and runs again after a restart.
 * - an open cycle without runs: Kopf opens it anew by itself, from the same difference.
 * - `handled` without `base`: the object's own essence is written if it is the one; otherwise an empty one, with which
 *   everything looks changed.
 *
 * Within a process `recall` keeps all of this. Annotations of Lotse operators that keep their own records on the same
 * object are not part of our essence, but Kopf takes them for any client's.
 */
import type { KubeBody } from "@lotse/client";
import { deepEqual } from "@lotse/client/meta";
import type { Reason } from "../../declare/index.ts";
import { canonical, digestOf, type Essence, essenceOf } from "../essence.ts";
import { type ObjectRecord, type RecordReading, type RunRecord, type StepRecord, unpackEssence } from "../record.ts";
import {
  type Base,
  clear,
  type Draft,
  dropBase,
  dropProgress,
  finished,
  type KopfOptions,
  type Layout,
  layoutOf,
  putBase,
  putProgress,
  readBase,
  readProgress,
  resolve,
  withoutLoneMarkers,
  withoutTouch,
} from "./kopf-places.ts";
import { type Progress, progressOf, runOf, stepOf, stepProgressOf } from "./kopf-progress.ts";
import type { RecordStorage } from "./storage.ts";

/**
 * Keeps the record in Kopf's annotations and formats: an operator written with Kopf can be taken over, and taken back.
 * Handlers need the ids that they have in Kopf: a function's name, or `name/spec.field` for a handler of a field.
 *
 * @example
 * ```ts
 * new Operator({ name: "shop", persistence: kopf({ prefix: "shop.example.com" }) });
 * ```
 */
export function kopf(options: KopfOptions = {}): RecordStorage {
  const layout = layoutOf(options);
  return {
    read: (body, handlers, essence) => read(layout, body, handlers, essence ?? clear(layout, essenceOf(body))),
    write: (body, record, handlers) => (record ? write(layout, body, record, handlers) : erase(layout, body, handlers)),
    clear: (essence) => clear(layout, essence),
    finalizer: options.finalizer ?? "kopf.zalando.org/KopfFinalizerMarker",
    place: layout.progress === "status" ? "status" : "annotation",
    needsEssence: true,
  };
}

function read(layout: Layout, body: KubeBody, handlers: readonly string[], current: Essence): RecordReading {
  const base = readBase(layout, body);
  if (base.type === "damaged") return { type: "unreadable" };
  const deleting = body.metadata?.deletionTimestamp !== undefined;
  const found = handlers.flatMap((id) => {
    const progress = readProgress(layout, body, id);
    // The deletion of an object that is not being deleted was another object's, before a copy or a restore.
    return progress && (deleting || progress.purpose !== "delete") ? [{ id, progress }] : [];
  });
  const uid = body.metadata?.uid ?? "";
  const closed: ObjectRecord =
    base.type === "found" ? { uid, handled: base.digest, base: inMemory(base.essence) } : { uid };
  if (found.length === 0) return base.type === "found" ? { type: "found", record: closed } : { type: "absent" };

  const reason = reasonOf(body, current, base, new Set(found.flatMap(({ progress }) => progress.purpose ?? [])));
  // A creation with a diff-base is over but for its progress, which goes after it where the status is written apart: the
  // diff-base is what it ended with, and whatever came later has been told to no handler.
  const newest = reason === "create" && base.type === "found" ? base.essence : current;
  const saw = digestOf(newest);
  const runs: Record<string, RunRecord> = {};
  const finishers = new Set<"kopf" | "lotse">();
  for (const { id, progress } of found) {
    const run = (progress.purpose ?? reason) === reason ? runOf(progress) : undefined;
    if (!run) continue;
    const finisher = run.outcome && (progress.stopped === undefined ? "lotse" : "kopf");
    if (finisher) finishers.add(finisher);
    const steps = finisher ? {} : readSteps(layout, body, id, progress, reason, handlers);
    runs[id] = { ...run, ...(finisher === "kopf" && { saw }), ...(Object.keys(steps).length > 0 && { steps }) };
  }
  // A resume opens with the base by definition; if the object has moved on since, no handler has been told.
  // Of a creation Kopf keeps nothing, and an empty essence would become an update from nothing, which never was: what is
  // there now is what is created, as in Kopf, unless a handler of ours may have finished with less.
  const asKopf = reason !== "resume" && (finishers.has("kopf") || reason === "create") && !finishers.has("lotse");
  const opened = asKopf ? newest : base.type === "found" ? base.essence : {};
  const open = { reason, digest: digestOf(opened), essence: inMemory(opened) };
  return { type: "found", record: { ...closed, open, ...(Object.keys(runs).length > 0 && { runs }) } };
}

/** Kopf's sub-handlers are our steps. */
function readSteps(
  layout: Layout,
  body: KubeBody,
  id: string,
  { subrefs = [] }: Progress,
  reason: Reason,
  handlers: readonly string[],
): Record<string, StepRecord> {
  const steps: Record<string, StepRecord> = {};
  for (const subref of subrefs) {
    // The id of a handler of a field looks like that of a sub-handler.
    if (!subref.startsWith(`${id}/`) || handlers.includes(subref)) continue;
    const progress = readProgress(layout, body, subref);
    if (!progress || (progress.purpose ?? reason) !== reason) continue;
    steps[subref.slice(id.length + 1)] = stepOf(progress, resolve(body.status, [subref]));
  }
  return steps;
}

/** An essence for a record that is never stored as it is: compressing it would cost more than all the rest. */
function inMemory(essence: Essence): string {
  return `j${canonical(essence)}`;
}

const REASONS: ReadonlySet<string> = new Set<Reason>(["create", "update", "delete", "resume"]);

function reasonOf(body: KubeBody, current: Essence, base: Base, purposes: ReadonlySet<string>): Reason {
  const [purpose] = purposes;
  if (purposes.size === 1 && purpose !== undefined && REASONS.has(purpose)) {
    // Without a diff-base the creation is not over, whatever a person wrote into a record.
    if (base.type === "found" || purpose === "create" || purpose === "delete") return purpose as Reason;
  }
  if (body.metadata?.deletionTimestamp !== undefined) return "delete";
  if (base.type !== "found") return "create";
  return digestOf(current) === base.digest ? "resume" : "update";
}

function write(layout: Layout, body: KubeBody, record: ObjectRecord, handlers: readonly string[]): KubeBody {
  const draft: Draft = { body, annotations: {} };
  writeBase(layout, draft, record);
  const { open, runs = {} } = record;
  for (const id of new Set([...handlers, ...(open ? Object.keys(runs) : [])])) {
    const run = open && Object.hasOwn(runs, id) ? runs[id] : undefined;
    if (run && open) writeRun(layout, draft, id, run, open.reason, handlers);
    else purge(layout, draft, id, handlers);
  }
  const written = finished(draft);
  // As in Kopf, a mark that was only there to make an event goes with the next change, and is no reason for one.
  return written === body ? body : withoutTouch(layout, written);
}

function writeBase(layout: Layout, draft: Draft, record: ObjectRecord): void {
  if (record.handled === undefined) {
    dropBase(layout, draft);
    return;
  }
  const stored = readBase(layout, draft.body);
  if (stored.type === "found" && stored.digest === record.handled) return;
  // The object's own essence first: it has the order of keys in which Kopf would write it.
  const current = clear(layout, essenceOf(draft.body));
  putBase(layout, draft, digestOf(current) === record.handled ? current : (unpackEssence(record.base) ?? {}));
}

function writeRun(
  layout: Layout,
  draft: Draft,
  id: string,
  run: RunRecord,
  reason: Reason,
  handlers: readonly string[],
): void {
  const stored = readProgress(layout, draft.body, id);
  const goesOn = stored !== undefined && (stored.purpose ?? reason) === reason;
  const replaced = goesOn ? stored : undefined;
  // Of a finished handler the steps are not asked for: they go with the cycle.
  const kept = run.outcome === undefined ? writeSteps(layout, draft, id, run, reason, handlers) : replaced?.subrefs;
  for (const subref of stored?.subrefs ?? []) {
    if (!kept?.includes(subref) && !handlers.includes(subref)) dropProgress(layout, draft, subref);
  }
  putProgress(layout, draft, id, progressOf(run, reason, replaced, kept));
}

/** Writes the steps that can be written, and returns their ids as Kopf lists them. */
function writeSteps(
  layout: Layout,
  draft: Draft,
  id: string,
  run: RunRecord,
  reason: Reason,
  handlers: readonly string[],
): string[] {
  const written: string[] = [];
  for (const [name, step] of Object.entries(run.steps ?? {})) {
    const subref = `${id}/${name}`;
    const remembered = step.outcome !== "done" || deepEqual(step.result, resolve(draft.body.status, [subref]));
    if (!remembered || handlers.includes(subref)) continue;
    putProgress(layout, draft, subref, stepProgressOf(step, reason, readProgress(layout, draft.body, subref)));
    written.push(subref);
  }
  return written.sort();
}

function purge(layout: Layout, draft: Draft, id: string, handlers: readonly string[]): void {
  for (const subref of readProgress(layout, draft.body, id)?.subrefs ?? []) {
    if (!handlers.includes(subref)) dropProgress(layout, draft, subref);
  }
  dropProgress(layout, draft, id);
}

/** Takes everything off that is ours. Prefixes are shared with other operators by default, so what is theirs stays. */
function erase(layout: Layout, body: KubeBody, handlers: readonly string[]): KubeBody {
  const draft: Draft = { body, annotations: {} };
  dropBase(layout, draft);
  for (const id of handlers) purge(layout, draft, id, handlers);
  return withoutLoneMarkers(layout, withoutTouch(layout, finished(draft)));
}
