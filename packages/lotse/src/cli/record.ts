/** `LOTSE_RECORD=FILE`: what handlers ask the API server for is written down, for `lotse generate rbac --from FILE`. */
import { appendFileSync } from "node:fs";
import path from "node:path";
import { type RecordedRequest, recorder } from "../generate/index.ts";
import type { Io } from "./io.ts";
import { Problem } from "./problem.ts";

/** Where requests are recorded to; undefined when nobody asked for it. */
export function recordTo({ env, cwd }: Pick<Io, "env" | "cwd">): ((request: RecordedRequest) => void) | undefined {
  if (!env.LOTSE_RECORD) return undefined;
  const file = path.resolve(cwd, env.LOTSE_RECORD);
  try {
    appendFileSync(file, "");
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
  return recorder((line) => appendFileSync(file, line));
}
