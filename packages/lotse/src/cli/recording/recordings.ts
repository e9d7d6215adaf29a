/** Recordings of what handlers asked for: where they are kept, and how they are read. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { RecordedRequest } from "../../report/index.ts";
import { parseRecording } from "../../report/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem, splitMessage } from "../terminal/index.ts";

/** Where a recording is kept beside the operator, so that no command has to be told: `operator.requests.jsonl`. */
export function recordingOf(file: string): string {
  return file.replace(/\.[^.]+$/, ".requests.jsonl");
}

/** The requests of the recordings that were named, else of the one beside the operator, if it is there. */
export function readRecordings(
  file: string,
  from: readonly string[] | undefined,
  io: Pick<Io, "cwd">,
): readonly RecordedRequest[] {
  if (from?.length) return from.flatMap((one) => parsed(read(one, io), one));
  const kept = readIfThere(path.resolve(io.cwd, recordingOf(file)));
  return kept === undefined ? [] : parsed(kept, recordingOf(file));
}

function read(file: string, io: Pick<Io, "cwd">): string {
  try {
    return readFileSync(path.resolve(io.cwd, file), "utf8");
  } catch (cause) {
    throw recordingProblem(file, cause);
  }
}

function parsed(text: string, file: string): readonly RecordedRequest[] {
  try {
    return parseRecording(text);
  } catch (cause) {
    throw recordingProblem(file, cause);
  }
}

function recordingProblem(file: string, cause: unknown): Problem {
  return new Problem(
    {
      what: `the recording ${file} cannot be read`,
      why: splitMessage(cause as Error).what,
      todo: `record one: LOTSE_RECORD=${file} npm test`,
    },
    { cause },
  );
}

/** The text of a file; undefined when there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}
