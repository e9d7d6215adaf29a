/** What people are told of the handlers of a kind. */
import type { KindDescription } from "@lotse/client";
import { formatDuration } from "@lotse/client/meta";
import type { ErrorMode, Handler, IndexHandler } from "../declare/index.ts";
import type { KindCapabilities } from "../informers/index.ts";
import type { Logger, Reporting, RunningAttempt } from "../report/index.ts";
import { errorFields, named, returnsValue } from "../turn/index.ts";
import { referenceOf } from "./last-writes.ts";

/** What handlers of the kind return has to have room in its status. */
export function tellOfResults(
  handlers: readonly Handler[],
  { keepsField, kind }: KindCapabilities,
  logger: Logger,
): void {
  for (const { type, id, sourceLocation, fn } of handlers) {
    if (type !== "change" && type !== "timer" && type !== "daemon") continue;
    if (keepsField(id) || !returnsValue(fn)) continue;
    logger.warn("a handler returns something, and the kind's status has no field for it", {
      handler: id,
      at: sourceLocation,
      hint: `add ${id} to the status of ${kind.kind}, or return nothing`,
    });
  }
}

/** A handler that never comes to its end keeps its object from everything else. */
export function tellOfSlow(
  operator: string,
  { metrics, events }: Pick<Reporting, "metrics" | "events">,
  kind: KindDescription,
  logger: Logger,
  { key, handler: { id, sourceLocation }, runId }: RunningAttempt,
  forMs: number,
): void {
  const object = referenceOf(kind, key);
  const time = formatDuration(forMs);
  logger.about(object).warn("a handler has not come to its end yet, its object waits for it", {
    handler: id,
    at: sourceLocation,
    runId,
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

const INDEX_FAILURES: Readonly<Record<ErrorMode, string>> = {
  ignored: "index function failed, what was in the index before stays",
  temporary: "index function failed, the object is not in the index until it changes",
  permanent: "index function failed for good, the object is not in the index",
};

/** The function of an index has failed for the object that `logger` is about. */
export function tellOfIndex(logger: Logger, handler: IndexHandler, error: unknown, mode: ErrorMode): void {
  logger.error(INDEX_FAILURES[mode], { ...named(handler), ...errorFields(error, true) });
}
