/** What people are told of the handlers of a kind. */
import type { KindDescription } from "@lotse/client";
import { formatDuration } from "@lotse/client/meta";
import type { Handler } from "../declare/index.ts";
import type { KindFacts } from "../informers/index.ts";
import type { Logger, RunningAttempt } from "../report/index.ts";
import { returnsValue } from "../turn/index.ts";
import { referenceOf } from "./last-writes.ts";
import type { ControllerShared } from "./shared.ts";

/** What handlers of the kind return has to have room in its status. */
export function tellOfResults(handlers: readonly Handler[], { keepsField, kind }: KindFacts, logger: Logger): void {
  for (const { type, id, place, fn } of handlers) {
    if (type !== "change" && type !== "timer" && type !== "daemon") continue;
    if (keepsField(id) || !returnsValue(fn)) continue;
    logger.warn("a handler returns something, and the kind's status has no field for it", {
      handler: id,
      at: place,
      hint: `add ${id} to the status of ${kind.kind}, or return nothing`,
    });
  }
}

/** A handler that never comes to its end keeps its object from everything else. */
export function tellOfSlow(
  { metrics, operator, events }: Pick<ControllerShared, "metrics" | "operator" | "events">,
  kind: KindDescription,
  logger: Logger,
  { key, handler: { id, place } }: RunningAttempt,
  forMs: number,
): void {
  const object = referenceOf(kind, key);
  const time = formatDuration(forMs);
  logger.about(object).warn("a handler has not come to its end yet, its object waits for it", {
    handler: id,
    at: place,
    for: time,
    hint: "await with the context's signal, or give it { timeout }",
  });
  events.post({ type: "Warning", reason: "HandlerSlow", message: `${id} has been running for ${time}`, object });
  metrics.count("lotse_slow_handlers_total", "Attempts that have not come to their end for long.", {
    operator,
    kind: kind.kind,
    handler: id,
  });
}
