import type { KindDescription, ObjectBody, WithBody } from "../kinds/index.ts";
import { type Clock, type Duration, durationMs, formatDuration, KubeError } from "../meta/index.ts";
import { openStream, type StreamClient } from "../streams/index.ts";
import { apiErrorFrom, ForbiddenError, linkSignals, NotFoundError, UnauthorizedError } from "../transport/index.ts";
import { type Check, parseCondition, type WaitCondition } from "./wait-condition.ts";

export type { WaitCondition };

/** How long to wait. */
export interface WaitOptions {
  /** Default 30 s. */
  readonly timeout?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The patience was over before the condition held. */
export class WaitTimeoutError extends KubeError {
  override readonly code: string = "LOTSE_WAIT_TIMEOUT";
  /** The conditions that did not hold at the end. */
  readonly missing: readonly string[];
  /** The object as it was seen last; `undefined` when there was none. */
  readonly last: ObjectBody | undefined;

  constructor(message: string, init: { missing: readonly string[]; last: ObjectBody | undefined; hint?: string }) {
    super(message, init.hint === undefined ? {} : { hint: init.hint });
    this.missing = init.missing;
    this.last = init.last;
  }
}

/** How long `wait` waits when the caller does not say. */
export const DEFAULT_PATIENCE_MS = 30_000;

interface Target {
  readonly kind: KindDescription;
  readonly name: string;
  readonly namespace: string | undefined;
  /** Known when the caller has the object: another one of the same name is not the one waited for. */
  readonly uid: string | undefined;
}

/**
 * Watches one object until every condition holds; resolves with it as it was then (`undefined`: it is gone). A condition
 * on an object that does not exist fails at once, except `create` and `delete`.
 */
export async function waitFor<T extends WithBody>(
  client: StreamClient,
  target: Target,
  conditions: WaitCondition<T> | readonly WaitCondition<T>[],
  wrap: (body: ObjectBody) => T,
  o: WaitOptions & { clock: Clock },
): Promise<T | undefined> {
  const list = (Array.isArray(conditions) ? conditions : [conditions]) as readonly WaitCondition<T>[];
  const checks: Check<T>[] = list.map((condition) => parseCondition<T>(condition));
  const patience = o.timeout === undefined ? DEFAULT_PATIENCE_MS : durationMs(o.timeout);
  const toleratesAbsence = checks.some((check) => check.toleratesAbsence);
  const done = new AbortController();
  const { signal, unlink } = linkSignals([done.signal, o.signal]);
  let last: T | undefined;

  return new Promise<T | undefined>((resolve, reject) => {
    const finish = (settle: () => void) => {
      if (done.signal.aborted) return;
      cancel();
      done.abort();
      settle();
    };
    const cancel = o.clock.after(patience, () => finish(() => reject(timedOut(target, checks, last, patience))));

    const look = (body: ObjectBody | undefined) => {
      try {
        const ours = body !== undefined && (target.uid === undefined || body.metadata?.uid === target.uid);
        const object = ours ? wrap(body) : undefined;
        const existed = last !== undefined;
        last = object;
        if (checks.every((check) => check.holds(object))) finish(() => resolve(object));
        else if (object === undefined && !toleratesAbsence) finish(() => reject(absent(target, existed)));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const stream = openStream<ObjectBody>(
      client,
      target.kind,
      { namespace: target.namespace, fieldSelector: { "metadata.name": target.name }, clock: o.clock },
      {
        replace: (items) => look(items[0]),
        apply: look,
        remove: (body) => {
          if (target.uid === undefined || body.metadata?.uid === target.uid) look(undefined);
        },
        state: ({ error }) => {
          if (endsWaiting(error)) finish(() => reject(error));
        },
      },
      signal as AbortSignal,
    );
    stream.then(
      () => finish(() => reject(o.signal?.reason)),
      (error) => finish(() => reject(error)),
    );
  }).finally(unlink);
}

/** Waiting for a permission or a kind that an administrator may bring is an operator's business, not a script's. */
export function endsWaiting(error: unknown): boolean {
  return error instanceof ForbiddenError || error instanceof UnauthorizedError || error instanceof NotFoundError;
}

function titleOf({ kind, namespace, name }: Target): string {
  return `${kind.kind} ${namespace && kind.namespaced ? `${namespace}/` : ""}${name}`;
}

function timedOut<T extends WithBody>(
  target: Target,
  checks: readonly Check<T>[],
  last: T | undefined,
  patience: number,
): WaitTimeoutError {
  const missing = checks.filter((check) => !check.holds(last)).map((check) => check.text);
  return new WaitTimeoutError(`${titleOf(target)}: not so after ${formatDuration(patience)}: ${missing.join(", ")}`, {
    missing,
    last: last?.body,
    hint: last === undefined ? "it does not exist" : "its state is in `last`; a longer `timeout` gives it more time",
  });
}

function absent(target: Target, existed: boolean): NotFoundError {
  const what = existed ? "was deleted while it was waited for" : "not found";
  return apiErrorFrom(
    404,
    {
      reason: "NotFound",
      message: `${titleOf(target)} ${what}`,
      details: { name: target.name, kind: target.kind.plural },
    },
    { method: "WATCH", path: target.kind.plural },
    { hint: existed ? undefined : 'wait for "create" first if another client makes it' },
  );
}
