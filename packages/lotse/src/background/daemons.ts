/**
 * Daemons: one task for each object and handler, begun when the object first matches, never two. It ends by itself, or
 * by its signal when the object goes, stops matching, or the operator stops. A daemon that ended by itself does not
 * begin again in this process; one that was stopped by its filters begins again when they match.
 */
import type { KubeBody } from "@lotse/client";
import { formatDuration, type JsonObject, sleep } from "@lotse/client/meta";
import { Aborted, backoffMs, type DaemonHandler, filterContext, matchesFilters } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import {
  type AttemptResult,
  attempt,
  type BackgroundTurn,
  ConditionsDraft,
  combinePatches,
  conditionsOf,
  daemonContext,
  errorFields,
  handlerClient,
  type ObjectMemory,
  PatchDraft,
  recordPatch,
  referenceTo,
  resultPatch,
  Stop,
  type TurnKind,
  tracedEnd,
  write,
} from "../turn/index.ts";

/** A daemon at work, or one that has ended for good. */
export interface DaemonTask {
  /** Ends it. */
  readonly stop: (why: Aborted["why"], message: string) => void;
  /** Resolves when it has ended or was abandoned. */
  readonly ended: Promise<void>;
  /** It ended by itself: never again for this object in this process. */
  readonly isOver: () => boolean;
}

/** Begins daemons that the object matches and stops those that it does not match any more. */
export function tendDaemons(
  turn: BackgroundTurn,
  handlers: readonly DaemonHandler[],
  tasks: Map<string, DaemonTask>,
  deleting: boolean,
): void {
  for (const handler of handlers) {
    const task = tasks.get(handler.id);
    const wanted = !deleting && !turn.kind.stopping.aborted && matches(handler, turn);
    if (wanted && !task) tasks.set(handler.id, begin(turn, handler, tasks));
    else if (!wanted && task && !task.isOver()) {
      if (deleting) task.stop("deletion", "the object is being deleted");
      else task.stop("mismatch", "the object no longer matches the daemon's filters");
    }
  }
}

function matches({ filters, param }: DaemonHandler, { kind, body, memory }: BackgroundTurn): boolean {
  return matchesFilters(filters, body, [body], filters.when && { memo: kind.memoOf(memory), param });
}

/** Ends all of them. */
export async function stopDaemons(tasks: Map<string, DaemonTask>, why: Aborted["why"], message: string): Promise<void> {
  const running = [...tasks.values()];
  for (const task of running) task.stop(why, message);
  await Promise.all(running.map((task) => task.ended));
}

function begin(turn: BackgroundTurn, handler: DaemonHandler, tasks: Map<string, DaemonTask>): DaemonTask {
  const { kind, memory, body } = turn;
  const logger = turn.logger.with({ handler: handler.id });
  const stop = new Stop();
  const onStop = () => stop.stop(new Aborted("shutdown", "the operator stops"));
  kind.stopping.addEventListener("abort", onStop, { once: true });
  let over = false;
  const ended = run(kind, memory, handler, body, stop, logger).then((byItself) => {
    kind.stopping.removeEventListener("abort", onStop);
    over = byItself;
    if (byItself) return;
    // Stopped from outside: may begin again, and not before this one has ended.
    tasks.delete(handler.id);
    kind.wake(memory.key);
  });
  return { stop: (why, message) => stop.stop(new Aborted(why, message)), ended, isOver: () => over };
}

/** Resolves with whether the daemon ended by itself. Never rejects. */
async function run(
  kind: TurnKind,
  memory: ObjectMemory,
  handler: DaemonHandler,
  first: KubeBody,
  stop: Stop,
  logger: Logger,
): Promise<boolean> {
  const { clock, random } = kind;
  const newest = () => {
    const body = kind.newest(memory.key);
    return (body?.metadata?.uid === memory.uid ? body : memory.lastBody) ?? first;
  };
  const startedAt = clock.now();
  try {
    const initialDelayMs = handler.initialDelay(filterContext(first));
    if (initialDelayMs > 0) await sleep(clock, initialDelayMs, stop.signal);
    logger.debug("daemon begins");
    for (let attempts = 0; ; attempts++) {
      const attempt = () => once(kind, memory, handler, newest, { attempts, startedAt }, stop, logger);
      const { draft, conditions, result } = await traced(kind, handler, first, attempts, attempt);
      if (result.abandoned) {
        logger.warn("daemon ignores its signal and was abandoned", {
          hint: "end when context.signal aborts; what it does from now on is refused",
        });
        return false;
      }
      if (result.outcome.type !== "aborted") await apply(kind, handler, newest(), draft, conditions, result, logger);
      if (result.outcome.type === "aborted" || (stop.reason && result.outcome.type === "done")) return false;
      const delayMs = retryDelay(handler, result, attempts + 1, clock.now() - startedAt, random);
      if (delayMs === undefined) {
        report(result, attempts, logger);
        return true;
      }
      logger.warn("daemon failed, will be tried again", {
        ...errorFields(result.error, attempts === 0),
        retryIn: formatDuration(delayMs),
      });
      await sleep(clock, delayMs, stop.signal);
    }
  } catch (error) {
    if (stop.reason) return false;
    logger.error("daemon failed for good", errorFields(error, true));
    return true;
  }
}

/** What one attempt of a daemon wants to change, and how it ended. */
interface DaemonAttempt {
  readonly draft: PatchDraft;
  readonly conditions: ConditionsDraft;
  readonly result: AttemptResult;
}

function traced(
  kind: TurnKind,
  { id, type }: DaemonHandler,
  body: KubeBody,
  retry: number,
  work: () => Promise<DaemonAttempt>,
): Promise<DaemonAttempt> {
  const { traces } = kind;
  if (!traces) return work();
  return traces.attempt(referenceTo(kind, body), { id, type, retry }, work, ({ result }) => tracedEnd(result));
}

async function once(
  kind: TurnKind,
  memory: ObjectMemory,
  handler: DaemonHandler,
  newest: () => KubeBody,
  effort: { readonly attempts: number; readonly startedAt: number },
  parent: Stop,
  logger: Logger,
): Promise<DaemonAttempt> {
  const draft = new PatchDraft();
  const conditions = new ConditionsDraft(conditionsOf(newest()));
  const { timeoutMs } = handler.retry;
  const result = await attempt(
    (own) => {
      const body = newest();
      const parts = {
        body,
        kind: kind.kind,
        kindClass: kind.kindClass,
        stop: own,
        client: () => handlerClient(kind, handler.id, body, own.signal),
        logger: () => logger,
        memo: () => kind.memoOf(memory),
        param: handler.param,
        patch: draft.view,
        indexes: kind.indexes,
        settings: kind.settings,
        conditions: () => conditions,
        clock: kind.clock,
        post: kind.post,
      };
      const { attempts, startedAt } = effort;
      return handler.fn(daemonContext(parts, { retry: attempts, startedAt, now: kind.clock.now() }, newest));
    },
    {
      clock: kind.clock,
      parent,
      timeoutMs: timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (kind.clock.now() - effort.startedAt)),
      graceMs: handler.graceMs ?? kind.plan.daemonGraceMs,
      errors: handler.retry.errors,
    },
  );
  return { draft, conditions, result };
}

/** What the daemon wanted to change, and its result; a write that is refused is told and not tried again. */
async function apply(
  kind: TurnKind,
  handler: DaemonHandler,
  body: KubeBody,
  draft: PatchDraft,
  conditions: ConditionsDraft,
  { outcome }: AttemptResult,
  logger: Logger,
): Promise<void> {
  let changes: JsonObject | undefined = draft.mergePatch;
  if (outcome.type === "done" && outcome.result !== undefined && kind.keepsResult(handler.id)) {
    changes = combinePatches(changes, resultPatch(handler.id, outcome.result));
  }
  recordPatch(kind, handler.id, body, { changes, transforms: draft.transforms });
  try {
    const plan = {
      changes,
      transforms: draft.transforms,
      conditions: conditions.touched ? { changes: conditions.changes(), now: new Date(kind.clock.now()) } : undefined,
      record: undefined,
      finalizer: "keep" as const,
    };
    // Like any write of a handler: the object is woken, for what its other handlers and reconcilers have to know.
    const wrote = (written: KubeBody) => kind.handlerWrote(written, kind.kind, { verb: "patch", writer: undefined });
    await write(kind.client, body, plan, kind.target, wrote);
  } catch (error) {
    logger.error("what the daemon wanted to change could not be written", errorFields(error, true));
  }
}

/** Milliseconds until the next attempt; undefined when there is none. */
function retryDelay(
  { retry }: DaemonHandler,
  { outcome }: AttemptResult,
  attempts: number,
  spentMs: number,
  random: () => number,
): number | undefined {
  if (outcome.type !== "temporary") return undefined;
  if (retry.retries !== undefined && attempts >= retry.retries) return undefined;
  const delayMs = outcome.delayMs ?? backoffMs(retry.backoff, attempts, random());
  return retry.timeoutMs !== undefined && spentMs + delayMs >= retry.timeoutMs ? undefined : delayMs;
}

function report({ outcome, error }: AttemptResult, attempts: number, logger: Logger): void {
  if (outcome.type === "done") logger.info("daemon has ended");
  else logger.error("daemon failed for good", errorFields(error, attempts === 0));
}
