/** What handlers did, written so that it survives the death of their process at any instant. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** One line of the journal. */
export interface Note {
  readonly pid: number;
  readonly object: string;
  readonly uid: string;
  readonly handler: string;
  readonly reason: string;
  readonly retry: number;
  /** The spec that the handler saw. */
  readonly saw: string;
  readonly phase: "begin" | Outcome;
}

/** How a call ended. */
export type Outcome = "done" | "temporary" | "aborted" | "failed";

export function writeNote(file: string, note: Note): void {
  appendFileSync(file, `${JSON.stringify(note)}\n`);
}

/** All notes so far. A line that is being written is left for the next look. */
export function readNotes(file: string): Note[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Note);
}
