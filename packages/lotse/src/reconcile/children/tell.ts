/** Tells what was done to a child: in the log, as an Event of its parent, and to people who ask `lotse explain`. */
import type { KindDescription, KubeBody } from "@lotse/client";
import type { ReconcileContext } from "../../declare/index.ts";
import { notesOf, type ObjectMemory } from "../../turn/index.ts";

/** What is done to children. */
export type ChildAct = "created" | "changed" | "repaired" | "drifted" | "deleted";

/** More about it. */
export interface ActDetails {
  /** The fields that it was about. */
  readonly fields?: readonly string[] | undefined;
  /** Who had changed them, by field manager. */
  readonly by?: readonly string[] | undefined;
  readonly why?: string | undefined;
}

const SENTENCES: Readonly<Record<ChildAct, string>> = {
  created: "the child was created",
  changed: "the child was changed",
  repaired: "the child was repaired",
  drifted: "the child was changed by somebody else, it is kept as it is",
  deleted: "the child was deleted",
};

const WORDS: Readonly<Record<ChildAct, readonly [reason: string, words: string]>> = {
  created: ["ChildCreated", "was created"],
  changed: ["ChildChanged", "was changed"],
  repaired: ["ChildRepaired", "was repaired"],
  drifted: ["ChildDrifted", "was changed by somebody else, and is kept as it is"],
  deleted: ["ChildDeleted", "was deleted"],
};

/** More than this is not worth telling of one turn. */
const MOST_ACTS = 20;
const MOST_FIELDS = 10;

/** Whose child it is, and who remembers. */
export interface Teller {
  readonly context: Pick<ReconcileContext<KubeBody>, "logger" | "info" | "settings">;
  readonly memory: ObjectMemory;
}

/** See the module comment. */
export function tellChild({ context, memory }: Teller, act: ChildAct, child: string, details: ActDetails = {}): void {
  const fields = details.fields?.length ? listed(details.fields) : undefined;
  const by = details.by?.length ? details.by.join(", ") : undefined;
  context.logger.info(SENTENCES[act], { child, fields, by, why: details.why });
  const [reason, words] = WORDS[act];
  const rest = [fields && `: ${fields}`, by && `, changed by ${by}`, details.why && `, because ${details.why}`];
  const text = `${child} ${words}${rest.filter(Boolean).join("")}`;
  const notes = notesOf(memory);
  notes.children ??= [];
  if (notes.children.length < MOST_ACTS) notes.children.push(text);
  if (context.settings.posting.events === "all") context.info(reason, text);
}

/** `ConfigMap a-page`; with its namespace where that is not its parent's. */
export function childText(kind: KindDescription, { metadata }: KubeBody, namespace: string | undefined): string {
  const { name = "", namespace: own } = metadata ?? {};
  return `${kind.kind} ${own === undefined || own === namespace ? "" : `${own}/`}${name}`;
}

/** A long list of fields, as far as people will read it. */
function listed(fields: readonly string[]): string {
  const shown = fields.slice(0, MOST_FIELDS).join(", ");
  return fields.length > MOST_FIELDS ? `${shown} and ${fields.length - MOST_FIELDS} more` : shown;
}
