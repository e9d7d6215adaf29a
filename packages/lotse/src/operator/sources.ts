/** Sources: what happens outside of the cluster wakes objects. One that fails is begun again, for as long as it takes. */
import type { KindDescription } from "@lotse/client";
import { formatDuration, isObject, sleep } from "@lotse/client/meta";
import {
  backoffMs,
  DeclarationError,
  type OutsideContext,
  type SourceHandler,
  type WokenObject,
} from "../declare/index.ts";
import type { Metrics } from "../report/index.ts";
import { errorFields, execute, type Surroundings } from "../turn/index.ts";
import { contextFor, OPERATORS_OWN, REFUSED_PAUSE_MS, stopOf, type TaskContext } from "./effort.ts";
import { unlessAborted } from "./signals.ts";

/** What a source is run with. */
export interface SourceParts {
  readonly operator: string;
  readonly context: TaskContext;
  readonly surroundings: Surroundings;
  readonly random: () => number;
  readonly metrics: Metrics;
  /** How long it may take to end after its signal. */
  readonly graceMs: number;
  /** Wakes an object; false when it is not known. */
  readonly wake: (object: WokenObject, why: string) => boolean;
}

/** A source that has run for so long without a failure begins its back-off anew. */
const WELL_AFTER_MS = 60_000;

/** Runs one source until it ends, or until its signal aborts. Never rejects. */
export async function runSource(handler: SourceHandler, parts: SourceParts): Promise<void> {
  const { surroundings, random, context, graceMs } = parts;
  const { clock } = surroundings.runtime;
  const { signal, logger } = context;
  const { id, sourceLocation, retry } = handler;
  const { stop: parent, letGo } = stopOf(signal);
  for (let failures = 0; !signal.aborted; ) {
    const begunAt = clock.monotonic();
    const { result } = await execute(surroundings, {
      ...OPERATORS_OWN,
      handler: { id, type: "source", sourceLocation },
      logger,
      retry: failures,
      parent,
      timeoutMs: undefined,
      graceMs,
      errors: "temporary",
      call: (stop, runId) => listen(handler, parts, contextFor(context, stop, clock, runId)),
    });
    if (signal.aborted) break;
    const { error, refused, runId } = result;
    if (refused) {
      logger.info("source was stopped, another process may do its work", { runId, why: refused.message });
      await sleep(clock, REFUSED_PAUSE_MS, signal).catch(() => undefined);
      continue;
    }
    if (error === undefined) {
      logger.warn("source has ended, it tells nothing any more", { at: sourceLocation, runId });
      break;
    }
    failures = clock.monotonic() - begunAt >= WELL_AFTER_MS ? 1 : failures + 1;
    const delayMs = backoffMs(retry.backoff, failures, random());
    const retryIn = formatDuration(delayMs);
    logger.warn("source failed, it is begun again", {
      at: sourceLocation,
      runId,
      ...errorFields(error, failures === 1),
      retryIn,
    });
    count(parts, id, "failed");
    await sleep(clock, delayMs, signal).catch(() => undefined);
  }
  letGo();
}

/** Resolves when the source has ended, which it also has to when the operator stops. */
async function listen({ id, fn }: SourceHandler, parts: SourceParts, context: OutsideContext): Promise<void> {
  const iterator = iteratorOf(id, fn(context));
  for (;;) {
    const next = iterator.next();
    const result = await unlessAborted(next, context.signal);
    if (!result) {
      // First it hears of it by its signal; one that waits for nothing in particular ends here.
      await Promise.allSettled([next, iterator.return?.()]);
      return;
    }
    if (result.done) return;
    const { value } = result;
    for (const object of Array.isArray(value) ? value : [value]) tell(id, object, parts);
  }
}

function iteratorOf(id: string, told: unknown): AsyncIterator<unknown> {
  const { [Symbol.asyncIterator]: iterate } = (told ?? {}) as Partial<AsyncIterable<unknown>>;
  if (iterate) return iterate.call(told);
  throw new DeclarationError(`the source ${id} is no async generator`, {
    hint: `write operator.source("${id}", async function* ({ signal }) { yield { kind, namespace, name }; })`,
  });
}

function tell(id: string, told: unknown, parts: SourceParts): void {
  if (!isObject(told) || typeof told.name !== "string" || told.kind === undefined) {
    throw new DeclarationError(`the source ${id} tells of ${JSON.stringify(told)}, which is no object`, {
      hint: 'yield { kind: Machine, namespace: "default", name: "one", why: "…" }',
    });
  }
  const object = told as unknown as WokenObject;
  const why = object.why === undefined ? `source ${id}` : `source ${id}: ${object.why}`;
  const known = parts.wake(object, why);
  count(parts, id, known ? "woken" : "unknown");
  if (known) return;
  const { namespace, name } = object;
  parts.context.logger.debug("a source speaks of an object that is not known", {
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
