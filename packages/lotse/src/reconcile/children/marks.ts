/**
 * What proves that a child is ours, and what a parent remembers of its children. The mark on a child names the parent,
 * the declaration and what was applied; the note on a parent names the kinds and the external things that may be there
 * although the function no longer returns them. Both are written before or together with what they speak of.
 */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";

/** The mark on a child. */
export interface ChildMark {
  /** The id of the declaration. */
  readonly by: string;
  /** The uid of the parent. */
  readonly of: string;
  /** What its siblings call it. */
  readonly key: string;
  /** The keys that it comes after. */
  readonly after: readonly string[];
  /** Of what was applied. */
  readonly digest: string;
}

/** The note on a parent, for one declaration. */
export interface ParentNote {
  /** `apps/v1/Deployment`. */
  readonly kinds: readonly string[];
  /** Keys of external things. */
  readonly external: readonly string[];
}

const NOTHING: ParentNote = { kinds: [], external: [] };

/** The annotation of children. */
export function markAnnotation(operator: string): string {
  return `${operator}.lotse.dev/child`;
}

/** The annotation of parents. */
export function noteAnnotation(operator: string): string {
  return `${operator}.lotse.dev/children`;
}

/** The text of a mark. */
export function writeMark({ by, of, key, after, digest }: ChildMark): string {
  return JSON.stringify({ by, of, key, ...(after.length > 0 && { after }), digest });
}

/** The names of an operator: the one that it has, and those that it had before. */
export type OperatorNames = readonly [now: string, ...former: string[]];

/** The mark of this operator on an object; undefined when there is none that can be read. */
export function readMark(names: OperatorNames, body: KubeBody | undefined): ChildMark | undefined {
  for (const name of names) {
    const mark = markUnder(name, body);
    if (mark) return mark;
  }
  return undefined;
}

function markUnder(operator: string, body: KubeBody | undefined): ChildMark | undefined {
  const mark = parse(body?.metadata?.annotations?.[markAnnotation(operator)]);
  if (!mark) return undefined;
  const { by, of, key, digest, after } = mark;
  if (typeof by !== "string" || typeof of !== "string" || typeof key !== "string") return undefined;
  return { by, of, key, digest: typeof digest === "string" ? digest : "", after: texts(after) };
}

/** What a parent remembers for one declaration. */
export function readNote(names: OperatorNames, parent: KubeBody, handler: string): ParentNote {
  for (const name of names) {
    const note = parse(parent.metadata?.annotations?.[noteAnnotation(name)])?.[handler];
    if (isObject(note)) return { kinds: texts(note.kinds), external: texts(note.external) };
  }
  return NOTHING;
}

/** The annotation with the note of one declaration changed; the notes of others stay, under whichever name they are. */
export function withNote(names: OperatorNames, parent: KubeBody, handler: string, note: ParentNote): string {
  const { annotations = {} } = parent.metadata ?? {};
  const notes: Record<string, unknown> = {};
  for (const name of [...names].reverse()) Object.assign(notes, parse(annotations[noteAnnotation(name)]));
  const { kinds, external } = note;
  return JSON.stringify({ ...notes, [handler]: { kinds, ...(external.length > 0 && { external }) } });
}

/** The annotation without the note of one declaration; null when there is nothing else in it. */
export function withoutNote(operator: string, parent: KubeBody, handler: string): string | null {
  const { [handler]: _gone, ...others } = parse(parent.metadata?.annotations?.[noteAnnotation(operator)]) ?? {};
  return Object.keys(others).length > 0 ? JSON.stringify(others) : null;
}

/** The mark of an object that was applied by this declaration for this parent: mark and owner have to say so. */
export function ownMark(
  names: OperatorNames,
  handler: string,
  parent: string,
  body: KubeBody | undefined,
): ChildMark | undefined {
  const mark = readMark(names, body);
  if (mark?.by !== handler || mark.of !== parent) return undefined;
  return body?.metadata?.ownerReferences?.some(({ uid }) => uid === parent) ? mark : undefined;
}

/** Whether an object was applied by this declaration for this parent. */
export function isOurs(names: OperatorNames, handler: string, parent: string, body: KubeBody | undefined): boolean {
  return ownMark(names, handler, parent, body) !== undefined;
}

/** Whether the server says that one of these managers applied the object. */
export function isAppliedBy(managers: readonly string[], body: KubeBody): boolean {
  const { managedFields = [] } = body.metadata ?? {};
  return managedFields.some(({ manager = "", operation }) => managers.includes(manager) && operation === "Apply");
}

function parse(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Another client edited it: then nothing is proven, and nothing is touched.
    return undefined;
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
