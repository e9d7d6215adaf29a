/**
 * What handlers ask the API server for is written down for `lotse generate`: by `lotse run` and tests where
 * `LOTSE_RECORD=FILE` says so, by `lotse dev` always, beside the operator, unless `LOTSE_RECORD=off`. A recording only
 * grows: what earlier sessions have seen stays, and what is known is not written again.
 */
import { appendFileSync, existsSync } from "node:fs";
import path from "node:path";
import type { Logger, RecordedRequest } from "../../report/index.ts";
import { parseRecording, requestRecorder } from "../../report/index.ts";
import { shownPath } from "../project/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";
import { readIfThere, recordingOf } from "./recordings.ts";

/** Hears of a request of a handler. */
export type RecordRequest = (request: RecordedRequest) => void;

const OFF = "off";

/** Where requests are recorded to; undefined when the user has not asked for it. */
export function recordTo({ env, cwd }: Pick<Io, "env" | "cwd">): RecordRequest | undefined {
  if (!env.LOTSE_RECORD || env.LOTSE_RECORD === OFF) return undefined;
  const file = path.resolve(cwd, env.LOTSE_RECORD);
  try {
    appendFileSync(file, "");
    return requestRecorder((line) => appendFileSync(file, line), knownIn(file));
  } catch (cause) {
    throw new Problem(
      {
        what: `the recording ${file} cannot be written`,
        why: (cause as Error).message,
        todo: "set LOTSE_RECORD to another file",
      },
      { cause },
    );
  }
}

/** The recording of a session of `lotse dev`. What goes wrong with it is told once, and does not stop the session. */
export function recordBeside(
  operator: string,
  logger: Logger,
  { env, cwd }: Pick<Io, "env" | "cwd">,
): RecordRequest | undefined {
  if (env.LOTSE_RECORD === OFF) return undefined;
  const file = env.LOTSE_RECORD ? path.resolve(cwd, env.LOTSE_RECORD) : recordingOf(operator);
  const shown = shownPath(file, cwd);
  let told = false;
  let broken = false;
  const trouble = (error: unknown) => {
    broken = true;
    const hint = "mend or remove it, set LOTSE_RECORD to another file, or to off";
    logger.warn("what handlers ask for is not recorded", { file: shown, error, hint });
  };
  const write = (line: string) => {
    if (broken) return;
    try {
      appendFileSync(file, line);
    } catch (error) {
      trouble(error);
      return;
    }
    if (!told) logger.info("what handlers ask for is recorded for lotse generate", { file: shown });
    told = true;
  };
  try {
    return requestRecorder(write, knownIn(file));
  } catch (error) {
    trouble(error);
    return undefined;
  }
}

/** The recording that `LOTSE_RECORD` names, as far as there is one; undefined: the one beside the operator counts. */
export function recordingInUse({ env, cwd }: Pick<Io, "env" | "cwd">): readonly string[] | undefined {
  const named = env.LOTSE_RECORD;
  return named && named !== OFF && existsSync(path.resolve(cwd, named)) ? [named] : undefined;
}

function knownIn(file: string): readonly RecordedRequest[] {
  return parseRecording(readIfThere(file) ?? "");
}
