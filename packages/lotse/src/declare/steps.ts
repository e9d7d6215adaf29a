import type { RetryOptions } from "./retry.ts";

/** What a step is: some work of a handler, remembered by its name. */
export type StepFunction<T> = () => T | Promise<T>;

/**
 * Durable sub-steps of a handler: each runs once for a change, its result is remembered on the object, it is tried
 * again by itself, and a restart goes on after the last finished one. Results have to be JSON.
 *
 * @example
 * ```ts
 * operator.on.create(Database, async function provision({ spec, step }) {
 *   const disk = await step("disk", () => createDisk(spec.size));
 *   await step("restore", () => restoreBackup(disk.id), { retries: 5 });
 *   const { user, grants } = await step.all({ user: createUser, grants: createGrants });
 * });
 * ```
 */
export interface Step {
  <T>(name: string, fn: StepFunction<T>, options?: RetryOptions): Promise<T>;
  /** Several at the same time, each remembered by itself; resolves when all are done. */
  all<Steps extends Readonly<Record<string, StepFunction<unknown>>>>(
    steps: Steps,
    options?: RetryOptions,
  ): Promise<{ -readonly [Name in keyof Steps]: Awaited<ReturnType<Steps[Name]>> }>;
}
