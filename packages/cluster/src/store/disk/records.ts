/** What the payloads of frames say. Every file begins with one that tells what the file is. */

import type { StoredObject } from "../change.ts";
import type { JournalEntry, StoredRow } from "../journal.ts";

/** Grows with every change that an older release could not read. */
export const FORMAT_VERSION = 1;

/** What a file of the data folder holds: steps, or the state at one revision. */
export type FileKind = "log" | "snapshot";

/** The first record of a file. `revision`: of a snapshot its own, of a log the one that its first entry follows. */
export interface Preamble {
  readonly format: `lotse-${FileKind}`;
  readonly version: number;
  readonly revision: number;
}

/** The first payload of a new file. */
export function preamble(kind: FileKind, revision: number): string {
  return JSON.stringify({ format: `lotse-${kind}`, version: FORMAT_VERSION, revision } satisfies Preamble);
}

/** The last record of a snapshot, so that one that was cut between two frames is recognised. */
export const trailer = (rows: number): string => JSON.stringify({ rows });

/** Written when a server stops: it proves that all before it was whole. */
export const FAREWELL = "[]";

/** The letters are part of the format: a log that an earlier release wrote is read by them. */
const LETTER = { put: "p", delete: "d", compaction: "t" } as const;

/** The payload of a frame of a log. */
export function encodeEntries(entries: readonly JournalEntry[]): string {
  return `[${entries.map(encodeEntry).join(",")}]`;
}

function encodeEntry(entry: JournalEntry): string {
  if (entry.type === "compaction") return `["${LETTER.compaction}",${entry.revision}]`;
  const { type, revision, resource, key, object } = entry;
  return `["${LETTER[type]}",${revision},${JSON.stringify(resource)},${JSON.stringify(key)},${JSON.stringify(object)}]`;
}

type EntryTuple = ["t", number] | ["p" | "d", number, string, string, StoredObject];

/** What a frame of a log says; one with nothing in it is a farewell. */
export function decodeEntries(json: string): JournalEntry[] {
  return (JSON.parse(json) as EntryTuple[]).map((tuple): JournalEntry => {
    if (tuple[0] === "t") return { type: "compaction", revision: tuple[1] };
    const [letter, revision, resource, key, object] = tuple;
    return { type: letter === "p" ? "put" : "delete", revision, resource, key, object };
  });
}

/** The payload of a frame of a snapshot. */
export function encodeRows(rows: readonly StoredRow[]): string {
  const tuples = rows.map(
    ({ resource, key, revision, object }) =>
      `[${JSON.stringify(resource)},${JSON.stringify(key)},${revision},${JSON.stringify(object)}]`,
  );
  return `[${tuples.join(",")}]`;
}

/** The rows that a frame of a snapshot holds. */
export function decodeRows(json: string): StoredRow[] {
  return (JSON.parse(json) as [string, string, number, StoredObject][]).map(([resource, key, revision, object]) => ({
    resource,
    key,
    revision,
    object,
  }));
}
