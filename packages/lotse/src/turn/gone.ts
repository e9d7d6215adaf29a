/** The object is gone: raw events, and optional delete handlers with the last known body, once, best effort. */
import type { KubeBody } from "@lotse/client";
import { matchesFilters } from "../declare/index.ts";
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
  if (handlers.length === 0 || isHandled(memory.life)) return;
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
