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
 * | `stopped`, `subrefs`               | nothing; kept when the same cycle goes on, removed with it                   |
 *
 * What Kopf's form has no place for, and what happens then. In all cases a handler may run again, and no change is lost:
 *
 * - `uid`: records that came to the object by a copy count, as they do in Kopf.
 * - `open.digest`, `open.essence`: the essence that a cycle opened with. The base stands for it (nothing, if there is
 *   none), so after a restart in the middle of a cycle all update handlers that have not seen the newest state run.
 * - `runs.*.saw`: as above.
 * - `open.only`: after a restart all update handlers run.
 * - an open cycle without runs: Kopf opens it anew by itself, from the same difference.
 * - `handled` without `base`: the object's own essence is written if it is the one; otherwise an empty one, with which
 *   everything looks changed.
 *
 * Within a process `recall` keeps all of this. Annotations of Lotse operators that keep their own records on the same
 * object are not part of our essence, but Kopf takes them for anybody's.
 */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import type { Reason } from "../../declare/index.ts";
import { digestOf, type Essence, essenceOf } from "../essence.ts";
import { type ObjectRecord, packEssence, type RecordReading, type RunRecord, unpackEssence } from "../record.ts";
import { withAnnotations, withoutField, withoutStatus, withStatus } from "./fields.ts";
import { bookkeeping, kopfKeys, kopfMarker } from "./kopf-keys.ts";
import {
  encodeProgress,
  type Progress,
  parseProgress,
  progressMembers,
  progressOf,
  pythonJson,
  runOf,
} from "./kopf-progress.ts";
import type { RecordStorage } from "./storage.ts";

/** Options of {@link kopf}: those of Kopf's storages, with Kopf's defaults. */
export interface KopfOptions {
  /** Prefix of the annotations. More than 189 characters leave no room for long ids. Default `kopf.zalando.org`. */
  readonly prefix?: string;
  /**
   * Where progress lies. `annotations`; `status`: in `status.<statusName>.progress`; `smart` (default): in annotations,
   * and what old versions of Kopf left in the status is read and removed.
   */
  readonly progress?: "smart" | "annotations" | "status";
  /** Where the diff-base lies. Default `annotations`. */
  readonly diffBase?: "annotations" | "status";
  /** Prefix of the diff-base's annotation, where it is not that of the progress. */
  readonly diffBasePrefix?: string;
  /** Name of the diff-base. Default `last-handled-configuration`. */
  readonly diffBaseKey?: string;
  /** Fields that are not part of the essence, as dotted paths. */
  readonly ignoredFields?: readonly string[];
  /** Name in the status. Default `kopf`. */
  readonly statusName?: string;
  /** Annotation with which Kopf wakes itself; removed with the next write. Default `touch-dummy`. */
  readonly touchKey?: string;
  /** Default `kopf.zalando.org/KopfFinalizerMarker`. */
  readonly finalizer?: string;
  /** Whether keys as old versions of Kopf made them are read and written too. Default true, as in Kopf. */
  readonly v1?: boolean;
  /** Whether members that are null are written. Default false. */
  readonly verbose?: boolean;
}

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
    read: (body, handlers) => read(layout, body, handlers),
    write: (body, record, handlers) => (record ? write(layout, body, record, handlers) : erase(layout, body, handlers)),
    clear: (essence) => clear(layout, essence),
    finalizer: options.finalizer ?? "kopf.zalando.org/KopfFinalizerMarker",
    place: layout.progress === "status" ? "status" : "annotation",
    needsEssence: true,
  };
}

/** Where everything lies. */
interface Layout {
  readonly progress: "smart" | "annotations" | "status";
  readonly prefixes: readonly string[];
  /** Paths below the status. */
  readonly progressPath: readonly string[];
  readonly touchPath: readonly string[];
  /** Path below the status; undefined: in annotations. */
  readonly basePath: readonly string[] | undefined;
  readonly ignored: readonly (readonly string[])[];
  readonly verbose: boolean;
  readonly baseKeys: (body: KubeBody) => readonly string[];
  readonly touchKeys: (body: KubeBody) => readonly string[];
  readonly progressKeys: (id: string, body: KubeBody) => readonly string[];
}

function layoutOf(options: KopfOptions): Layout {
  const { prefix = "kopf.zalando.org", v1 = true, statusName = "kopf" } = options;
  const { diffBasePrefix = prefix, diffBaseKey = "last-handled-configuration", touchKey = "touch-dummy" } = options;
  if (!prefix || !diffBasePrefix) throw new TypeError("kopf() needs a prefix: annotations without one are not its own");
  return {
    progress: options.progress ?? "smart",
    prefixes: [...new Set([prefix, diffBasePrefix])],
    progressPath: [statusName, "progress"],
    touchPath: [statusName, "dummy"],
    basePath: options.diffBase === "status" ? [statusName, diffBaseKey] : undefined,
    ignored: (options.ignoredFields ?? []).map((field) => field.split(".")),
    verbose: options.verbose ?? false,
    baseKeys: (body) => kopfKeys(diffBaseKey, body, diffBasePrefix, v1),
    touchKeys: (body) => kopfKeys(touchKey, body, prefix, v1),
    progressKeys: (id, body) => kopfKeys(id, body, prefix, v1),
  };
}

function clear(layout: Layout, essence: Essence): Essence {
  const metadata = isObject(essence.metadata) ? essence.metadata : {};
  const annotations = isObject(metadata.annotations) ? metadata.annotations : {};
  let cleared: Essence = essence;
  for (const key of bookkeeping(Object.keys(annotations), layout.prefixes)) {
    cleared = withoutField(cleared, ["metadata", "annotations", key]);
  }
  if (layout.progress !== "annotations") cleared = withoutField(cleared, ["status", ...layout.progressPath]);
  if (layout.basePath) cleared = withoutField(cleared, ["status", ...layout.basePath]);
  for (const path of layout.ignored) cleared = withoutField(cleared, path);
  return cleared;
}

/** What is found where a diff-base is expected. */
type Base =
  | { readonly type: "absent" }
  | { readonly type: "found"; readonly essence: Essence; readonly digest: string }
  | { readonly type: "damaged" };

function read(layout: Layout, body: KubeBody, handlers: readonly string[]): RecordReading {
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
    base.type === "found" ? { uid, handled: base.digest, base: packEssence(base.essence) } : { uid };
  if (found.length === 0) return base.type === "found" ? { type: "found", record: closed } : { type: "absent" };

  const reason = reasonOf(layout, body, base, new Set(found.flatMap(({ progress }) => progress.purpose ?? [])));
  const runs: Record<string, RunRecord> = {};
  for (const { id, progress } of found) {
    const run = (progress.purpose ?? reason) === reason ? runOf(progress) : undefined;
    if (run) runs[id] = run;
  }
  const opened = base.type === "found" ? base.essence : {};
  const open = { reason, digest: digestOf(opened), essence: closed.base ?? packEssence(opened) };
  return { type: "found", record: { ...closed, open, ...(Object.keys(runs).length > 0 && { runs }) } };
}

const REASONS: ReadonlySet<string> = new Set<Reason>(["create", "update", "delete", "resume"]);

function reasonOf(layout: Layout, body: KubeBody, base: Base, purposes: ReadonlySet<string>): Reason {
  const [purpose] = purposes;
  if (purposes.size === 1 && purpose !== undefined && REASONS.has(purpose)) {
    // Without a diff-base the creation is not over, whatever somebody wrote into a record.
    if (base.type === "found" || purpose === "create" || purpose === "delete") return purpose as Reason;
  }
  if (body.metadata?.deletionTimestamp !== undefined) return "delete";
  if (base.type !== "found") return "create";
  return digestOf(clear(layout, essenceOf(body))) === base.digest ? "resume" : "update";
}

function readBase(layout: Layout, body: KubeBody): Base {
  const texts = layout.basePath
    ? [resolve(body.status, layout.basePath)]
    : layout.baseKeys(body).map((key) => body.metadata?.annotations?.[key]);
  let damaged = false;
  for (const stored of texts) {
    const value = parsed(stored);
    if (isObject(value)) {
      const essence = clear(layout, withoutLotse(value));
      return { type: "found", essence, digest: digestOf(essence) };
    }
    damaged ||= value !== null;
  }
  return damaged ? { type: "damaged" } : { type: "absent" };
}

/** Kopf does not know Lotse's annotations and takes them for a part of the essence. */
function withoutLotse(essence: Essence): Essence {
  const metadata = isObject(essence.metadata) ? essence.metadata : {};
  if (!isObject(metadata.annotations)) return essence;
  const annotations = metadata.annotations as Record<string, string>;
  const kept = essenceOf({ metadata: { annotations } }).metadata as
    | { annotations?: Record<string, string> }
    | undefined;
  let result = essence;
  for (const key of Object.keys(annotations)) {
    if (!Object.hasOwn(kept?.annotations ?? {}, key)) result = withoutField(result, ["metadata", "annotations", key]);
  }
  return result;
}

/** Nothing is known of the handler but that its cycle is open. */
const DAMAGED = parseProgress({}) as Progress;

function readProgress(layout: Layout, body: KubeBody, id: string): Progress | undefined {
  const places: unknown[] = [];
  if (layout.progress !== "status") {
    for (const key of layout.progressKeys(id, body)) places.push(parsed(body.metadata?.annotations?.[key]));
  }
  if (layout.progress !== "annotations") places.push(resolve(body.status, [...layout.progressPath, id]) ?? null);
  const there = places.filter((value) => value !== null);
  const readable = there.find((value) => isObject(value));
  return there.length === 0 ? undefined : (parseProgress(readable) ?? DAMAGED);
}

/** The value in a JSON text: null when there is none, undefined when it cannot be read. */
function parsed(stored: unknown): unknown {
  if (stored === undefined || stored === null) return null;
  try {
    return JSON.parse(stored as string);
  } catch {
    return undefined;
  }
}

function resolve(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (parent, key) => (isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined),
    value,
  );
}

/** A body on its way to what it shall be. */
interface Draft {
  body: KubeBody;
  readonly annotations: Record<string, string | undefined>;
}

function write(layout: Layout, body: KubeBody, record: ObjectRecord, handlers: readonly string[]): KubeBody {
  const draft: Draft = { body, annotations: {} };
  writeBase(layout, draft, record);
  const { open, runs = {} } = record;
  for (const id of new Set([...handlers, ...(open ? Object.keys(runs) : [])])) {
    const run = open && Object.hasOwn(runs, id) ? runs[id] : undefined;
    if (run && open) storeProgress(layout, draft, id, run, open.reason);
    else purgeProgress(layout, draft, id);
  }
  const written = withAnnotations(draft.body, draft.annotations);
  // As in Kopf, a mark that was only there to make an event goes with the next change, and is no reason for one.
  return written === body ? body : withoutTouch(layout, written);
}

function writeBase(layout: Layout, draft: Draft, record: ObjectRecord): void {
  const { body } = draft;
  const stored = readBase(layout, body);
  if (record.handled === undefined) {
    purgeBase(layout, draft);
    return;
  }
  if (stored.type === "found" && stored.digest === record.handled) return;
  // The object's own essence first: it has the order of keys in which Kopf would write it.
  const current = clear(layout, essenceOf(body));
  const essence = digestOf(current) === record.handled ? current : (unpackEssence(record.base) ?? {});
  const text = pythonJson(essence);
  if (layout.basePath) draft.body = withStatus(draft.body, layout.basePath, text);
  else for (const key of layout.baseKeys(body)) store(draft, key, `${text}\n`);
}

function purgeBase(layout: Layout, draft: Draft): void {
  if (layout.basePath) draft.body = withoutStatus(draft.body, layout.basePath);
  else for (const key of layout.baseKeys(draft.body)) draft.annotations[key] = undefined;
}

function storeProgress(layout: Layout, draft: Draft, id: string, run: RunRecord, reason: Reason): void {
  const stored = readProgress(layout, draft.body, id);
  const progress = progressOf(run, reason, stored);
  if (stored && pythonJson(progressMembers(stored)) === pythonJson(progressMembers(progress))) return;
  // The sub-handlers of a cycle that was superseded are not those of this one.
  if (!progress.subrefs) for (const subref of stored?.subrefs ?? []) purgeOne(layout, draft, subref);
  if (layout.progress === "status") {
    draft.body = withStatus(draft.body, [...layout.progressPath, id], progressMembers(progress));
  } else {
    const text = encodeProgress(progress, layout.verbose);
    for (const key of layout.progressKeys(id, draft.body)) store(draft, key, text);
  }
}

function purgeProgress(layout: Layout, draft: Draft, id: string): void {
  for (const subref of readProgress(layout, draft.body, id)?.subrefs ?? []) purgeOne(layout, draft, subref);
  purgeOne(layout, draft, id);
}

function purgeOne(layout: Layout, draft: Draft, id: string): void {
  if (layout.progress !== "status") {
    for (const key of layout.progressKeys(id, draft.body)) draft.annotations[key] = undefined;
  }
  if (layout.progress !== "annotations") draft.body = withoutStatus(draft.body, [...layout.progressPath, id]);
}

/** Sets an annotation, and marks its prefix as that of a Kopf operator: others must not take it for a change. */
function store(draft: Draft, key: string, value: string): void {
  draft.annotations[key] = value;
  const marker = kopfMarker(key.slice(0, key.indexOf("/")));
  if (marker && draft.body.metadata?.annotations?.[marker] === undefined) draft.annotations[marker] = "yes";
}

function withoutTouch(layout: Layout, body: KubeBody): KubeBody {
  if (layout.progress === "status") return withoutStatus(body, layout.touchPath);
  return withAnnotations(body, Object.fromEntries(layout.touchKeys(body).map((key) => [key, undefined])));
}

/** Takes everything off that is ours. Prefixes are shared with other operators by default, so what is theirs stays. */
function erase(layout: Layout, body: KubeBody, handlers: readonly string[]): KubeBody {
  const draft: Draft = { body, annotations: {} };
  purgeBase(layout, draft);
  for (const id of handlers) purgeProgress(layout, draft, id);
  let erased = withoutTouch(layout, withAnnotations(draft.body, draft.annotations));
  for (const prefix of layout.prefixes) {
    const marker = kopfMarker(prefix);
    const left = Object.keys(erased.metadata?.annotations ?? {}).filter((key) => key.startsWith(`${prefix}/`));
    if (marker && left.length === 1 && left[0] === marker) erased = withAnnotations(erased, { [marker]: undefined });
  }
  return erased;
}
