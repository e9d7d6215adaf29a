/**
 * `@lotse/testing/assert`: assertions about objects for `node:test` and every other runner. Each throws an
 * `AssertionError` that tells what there is instead.
 *
 * @module
 */
import { AssertionError } from "node:assert";
import {
  type ConditionWanted,
  condition,
  type EventSource,
  type EventWanted,
  eventually,
  ownership,
  readiness,
  type Verdict,
} from "./matchers/index.ts";

/**
 * The object says that it is ready, of its present generation: by its condition Ready, or Available, Complete or
 * Established where it has no such one.
 *
 * @example
 * ```ts
 * assertReady(await harness.client.get(Shop, "corner"));
 * ```
 */
export function assertReady(object: object): void {
  hold(readiness(object), assertReady);
}

/**
 * The object has the condition; its status is `True` unless something else is asked for.
 *
 * @example
 * ```ts
 * assertCondition(shop, "Stalled", { status: "True", reason: "ChildFailed", message: /backup/ });
 * ```
 */
export function assertCondition(
  object: object,
  type: string,
  wanted?: ConditionWanted | ConditionWanted["status"],
): void {
  hold(condition(object, type, wanted), assertCondition);
}

/**
 * The object is an owner of another one, or of all of several: by uid.
 *
 * @example
 * ```ts
 * assertOwns(shop, await harness.client.get(ConfigMap, "corner-settings"));
 * ```
 */
export function assertOwns(object: object, child: object | readonly object[]): void {
  hold(ownership(object, child), assertOwns);
}

/**
 * There is such an Event; a text is its reason.
 *
 * @example
 * ```ts
 * assertEvent(harness, { type: "Warning", object: "corner", message: /no such currency/ });
 * ```
 */
export function assertEvent(events: EventSource, wanted: EventWanted | string): void {
  hold(eventually(events, wanted), assertEvent);
}

function hold({ pass, message }: Verdict, stackStartFn: (...args: never[]) => void): void {
  if (!pass) throw new AssertionError({ message: message(), stackStartFn: stackStartFn as () => void });
}
