/** Where on an object Kopf keeps what, and how to get it from there and put it back. */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { digestOf, type Essence, essenceOf } from "../essence.ts";
import { withAnnotations, withoutField, withoutStatus, withStatus } from "../fields.ts";
import { bookkeeping, kopfKeyMaker, kopfMarker } from "./kopf-keys.ts";
import { encodeProgress, type Progress, parseProgress, progressMembers, pythonJson } from "./kopf-progress.ts";

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

/** Where everything lies. */
export interface Layout {
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

/** The places that `options` name. */
export function layoutOf(options: KopfOptions): Layout {
  const { prefix = "kopf.zalando.org", v1 = true, statusName = "kopf" } = options;
  const { diffBasePrefix = prefix, diffBaseKey = "last-handled-configuration", touchKey = "touch-dummy" } = options;
  if (!prefix || !diffBasePrefix) throw new TypeError("kopf() needs a prefix: annotations without one are not its own");
  const baseKeys = kopfKeyMaker(diffBasePrefix, v1);
  const progressKeys = kopfKeyMaker(prefix, v1);
  return {
    progress: options.progress ?? "smart",
    prefixes: [...new Set([prefix, diffBasePrefix])],
    progressPath: [statusName, "progress"],
    touchPath: [statusName, "dummy"],
    basePath: options.diffBase === "status" ? [statusName, diffBaseKey] : undefined,
    ignored: (options.ignoredFields ?? []).map((field) => field.split(".")),
    verbose: options.verbose ?? false,
    baseKeys: (body) => baseKeys(diffBaseKey, body),
    touchKeys: (body) => progressKeys(touchKey, body),
    progressKeys,
  };
}

/** The essence without what Kopf, this operator's or another, keeps in it. */
export function clear(layout: Layout, essence: Essence): Essence {
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
export type Base =
  | { readonly type: "absent" }
  | { readonly type: "found"; readonly essence: Essence; readonly digest: string }
  | { readonly type: "damaged" };

/** Reads the diff-base. */
export function readBase(layout: Layout, body: KubeBody): Base {
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

/** Reads the progress of one handler. */
export function readProgress(layout: Layout, body: KubeBody, id: string): Progress | undefined {
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

/** The member at `path`. */
export function resolve(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (parent, key) => (isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined),
    value,
  );
}

/** A body on its way to what it shall be. */
export interface Draft {
  body: KubeBody;
  readonly annotations: Record<string, string | undefined>;
}

/** Writes the diff-base. */
export function putBase(layout: Layout, draft: Draft, essence: Essence): void {
  const text = pythonJson(essence);
  if (layout.basePath) draft.body = withStatus(draft.body, layout.basePath, text);
  else for (const key of layout.baseKeys(draft.body)) put(draft, key, `${text}\n`);
}

/** Takes the diff-base off. */
export function dropBase(layout: Layout, draft: Draft): void {
  if (layout.basePath) draft.body = withoutStatus(draft.body, layout.basePath);
  else for (const key of layout.baseKeys(draft.body)) draft.annotations[key] = undefined;
}

/** Writes the progress of a handler or sub-handler, if it is not there already in whatever bytes. */
export function putProgress(layout: Layout, draft: Draft, id: string, progress: Progress): void {
  const stored = readProgress(layout, draft.body, id);
  if (stored && pythonJson(progressMembers(stored)) === pythonJson(progressMembers(progress))) return;
  if (layout.progress === "status") {
    draft.body = withStatus(draft.body, [...layout.progressPath, id], progressMembers(progress));
  } else {
    const text = encodeProgress(progress, layout.verbose);
    for (const key of layout.progressKeys(id, draft.body)) put(draft, key, text);
  }
}

/** Takes the progress of a handler or sub-handler off. */
export function dropProgress(layout: Layout, draft: Draft, id: string): void {
  if (layout.progress !== "status") {
    for (const key of layout.progressKeys(id, draft.body)) draft.annotations[key] = undefined;
  }
  if (layout.progress !== "annotations") draft.body = withoutStatus(draft.body, [...layout.progressPath, id]);
}

/** Sets an annotation, and marks its prefix as that of a Kopf operator: others must not take it for a change. */
function put(draft: Draft, key: string, value: string): void {
  draft.annotations[key] = value;
  const marker = kopfMarker(key.slice(0, key.indexOf("/")));
  if (marker && draft.body.metadata?.annotations?.[marker] === undefined) draft.annotations[marker] = "yes";
}

/** What became of the body. */
export function finished({ body, annotations }: Draft): KubeBody {
  return withAnnotations(body, annotations);
}

/** `body` without the mark by which Kopf wakes itself. */
export function withoutTouch(layout: Layout, body: KubeBody): KubeBody {
  if (layout.progress === "status") return withoutStatus(body, layout.touchPath);
  return withAnnotations(body, Object.fromEntries(layout.touchKeys(body).map((key) => [key, undefined])));
}

/** `body` without markers under whose prefixes nothing is left. */
export function withoutLoneMarkers(layout: Layout, body: KubeBody): KubeBody {
  const keys = Object.keys(body.metadata?.annotations ?? {});
  const lone = layout.prefixes.flatMap((prefix) => {
    const marker = kopfMarker(prefix);
    const left = keys.filter((key) => key.startsWith(`${prefix}/`));
    return marker && left.length === 1 && left[0] === marker ? [[marker, undefined] as const] : [];
  });
  return withAnnotations(body, Object.fromEntries(lone));
}
