import type { Io, Output } from "./io.ts";

/** Whether to colour what goes to `output`: a terminal, unless the environment says otherwise (no-color.org). */
export function wantsColours(output: Output, env: Io["env"]): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
  return output.isTTY === true && env.TERM !== "dumb";
}
