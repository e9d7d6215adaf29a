/** Slows down work that is called by its own changes, or that fights with another client over an object, and says so. */
import type { KindDescription, KubeBody } from "@lotse/client";
import { diff, formatDuration, type JsonObject } from "@lotse/client/meta";
import type { Logger, Metrics } from "../report/index.ts";
import type { Decision } from "./decide.ts";
import { canonical, digestOf } from "./essence.ts";
import { leafPaths } from "./fields.ts";
import { afterAnswer, afterForeignChange, afterOwnChange, coolAt, cooledDown } from "./hot-loop.ts";
import type { KindWork, TurnRunner } from "./kind-work.ts";
import type { ObjectMemory, RawEvent } from "./memory.ts";
import type { WritePlan } from "./write.ts";

/** Changes that the operator itself makes again and again, with no other client between them, wait for longer each time. */
export function slowDown(
  work: KindWork,
  memory: ObjectMemory,
  decision: Decision,
  runner: TurnRunner,
  body: KubeBody,
  logger: Logger,
): Decision {
  const { cycle, current } = decision;
  const { clock, settings } = work.runtime;
  const foreign = memory.ownWrites.changedByOthers && memory.ownWrites.digest !== current.digest;
  memory.ownWrites.changedByOthers = false;
  coolDown(work, memory, runner, foreign);
  if (cycle?.reason !== "update" || decision.due.length === 0) return decision;
  const now = clock.monotonic();
  if (now < memory.hotLoop.state.until) {
    // Whose change it was counts when its time has come.
    memory.ownWrites.changedByOthers = foreign;
    return { ...decision, cycle: undefined, due: [], nextDue: clock.now() + (memory.hotLoop.state.until - now) };
  }
  if (foreign || Object.keys(cycle.runs).length > 0) return decision;
  memory.hotLoop.state = afterOwnChange(memory.hotLoop.state, now, settings.queueing.hotLoop);
  if (memory.hotLoop.state.level > 0) {
    const fields = diff(cycle.old, current.essence)
      .map(({ path }) => path.join("."))
      .join(", ");
    const handlers = decision.due.map(({ id }) => id).join(", ");
    tell(work, memory, body, runner, logger, {
      sentence: "a handler is called by its own changes again and again, it is slowed down",
      fields: { handlers, fields },
      hint: "write what shall be, not something new each time; or change the status instead",
      reason: "OwnWrites",
      message: `the operator's own writes call ${handlers} again and again, by ${fields}`,
    });
  }
  return decision;
}

/** A loop is over when another client changes the object, or after a while; until then the object says that there is one. */
function coolDown(work: KindWork, memory: ObjectMemory, runner: TurnRunner, foreign: boolean): void {
  const { level } = memory.hotLoop.state;
  const cooled = cooledDown(memory.hotLoop.state, work.runtime.clock.monotonic());
  memory.hotLoop.state = foreign ? afterForeignChange(cooled) : cooled;
  if (level > 0 && memory.hotLoop.state.level === 0) {
    if (cooled.level > 0) runner.condition("HotLoop", false, "Changed", "another client has changed the object");
    else runner.condition("HotLoop", false, "Calm", "it has not happened again");
  } else if (memory.hotLoop.state.by === "fight" && memory.hotLoop.fight !== undefined) {
    runner.condition("HotLoop", true, "Fight", memory.hotLoop.fight);
    memory.hotLoop.fight = undefined;
  }
}

/** When to look again at an object whose work is slowed down; undefined when it is not. */
export function loopDueAt(
  { hotLoop: { state: loop }, inbox: { events } }: ObjectMemory,
  now: number,
): number | undefined {
  if (loop.level === 0) return undefined;
  return now < loop.until && (events || loop.by === "fight") ? loop.until : coolAt(loop);
}

/** Whether raw events wait, because handlers have made too many of them themselves. */
export function eventsWait({ hotLoop: { state: loop } }: ObjectMemory, now: number): boolean {
  return loop.by === "events" && now < loop.until;
}

/** Handlers of raw events want to change the object, and that makes the next event. */
export function slowEvents(
  work: KindWork,
  memory: ObjectMemory,
  events: readonly RawEvent[],
  runner: TurnRunner,
  body: KubeBody,
  logger: Logger,
): void {
  const isOwn = ({ own, body: shown }: RawEvent) => own || shown.metadata?.resourceVersion === memory.ownWrites.version;
  if (events.length === 0 || !runner.wantsChanges || !events.every(isOwn)) return;
  memory.hotLoop.state = afterOwnChange(
    memory.hotLoop.state,
    work.runtime.clock.monotonic(),
    work.runtime.settings.queueing.hotLoop,
    "events",
  );
  if (memory.hotLoop.state.level === 0) return;
  const handlers = work.handlers.events.map(({ id }) => id).join(", ");
  tell(work, memory, body, runner, logger, {
    sentence: "an event handler is called by its own changes again and again, it is slowed down",
    fields: { handlers },
    hint: "change the object only where it is not yet as it shall be; or use on.update, which is not called by the status",
    reason: "OwnWrites",
    message: `the operator's own writes call ${handlers} again and again`,
  });
}

/** What the turn has written on top of another client's change: the same again and again is a fight. */
export function noteAnswer(
  work: KindWork,
  memory: ObjectMemory,
  { changes, transforms }: Pick<WritePlan, "changes" | "transforms">,
  written: KubeBody,
  logger: Logger,
): void {
  if (!changes && !transforms?.length) return;
  const now = work.runtime.clock.monotonic();
  const before = memory.hotLoop.state;
  memory.hotLoop.state = afterAnswer(
    before,
    nameOf(work, changes, written),
    now,
    work.runtime.settings.queueing.hotLoop,
  );
  if (memory.hotLoop.state.by !== "fight" || memory.hotLoop.state.level <= before.level) return;
  const fields = changes ? leafPaths(changes).join(", ") : "a transformation";
  memory.hotLoop.fight = `somebody undoes what the operator writes again and again: ${fields}`;
  tell(work, memory, written, undefined, logger, {
    sentence: "somebody undoes what the operator writes, again and again, it is slowed down",
    fields: { fields },
    hint: "two writers want different things; kubectl get --show-managed-fields tells who the other one is",
    reason: "Fight",
    message: memory.hotLoop.fight,
  });
}

function nameOf(work: KindWork, changes: JsonObject | undefined, written: KubeBody): string {
  const text = changes ? canonical(changes) : digestOf(work.essenceOf(written));
  return text.length > 64 ? digestOf({ text }) : text;
}

function tell(
  work: KindWork,
  { hotLoop: { state: loop } }: ObjectMemory,
  body: KubeBody,
  runner: TurnRunner | undefined,
  logger: Logger,
  what: {
    readonly sentence: string;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly hint: string;
    readonly reason: string;
    readonly message: string;
  },
): void {
  const pause = formatDuration(loop.until - work.runtime.clock.monotonic());
  logger.warn(what.sentence, { ...what.fields, pause, hint: what.hint });
  work.reporting.post(body, "Warning", "HotLoop", what.message);
  runner?.condition("HotLoop", true, what.reason, what.message);
  countHotLoop(work.reporting.metrics, work.runtime.operator, work.kind);
}

/** A loop has begun, or has become hotter. */
export function countHotLoop(metrics: Metrics, operator: string, { kind }: KindDescription): void {
  const help = "Handlers called by their own changes again and again.";
  metrics.count("lotse_hot_loops_total", help, { operator, kind });
}
