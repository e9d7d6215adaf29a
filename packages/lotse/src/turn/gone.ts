/** The object is gone: raw events, and optional delete handlers with the last known body, once, best effort. */
import type { KubeBody } from "@lotse/client";
import { matchesFilters, selectionOf } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import type { Cycle } from "./decide.ts";
import { digestOf } from "./essence.ts";
import { HandlerRunner } from "./handler-runner.ts";
import type { KindWork } from "./kind-work.ts";
import { isHandled, nextLife } from "./life.ts";
import { named } from "./log-fields.ts";
import { type ObjectMemory, takeEvents } from "./memory.ts";
import { messageOf } from "./reports.ts";
import { Stop } from "./stop.ts";
import { readObject } from "./write.ts";

/** See the module comment. */
export async function handleGone(work: KindWork, memory: ObjectMemory, body: KubeBody, logger: Logger): Promise<void> {
  memory.running = new Stop();
  const runner = new HandlerRunner(work, memory, body, logger);
  await runner.events(takeEvents(memory));
  const handlers = work.handlers.changes.filter(
    (handler) =>
      handler.reasons.has("delete") &&
      handler.optional &&
      handler.change === undefined &&
      matchesFilters(handler.filters, body),
  );
  if (handlers.length === 0 || isHandled(memory.life) || (await isOutOfSight(work, body, logger))) return;
  memory.life = nextLife(memory.life, { type: "deletion handled" });
  const essence = work.essenceOf(body);
  const current = { essence, digest: digestOf(essence) };
  const cycle: Cycle = { reason: "delete", opened: current, old: essence, selected: handlers, runs: {} };
  const decision = {
    finalizer: "keep" as const,
    cycle,
    due: handlers,
    nextDue: undefined,
    matching: handlers,
    current,
  };
  const attempts = await runner.runChangeHandlers(decision, async () => {});
  for (const { handler, outcome, error } of attempts) {
    if (outcome.type === "done" || memory.running.reason?.why === "ownership") continue;
    logger.error("delete handler failed after the object was gone, it is not tried again", {
      ...named(handler),
      error: "message" in outcome ? outcome.message : messageOf(error),
      hint: "without { optional: true } the object waits for the handler",
    });
  }
}

/**
 * Whether the object has only left what the server is asked for: its streams then say that it is deleted, in the same
 * words, and clean-up for an object that lives on would do harm.
 */
async function isOutOfSight({ runtime, kind }: KindWork, body: KubeBody, logger: Logger): Promise<boolean> {
  if (!selectionOf(runtime.plan.selectors, kind)) return false;
  try {
    const found = await readObject(runtime.client, kind, body);
    if (!found || found.metadata?.uid !== body.metadata?.uid) return false;
    logger.info("the object has left what the settings select, it is not looked after any more");
    return true;
  } catch (error) {
    logger.error(
      "nobody knows whether the object is deleted or has left the selection, delete handlers are not called",
      {
        error: messageOf(error),
        hint: "without { optional: true } a deleted object waits for its handlers",
      },
    );
    return true;
  }
}
