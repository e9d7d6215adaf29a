/** Sources: what happens outside of the cluster wakes objects. One that fails is begun again, for as long as it takes. */
import type { KindDescription } from "@lotse/client";
import { type Clock, formatDuration, sleep } from "@lotse/client/meta";
import { backoffMs, type OutsideContext, type SourceHandler, type WokenObject } from "../declare/index.ts";
import type { Logger, Metrics } from "../report/index.ts";
import { errorFields } from "../turn/index.ts";

/** What a source is run with. */
export interface SourceParts {
  readonly operator: string;
  readonly context: Omit<OutsideContext, "logger">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Wakes an object; false when it is not known. */
  readonly wake: (object: WokenObject, why: string) => boolean;
}

/** A source that has run for so long without a failure begins its back-off anew. */
const WELL_AFTER_MS = 60_000;

/** Runs one source until it ends, or until the operator stops. Never rejects. */
export async function runSource({ id, place, retry, fn }: SourceHandler, parts: SourceParts): Promise<void> {
  const { clock, random, context } = parts;
  const logger = parts.logger.with({ source: id });
  const { signal } = context;
  for (let failures = 0; !signal.aborted; ) {
    const begunAt = clock.monotonic();
    try {
      for await (const told of fn({ ...context, logger })) {
        for (const object of Array.isArray(told) ? (told as readonly WokenObject[]) : [told as WokenObject]) {
          tell(id, object, parts, logger);
        }
        if (signal.aborted) return;
      }
      if (!signal.aborted) logger.info("source has ended");
      return;
    } catch (error) {
      if (signal.aborted) return;
      failures = clock.monotonic() - begunAt >= WELL_AFTER_MS ? 1 : failures + 1;
      const delayMs = backoffMs(retry.backoff, failures, random());
      const retryIn = formatDuration(delayMs);
      logger.warn("source failed, it is begun again", { at: place, ...errorFields(error, failures === 1), retryIn });
      count(parts, id, "failed");
      await sleep(clock, delayMs, signal).catch(() => undefined);
    }
  }
}

function tell(id: string, object: WokenObject, parts: SourceParts, logger: Logger): void {
  const why = object.why === undefined ? `source ${id}` : `source ${id}: ${object.why}`;
  const known = parts.wake(object, why);
  count(parts, id, known ? "woken" : "unknown");
  if (known) return;
  const { namespace, name } = object;
  logger.debug("a source speaks of an object that is not known", {
    kind: kindName(object.kind),
    object: namespace === undefined ? name : `${namespace}/${name}`,
  });
}

function kindName(kind: WokenObject["kind"]): string {
  if (typeof kind === "string") return kind;
  const { description } = kind as { description?: KindDescription };
  return description?.kind ?? (kind as Partial<KindDescription>).kind ?? "unknown";
}

function count({ metrics, operator }: SourceParts, source: string, result: "woken" | "unknown" | "failed"): void {
  metrics.count("lotse_source_events_total", "What sources have told of.", { operator, source, result });
}
