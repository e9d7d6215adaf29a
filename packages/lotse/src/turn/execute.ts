/**
 * One attempt of one handler, whatever sort it is of: its signal and deadline, its span, its measures, its line for the
 * journal, and what is said when it blocks the event loop or ignores its signal. A handler of an object is given its
 * context here, and what it wants to change is collected here; one of the operator itself, or of a request, brings a call
 * of its own. What follows from how it ended is the business of the caller.
 */
import type { KubeBody } from "@lotse/client";
import { type Clock, errorMessage, formatDuration, type IdentityKey } from "@lotse/client/meta";
import { Aborted, type ErrorMode, type Reason } from "../declare/index.ts";
import type {
  HandlerMeasures,
  JournalRun,
  KindReporting,
  Logger,
  ObjectReference,
  TracedEnd,
} from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
import { ConditionsDraft, conditionsOf } from "./conditions.ts";
import { refusal, refusalIn } from "./fence.ts";
import { type ContextParts, type KindWork, type ObjectHandler, referenceTo } from "./kind-work.ts";
import { named } from "./log-fields.ts";
import type { ObjectMemory } from "./memory.ts";
import { type AttemptResult, type Conclusion, conclude, type Ended, tracedEnd } from "./outcome.ts";
import type { PatchDraft } from "./patch.ts";
import type { Soon } from "./soon.ts";
import { Stop } from "./stop.ts";

/** How an attempt is bounded. */
export interface AttemptLimits {
  /** Ends it from outside: deletion, shutdown, the end of a request. */
  readonly parent: Stop;
  /** Milliseconds that are left of its deadline. */
  readonly timeoutMs: number | undefined;
  /** How long it may take to end after its signal, before it is abandoned. */
  readonly graceMs: number;
  /** How its unknown errors count. */
  readonly errors: ErrorMode;
  /** Why nothing may be done at this moment, if so: what fails then is no failure. Absent where this process is alone. */
  readonly refusal?: (() => Aborted | undefined) | undefined;
}

/** What is to be executed, for whom. */
export interface Execution extends AttemptLimits {
  readonly handler: { readonly id: string; readonly type: string; readonly sourceLocation: string | undefined };
  readonly logger: Logger;
  /** Why a handler of changes is called. */
  readonly reason: Reason | undefined;
  /** How many attempts there were before. */
  readonly retry: number;
  /** The object that it works for, as traces name it; undefined for handlers of the operator itself. */
  readonly object: (() => ObjectReference) | undefined;
  /** The object that waits for its end, by its key; undefined when none does. */
  readonly waits: IdentityKey | undefined;
  readonly call: (stop: Stop, runId: string) => unknown;
  /** Follows upon its end, still within its span: writes what it wants to change. Must not reject. */
  readonly after?: ((result: AttemptResult) => Promise<void>) | undefined;
}

/** What an execution needs of its surroundings. */
export interface Surroundings {
  readonly runtime: Pick<Runtime, "clock" | "plan" | "nextRunId">;
  readonly reporting: Pick<KindReporting, "traces" | "onBehalf"> & {
    readonly measures: Pick<HandlerMeasures, "ran">;
    readonly attempts?: KindReporting["attempts"];
  };
}

/** How it ended. */
export interface Executed {
  /** Its outcome carries what the handler has returned: for some sorts, their answer. */
  readonly result: AttemptResult;
  /** The same in the words of the journal. */
  readonly run: JournalRun;
}

/** Executes a handler. Never rejects; a handler that is not asynchronous has ended when this returns. */
export function execute(surroundings: Surroundings, execution: Execution): Soon<Executed> {
  const { traces, onBehalf } = surroundings.reporting;
  const runId = surroundings.runtime.nextRunId();
  if (!traces && !onBehalf) return run(surroundings, execution, runId);
  const { handler, reason, retry, object } = execution;
  const work = onBehalf
    ? () =>
        onBehalf({ handlers: [handler.id], object: object?.(), type: handler.type, reason }, async () =>
          run(surroundings, execution, runId),
        )
    : () => run(surroundings, execution, runId);
  if (!traces) return work();
  const traced = { id: handler.id, type: handler.type, runId, reason, retry };
  return traces.attempt(object, traced, work, endOf);
}

function endOf({ result }: Executed): TracedEnd {
  return tracedEnd(result);
}

/** A handler of an object is to be executed. */
export interface ObjectExecution
  extends Omit<AttemptLimits, "errors">,
    Pick<Execution, "logger" | "reason" | "retry" | "after"> {
  readonly handler: ObjectHandler;
  /** What is remembered of the object; undefined where nothing is, such as for an object that is not there yet. */
  readonly memory: ObjectMemory | undefined;
  /** The state that the handler is shown. */
  readonly body: KubeBody;
  /** Collects what it wants to change. */
  readonly draft: PatchDraft;
  /** Collects what it says of the object; made when it first does, unless there is one already. */
  readonly conditions?: ConditionsDraft;
  readonly call: (parts: ContextParts) => unknown;
}

/** How the execution of an object's handler ended. */
export interface ObjectExecuted extends Executed {
  /** Undefined when the handler has not asked for them. */
  readonly conditions: ConditionsDraft | undefined;
}

/** Executes a handler of an object. Never rejects; one that is not asynchronous has ended when this returns. */
export function executeForObject(work: KindWork, execution: ObjectExecution): Soon<ObjectExecuted> {
  const { handler, memory, body, logger, parent, timeoutMs, graceMs, draft, call } = execution;
  let { conditions } = execution;
  const conditionsDraft = () => {
    conditions ??= new ConditionsDraft(conditionsOf(body));
    return conditions;
  };
  const executed = execute(work, {
    handler,
    errors: "retry" in handler ? handler.retry.errors : "ignored",
    logger,
    reason: handler.type === "change" ? execution.reason : undefined,
    retry: execution.retry,
    object: () => referenceTo(work, body),
    // A daemon is to run for long: nothing waits for its end.
    waits: handler.type === "daemon" ? undefined : memory?.key,
    refusal: work.runtime.ownership.alone ? undefined : () => refusal(work, memory, body),
    parent,
    timeoutMs,
    graceMs,
    call: (stop, runId) =>
      call({ work, handler, memory, body, logger, runId, stop, patch: draft.view, conditions: conditionsDraft }),
    after: execution.after,
  });
  return executed instanceof Promise
    ? executed.then(({ result, run }) => ({ result, run, conditions }))
    : { result: executed.result, run: executed.run, conditions };
}

function run({ runtime, reporting }: Surroundings, execution: Execution, runId: string): Soon<Executed> {
  const { handler, waits, call } = execution;
  const { clock, plan } = runtime;
  const begunAt = clock.monotonic();
  const begun = waits === undefined ? undefined : reporting.attempts?.begin(waits, handler, runId);
  const over = (concluded: Conclusion): Soon<Executed> => {
    if (begun) reporting.attempts?.end(begun);
    const result = withRunId(concluded, runId);
    if (result.abandoned || result.late) complain(execution, result);
    const tookMs = clock.monotonic() - begunAt;
    const { outcome, error } = tracedEnd(result);
    reporting.measures.ran(handler.id, outcome, tookMs);
    const message = error === undefined ? undefined : errorMessage(error);
    const reason = execution.reason ?? handler.type;
    const executed = { result, run: { handler: handler.id, runId, reason, outcome, message, tookMs } };
    return execution.after ? execution.after(result).then(() => executed) : executed;
  };
  const onBlocked = (ms: number) => complainOfBlocking(execution, runId, ms);
  const concluded = attempt((stop) => call(stop, runId), clock, execution, plan.blockedMs, onBlocked);
  return concluded instanceof Promise ? concluded.then(over) : over(concluded);
}

function withRunId(concluded: Conclusion, runId: string): AttemptResult {
  const { outcome, error, abandoned, late, refused } = concluded;
  return late === undefined && refused === undefined ? { outcome, error, abandoned, runId } : { ...concluded, runId };
}

function complainOfBlocking({ handler, logger }: Execution, runId: string, ms: number): void {
  logger.warn("handler blocks the event loop, nothing else runs meanwhile", {
    ...named(handler, runId),
    for: formatDuration(ms),
    hint: "await something now and then, or use a worker thread",
  });
}

/** A handler that does not end when it is told to is in the way of others, and its author must hear of it. */
function complain({ handler, waits, logger }: Execution, { abandoned, late, runId }: AttemptResult): void {
  const { what, abandoned: sentence } = SORTS[handler.type] ?? HANDLER;
  if (abandoned) {
    // Nothing waits for a daemon; a handler's object has waited in vain.
    logger[waits === undefined ? "warn" : "error"](sentence, {
      ...named(handler, runId),
      hint: "end the work when context.signal aborts; what it does from now on is refused",
    });
  } else if (late) {
    logger.error(`${what} ignored its timeout, what it has done since does not count`, {
      ...named(handler, runId),
      hint: "end the work when context.signal aborts, or give it more time with { timeout }",
    });
  }
}

/** How people call a sort of handlers, and what is said of one that did not end. */
interface Sort {
  readonly what: string;
  readonly abandoned: string;
}

const HANDLER: Sort = { what: "handler", abandoned: "handler ignores its signal and was abandoned" };
const SORTS: Readonly<Record<string, Sort>> = {
  daemon: { what: "daemon", abandoned: "daemon ignores its signal and was abandoned" },
  source: { what: "source", abandoned: "source did not end when the operator stopped, it is abandoned" },
};

/** One for all: an attempt ends a thousand times a second, and where it ended is of no interest. */
const OVER = Object.freeze(new Aborted("superseded", "the attempt is over"));

/** Calls `fn` with a stop of its own, within its limits, and says how it ended. Never rejects. */
function attempt(
  fn: (stop: Stop) => unknown,
  clock: Clock,
  limits: AttemptLimits,
  /** Keeping the event loop to itself for longer than this is worth a word. */
  blockedMs: number,
  onBlocked: (ms: number) => void,
): Soon<Conclusion> {
  const { parent, timeoutMs } = limits;
  const own = new Stop();
  const pass = (reason: Aborted) => own.stop(reason);
  parent.on(pass);
  const stopTimer =
    timeoutMs === undefined
      ? undefined
      : clock.after(timeoutMs, () => own.stop(new Aborted("timeout", "the handler's timeout is over")));
  const over = (ended: Ended): Conclusion => {
    try {
      return conclude(ended, whyStopped(ended, own.reason, limits), limits.errors);
    } finally {
      stopTimer?.();
      parent.off(pass);
      // What was handed the signal and outlives the attempt must not act any more.
      own.stop(OVER);
    }
  };
  // Real time, whatever the clock: it is the real event loop that a handler blocks.
  const begunAt = performance.now();
  const work = call(fn, own);
  const keptMs = performance.now() - begunAt;
  if (keptMs >= blockedMs) onBlocked(keptMs);
  return work instanceof Promise ? inTime(work, own, clock, limits.graceMs).then(over) : over(work);
}

/**
 * Why an attempt was told to end, or would have been: what fails, or comes too late, while another process may work on
 * the object, is not held against the handler.
 */
function whyStopped(ended: Ended, stopped: Aborted | undefined, { refusal }: AttemptLimits): Aborted | undefined {
  const late = stopped?.why === "timeout";
  if ((stopped && !late) || (ended.type === "value" && !late)) return stopped;
  const refused = ended.type === "error" ? refusalIn(ended.error) : undefined;
  return (refused ? new Aborted("ownership", refused.message) : refusal?.()) ?? stopped;
}

const succeeded = (value: unknown): Ended => ({ type: "value", value });
const failed = (error: unknown): Ended => ({ type: "error", error });

/** A handler that is not asynchronous has ended when it returns. */
function call(fn: (stop: Stop) => unknown, own: Stop): Ended | Promise<Ended> {
  try {
    const result = fn(own);
    return isThenable(result) ? Promise.resolve(result).then(succeeded, failed) : succeeded(result);
  } catch (error) {
    return failed(error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** How the work ends; abandoned when it does not, a while after it was told to. */
function inTime(work: Promise<Ended>, own: Stop, clock: Clock, graceMs: number): Promise<Ended> {
  return new Promise((resolve) => {
    let cancel: (() => void) | undefined;
    const forget = own.onStop(() => {
      cancel = clock.after(graceMs, () => resolve({ type: "abandoned" }));
    });
    // Cannot reject: errors are values here.
    void work.then((ended) => {
      cancel?.();
      forget();
      resolve(ended);
    });
  });
}
