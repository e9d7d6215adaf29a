/** The patch object that handlers fill, and the arithmetic of merge patches. */
import type { KubeBody } from "@lotse/client";
import { isObject, type JsonObject, setKey } from "@lotse/client/meta";
import type { Patch } from "../declare/index.ts";

/** A change of the newest body in place: what a merge patch cannot say. */
export type Transform = (body: KubeBody) => void;

/** What one attempt wants to change: the patch object that the handler fills, and what it comes to. */
export class PatchDraft {
  #transforms: Transform[] = [];
  /** What the handler gets. Its usual sections are there, so that `patch.status.x = 1` just works. */
  readonly view: Patch<KubeBody>;

  /** `flush`: what the handler can call to have written what it wants so far, where it can. */
  constructor(flush?: () => Promise<void>) {
    const sections = { metadata: { labels: {}, annotations: {} }, spec: {}, status: {} };
    const transform = (change: Transform) => void this.#transforms.push(change);
    const view = Object.defineProperty(sections, "transform", { value: transform });
    this.view = (flush ? Object.defineProperty(view, "flush", { value: flush }) : view) as unknown as Patch<KubeBody>;
  }

  get transforms(): readonly Transform[] {
    return this.#transforms;
  }

  /** What was written into the patch, as a merge patch; undefined when nothing was. */
  get mergePatch(): JsonObject | undefined {
    const written = prune(this.view as unknown as JsonObject, SECTIONS);
    if (!written) return undefined;
    // Nearly always it is JSON already, and a copy of it is all that is needed.
    const copy = copyOfJson(written);
    if (copy !== NO_JSON) return copy as JsonObject;
    // Whatever is no JSON is found here, where its handler is known.
    return prune(JSON.parse(JSON.stringify(written)) as JsonObject, SECTIONS);
  }

  /** Everything so far; the handler's patch is empty afterwards, also for those who hold one of its sections. */
  take(): DraftedChanges {
    const taken = { changes: this.mergePatch, transforms: this.#transforms };
    this.#transforms = [];
    empty(this.view as unknown as JsonObject, SECTIONS);
    return taken;
  }

  /** Puts back what was taken; what was written into the patch since stays. */
  putBack({ changes, transforms }: DraftedChanges): void {
    this.#transforms.unshift(...transforms);
    fill(this.view as unknown as JsonObject, combinePatches(changes, this.mergePatch) ?? {}, SECTIONS);
  }
}

function empty(value: JsonObject, sections: Sections | true): void {
  for (const [key, item] of Object.entries(value)) {
    const section = sections === true ? undefined : sections[key];
    if (section !== undefined && isObject(item)) empty(item as JsonObject, section);
    else delete value[key];
  }
}

function fill(value: JsonObject, from: JsonObject, sections: Sections | true): void {
  for (const [key, item] of Object.entries(from)) {
    const section = sections === true ? undefined : sections[key];
    if (section !== undefined && isObject(item) && isObject(value[key])) {
      fill(value[key] as JsonObject, item as JsonObject, section);
    } else value[key] = item;
  }
}

/** What a {@link PatchDraft} comes to. */
export interface DraftedChanges {
  readonly changes: JsonObject | undefined;
  readonly transforms: readonly Transform[];
}

const NO_JSON = Symbol("no JSON");
const DEEPEST = 100;

/** A copy of what is JSON as it stands; {@link NO_JSON} for anything that JSON would make something else of, or nothing. */
function copyOfJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  // JSON has no minus zero.
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : NO_JSON;
  // What holds itself has no end.
  if (typeof value !== "object" || depth > DEEPEST) return NO_JSON;
  const isList = Array.isArray(value);
  if (Object.getPrototypeOf(value) !== (isList ? Array.prototype : Object.prototype)) return NO_JSON;
  if ("toJSON" in value) return NO_JSON;
  if (isList) {
    const copy: unknown[] = [];
    for (const item of value) {
      const part = copyOfJson(item, depth + 1);
      if (part === NO_JSON) return NO_JSON;
      copy.push(part);
    }
    return copy;
  }
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const part = copyOfJson((value as Record<string, unknown>)[key], depth + 1);
    if (part === NO_JSON) return NO_JSON;
    setKey(copy, key, part);
  }
  return copy;
}

/** Sections of a new patch: when no handler wrote into them, they mean nothing, not "an empty object". */
type Sections = { readonly [key: string]: Sections | true };
const SECTIONS: Sections = { metadata: { labels: true, annotations: true }, spec: true, status: true };

function prune(value: JsonObject, sections: Sections): JsonObject | undefined {
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const section = sections[key];
    if (section === undefined || !isObject(item)) result[key] = item;
    else {
      const kept = section === true ? item : prune(item as JsonObject, section);
      if (kept && Object.keys(kept).length > 0) result[key] = kept as JsonObject;
    }
  }
  return Object.keys(result).length > 0 ? result : undefined;
}

/** One merge patch that does what `first` and then `second` do. */
export function combinePatches(first: JsonObject | undefined, second: JsonObject | undefined): JsonObject | undefined {
  if (!first || !second) return first ?? second;
  const result: JsonObject = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const before = result[key];
    result[key] =
      isObject(before) && isObject(value) ? combinePatches(before as JsonObject, value as JsonObject) : value;
  }
  return result;
}
