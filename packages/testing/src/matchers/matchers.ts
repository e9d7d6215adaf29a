/** The assertions as matchers, for every runner whose `expect` can be extended. */
import {
  type ConditionWanted,
  condition,
  type EventSource,
  type EventWanted,
  eventually,
  type Looked,
  ownership,
  readiness,
  type Verdict,
} from "./verdict.ts";

/** What `expect` can say of objects when it was extended by {@link matchers}. */
export interface LotseMatchers<R = void> {
  /**
   * The object says that it is ready, of its present generation: by its condition Ready, or Available, Complete or
   * Established where it has no such one.
   */
  toBeReady(): R;
  /** The object has the condition; its status is `True` unless something else is asked for. */
  toHaveCondition(type: string, wanted?: ConditionWanted | ConditionWanted["status"]): R;
  /** The object is an owner of another one, or of all of several: by uid. */
  toOwn(child: object | readonly object[]): R;
  /** A harness, or a list of Events, has such an Event; a text is its reason. */
  toHaveEvent(wanted: EventWanted | string): R;
}

/**
 * For `expect.extend`, in vitest, jest, bun and every runner like them. `import "@lotse/testing/vitest"` does it for
 * vitest, with types.
 *
 * @example
 * ```ts
 * expect.extend(matchers);
 * ```
 */
export const matchers = {
  toBeReady: (received: unknown): Verdict => readiness(received as Looked),
  toHaveCondition: (received: unknown, type: string, wanted?: ConditionWanted | ConditionWanted["status"]): Verdict =>
    condition(received as Looked, type, wanted),
  toOwn: (received: unknown, child: object | readonly object[]): Verdict =>
    ownership(received as Looked, child as Looked | readonly Looked[]),
  toHaveEvent: (received: unknown, wanted: EventWanted | string): Verdict =>
    eventually(received as EventSource, wanted),
};
