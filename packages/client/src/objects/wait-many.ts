/** Waits for all objects that a selector means, as `kubectl wait -l` does. */

import type { KindDescription, ObjectBody } from "../kinds/index.ts";
import {
  type Clock,
  type Duration,
  durationMs,
  type FieldSelectorInput,
  formatDuration,
  formatFieldSelector,
  formatLabelSelector,
  type LabelSelectorInput,
} from "../meta/index.ts";
import { openStream, type StreamClient } from "../streams/index.ts";
import { apiErrorFrom, linkSignals, type NotFoundError } from "../transport/index.ts";
import type { AnyObject } from "./object.ts";
import { DEFAULT_PATIENCE_MS, endsWaiting, WaitTimeoutError } from "./wait.ts";
import { allOf, parseCondition, type WaitCondition } from "./wait-condition.ts";

/** Which objects to wait for. */
export interface WaitSelection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly fieldSelector?: FieldSelectorInput | undefined;
}

interface Many<T> {
  readonly kind: KindDescription;
  readonly selection: WaitSelection;
  readonly wrap: (body: ObjectBody) => T;
}

interface Patience {
  readonly timeout?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

/**
 * Resolves when there is at least one object and the condition holds for each; with none left it asks the condition
 * about nothing, so that `delete` holds then.
 */
export async function waitForMany<T extends AnyObject>(
  client: StreamClient,
  { kind, selection, wrap }: Many<T>,
  conditions: WaitCondition<T> | readonly WaitCondition<T>[],
  o: Patience,
): Promise<T[]> {
  const list = (Array.isArray(conditions) ? conditions : [conditions]) as readonly WaitCondition<T>[];
  const check = parseCondition<T>(list.length === 1 ? (list[0] as WaitCondition<T>) : allOf<T>(...list));
  const patience = o.timeout === undefined ? DEFAULT_PATIENCE_MS : durationMs(o.timeout);
  const done = new AbortController();
  const { signal, unlink } = linkSignals([done.signal, o.signal]);
  const objects = new Map<string | undefined, T>();
  const title = titleOf(kind, selection);

  return new Promise<T[]>((resolve, reject) => {
    const finish = (settle: () => void) => {
      if (done.signal.aborted) return;
      cancel();
      done.abort();
      settle();
    };
    const cancel = o.clock.after(patience, () =>
      finish(() => {
        const late = [...objects.values()].filter((object) => !check.holds(object));
        const names = late.map((object) => object.name).join(", ");
        reject(
          new WaitTimeoutError(
            `${title}: not so after ${formatDuration(patience)}: ${check.text} of ${names || "any"}`,
            {
              missing: [check.text],
              last: late[0]?.body,
              hint: objects.size === 0 ? "there is none" : "a longer `timeout` gives them more time",
            },
          ),
        );
      }),
    );
    const look = () => {
      try {
        const present = [...objects.values()];
        if (present.length === 0 ? check.holds(undefined) : present.every((object) => check.holds(object))) {
          finish(() => resolve(present));
        } else if (present.length === 0 && !check.toleratesAbsence) finish(() => reject(noneOf(kind, title)));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const stream = openStream<ObjectBody>(
      client,
      kind,
      { ...selection, clock: o.clock },
      {
        replace: (items) => {
          objects.clear();
          for (const body of items) objects.set(body.metadata?.uid, wrap(body));
          look();
        },
        apply: (body) => {
          objects.set(body.metadata?.uid, wrap(body));
          look();
        },
        remove: (body) => {
          objects.delete(body.metadata?.uid);
          look();
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

function titleOf(kind: KindDescription, { labelSelector, fieldSelector }: WaitSelection): string {
  const asked = [formatLabelSelector(labelSelector), formatFieldSelector(fieldSelector)].filter((text) => text !== "");
  return asked.length === 0 ? `every ${kind.kind}` : `every ${kind.kind} with ${asked.join(" and ")}`;
}

function noneOf(kind: KindDescription, title: string): NotFoundError {
  return apiErrorFrom(
    404,
    { reason: "NotFound", message: `${title}: there is none`, details: { kind: kind.plural } },
    { method: "WATCH", path: kind.plural },
    { hint: 'wait for "create" first if another client makes them' },
  );
}
