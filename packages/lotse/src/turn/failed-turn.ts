/** What follows from a turn that could not come to its end. */
import type { KubeBody } from "@lotse/client";
import { type Clock, formatDuration } from "@lotse/client/meta";
import { Aborted, backoffMs, FencedError } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import type { KindWork } from "./kind-work.ts";
import { errorFields } from "./log-fields.ts";
import type { ObjectMemory } from "./memory.ts";
import { messageOf, reportRefused } from "./reports.ts";
import { Superseded } from "./superseded.ts";
import { AGAIN, type EndedTurn, QUIET, type TurnEnd } from "./turn-end.ts";

/** After so long it is asked again whether this process may work on the object: if not, it is soon told to leave it. */
const REFUSED_PAUSE_MS = 500;

/** The end of a turn of which nothing may leave the process at this moment. */
export function askAgain(clock: Clock): TurnEnd {
  return { type: "later", at: clock.monotonic() + REFUSED_PAUSE_MS };
}

/** See the module comment: what comes next, and what is told of it. */
export function endAfter(
  error: unknown,
  work: KindWork,
  memory: ObjectMemory,
  body: KubeBody,
  logger: Logger,
): Pick<EndedTurn, "end" | "problem" | "refused"> {
  const given = error instanceof FencedError || error instanceof Superseded ? error : memory.left;
  if (given) {
    reportRefused(given, logger);
    const end = given instanceof Superseded ? AGAIN : askAgain(work.runtime.clock);
    return { end, problem: undefined, refused: given.message };
  }
  // The end of the operator has cut its requests, and says what is lost.
  if (error instanceof Aborted && error.why === "shutdown") return { end: QUIET, problem: undefined };
  return { end: pauseAfter(error, work, memory, body, logger), problem: messageOf(error) };
}

/** Framework errors (a filter that throws, a patch that is refused) pause the object alone, for longer each time. */
function pauseAfter(
  error: unknown,
  { runtime, reporting }: KindWork,
  { waiting }: ObjectMemory,
  body: KubeBody,
  logger: Logger,
): TurnEnd {
  const pause = backoffMs(runtime.plan.errorBackoff, ++waiting.errors, runtime.random());
  logger.error("could not work on the object, will be tried again", {
    retryIn: formatDuration(pause),
    ...errorFields(error, waiting.errors === 1),
    hint: (error as { hint?: string } | undefined)?.hint,
  });
  reporting.post(body, "Warning", "WorkFailed", `could not work on the object: ${messageOf(error)}`);
  return { type: "later", at: runtime.clock.monotonic() + pause };
}
