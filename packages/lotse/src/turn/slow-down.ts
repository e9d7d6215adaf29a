/** Slows down handlers that are called by their own changes, and says so. */
import type { KubeBody } from "@lotse/client";
import { diff, formatDuration } from "@lotse/client/meta";
import type { Logger } from "../report/index.ts";
import type { Decision } from "./decide.ts";
import { afterOwnChange, CALM } from "./hot-loop.ts";
import type { TurnKind } from "./kind.ts";
import type { ObjectMemory } from "./memory.ts";
import type { Runs } from "./runs.ts";

/** Changes that the operator itself makes again and again, with nobody else between them, wait for longer each time. */
export function slowDown(
  kind: TurnKind,
  memory: ObjectMemory,
  decision: Decision,
  runs: Runs,
  body: KubeBody,
  logger: Logger,
): Decision {
  const { cycle, current } = decision;
  const { clock, settings } = kind;
  const foreign = memory.foreign && memory.ownDigest !== current.digest;
  memory.foreign = false;
  if (foreign && memory.loop.level > 0) runs.condition("HotLoop", false, "Changed", "somebody has changed the object");
  if (foreign) memory.loop = CALM;
  if (cycle?.reason !== "update" || decision.due.length === 0) return decision;
  const now = clock.monotonic();
  if (now < memory.loop.until) {
    return { ...decision, cycle: undefined, due: [], nextDue: clock.now() + (memory.loop.until - now) };
  }
  if (foreign || Object.keys(cycle.runs).length > 0) return decision;
  memory.loop = afterOwnChange(memory.loop, now, settings.queueing.hotLoop);
  if (memory.loop.level > 0) {
    const fields = diff(cycle.old, current.essence)
      .map(({ path }) => path.join("."))
      .join(", ");
    const handlers = decision.due.map(({ id }) => id).join(", ");
    const pause = formatDuration(memory.loop.until - now);
    const message = `the operator's own writes call ${handlers} again and again, by ${fields}`;
    logger.warn("a handler is called by its own changes again and again, it is slowed down", {
      handlers,
      fields,
      pause,
      hint: "write what shall be, not something new each time; or change the status instead",
    });
    kind.post(body, "Warning", "HotLoop", message);
    runs.condition("HotLoop", true, "OwnWrites", message);
    kind.metrics.count("lotse_hot_loops_total", "Handlers called by their own changes again and again.", {
      operator: kind.operator,
      kind: kind.kind.kind,
    });
  }
  return decision;
}
