/**
 * One attempt of one handler of an object, whatever sort it is of: what it is given, its signal and deadline, its span,
 * its measures, and what is said when it blocks the event loop or ignores its signal. What follows from how it ended is
 * the business of whoever had it run.
 */
import type { Client, KubeBody } from "@lotse/client";
import { errorMessage, formatDuration } from "@lotse/client/meta";
import type { Handler, IndexHandler, Reason } from "../declare/index.ts";
import type { JournalRun, Logger, TracedEnd } from "../report/index.ts";
import { type AttemptResult, attempt } from "./attempt.ts";
import { ConditionsDraft, conditionsOf } from "./conditions.ts";
import type { ContextParts } from "./context.ts";
import { handlerClient } from "./handler-requests.ts";
import { type KindWork, referenceTo } from "./kind-work.ts";
import { named } from "./log-fields.ts";
import type { ObjectMemory } from "./memory.ts";
import type { PatchDraft } from "./patch.ts";
import type { Stop } from "./stop.ts";

/** A handler of an object that can be executed; index functions are asked, not executed. */
export type ObjectHandler = Exclude<Handler, IndexHandler>;

/** What is to be executed, for whom. */
export interface Execution {
  readonly handler: ObjectHandler;
  readonly memory: ObjectMemory;
  /** The state that the handler is shown. */
  readonly body: KubeBody;
  readonly logger: Logger;
  /** Why a handler of changes is called. */
  readonly reason: Reason | undefined;
  /** How many attempts there were before. */
  readonly retry: number;
  /** Ends it from outside. */
  readonly parent: Stop;
  /** Milliseconds that are left of the handler's `timeout`. */
  readonly timeoutMs: number | undefined;
  /** How long it may take to end after its signal. */
  readonly graceMs: number;
  /** Collects what it wants to change. */
  readonly draft: PatchDraft;
  /** Collects what it says of the object; made when it first does, unless there is one already. */
  readonly conditions?: ConditionsDraft;
  readonly call: (parts: ContextParts) => unknown;
}

/** How it ended. */
export interface Executed {
  readonly result: AttemptResult;
  /** The same in the words of the journal. */
  readonly run: JournalRun;
  /** Undefined when the handler has not asked for them. */
  readonly conditions: ConditionsDraft | undefined;
}

/** What became of an attempt, in the words of the journal. */
const OUTCOMES: Readonly<Record<AttemptResult["outcome"]["type"], JournalRun["outcome"]>> = {
  done: "succeeded",
  temporary: "failed",
  failed: "failed for good",
  aborted: "stopped",
};

/** How an attempt ended, in the words of the journal and of traces. */
export function tracedEnd({ outcome, error }: AttemptResult): TracedEnd {
  if (outcome.type === "temporary" && outcome.waitsForStep) return { outcome: "waits for a step", error };
  return { outcome: outcome.type === "temporary" && outcome.waits ? "waits" : OUTCOMES[outcome.type], error };
}

/** See the module comment. Never rejects. */
export async function execute(work: KindWork, execution: Execution): Promise<Executed> {
  const { handler, reason, retry, body } = execution;
  if (!work.reporting.traces) return run(work, execution);
  const { id, type } = handler;
  const object = referenceTo(work, body);
  const end = ({ result }: Executed) => tracedEnd(result);
  return work.reporting.traces.attempt(object, { id, type, reason, retry }, () => run(work, execution), end);
}

async function run(work: KindWork, execution: Execution): Promise<Executed> {
  const { handler, memory, body, logger, parent, timeoutMs, graceMs, draft, call } = execution;
  const { clock, plan, settings } = work.runtime;
  const { id, type, param } = handler;
  let { conditions } = execution;
  const begunAt = clock.monotonic();
  // A daemon is to run for long: nothing waits for its end.
  const ended = type === "daemon" ? undefined : work.reporting.attempts.begin(memory.key, handler);
  const clientOf = (stop: Stop): Client =>
    handlerClient(work, id, body, stop.signal, work.handlers.reconcilers?.writerOf(memory, id));
  const partsOf = (stop: Stop): ContextParts => ({
    body,
    kind: work.kind,
    kindClass: work.kindClass,
    stop,
    client: () => clientOf(stop),
    logger: () => logger.with({ handler: id }),
    memo: () => work.views.memoOf(memory),
    param,
    patch: draft.view,
    indexes: work.views.indexes,
    settings,
    conditions: () => {
      conditions ??= new ConditionsDraft(conditionsOf(body));
      return conditions;
    },
    clock,
    reads: () => work.views.reads(id, () => clientOf(stop), body.metadata?.namespace),
    post: work.reporting.post,
  });
  const result = await attempt((stop) => call(partsOf(stop)), {
    clock,
    parent,
    timeoutMs,
    graceMs,
    blockedMs: plan.blockedMs,
    errors: "retry" in handler ? handler.retry.errors : "ignored",
    onBlocked: (ms) =>
      logger.warn("handler blocks the event loop, nothing else runs meanwhile", {
        ...named(handler),
        for: formatDuration(ms),
        hint: "await something now and then, or use a worker thread",
      }),
  });
  ended?.();
  complain(execution, result);
  const tookMs = clock.monotonic() - begunAt;
  const { outcome, error } = tracedEnd(result);
  work.reporting.measures.ran(id, outcome, tookMs);
  const message = error === undefined ? undefined : errorMessage(error);
  return {
    result,
    run: { handler: id, reason: type === "change" ? execution.reason : type, outcome, message, tookMs },
    conditions,
  };
}

/** A handler that does not end when it is told to is in everybody's way, and its author must hear of it. */
function complain({ handler, logger }: Execution, { abandoned, late }: AttemptResult): void {
  const isDaemon = handler.type === "daemon";
  const what = isDaemon ? "daemon" : "handler";
  if (abandoned) {
    // Nothing waits for a daemon; a handler's object has waited in vain.
    logger[isDaemon ? "warn" : "error"](`${what} ignores its signal and was abandoned`, {
      ...named(handler),
      hint: "end the work when context.signal aborts; what it does from now on is refused",
    });
  } else if (late) {
    logger.error(`${what} ignored its timeout, what it has done since does not count`, {
      ...named(handler),
      hint: "end the work when context.signal aborts, or give it more time with { timeout }",
    });
  }
}
