/**
 * The fence: may a write leave this process now? It may while the Lease is held and its last renewal is young enough that
 * no other process can have taken it. Pure.
 *
 * What must stay true: the fence closes before anybody else may take the Lease. Others take it when they have seen no
 * renewal for `duration`, which is longer than `renew`, and they see a renewal after it was sent. So the fence counts from
 * the sending, never from the answer.
 */
import type { Moment } from "../pause/index.ts";

export type { Moment };

/**
 * How much time has passed, at least as much as really has: the larger difference of both clocks. The monotonic one stands
 * still while a machine sleeps, the one on the wall may be set back. Only both at once would go unseen: a machine that
 * sleeps, and whose clock is set back by as much.
 */
export function elapsedMs(since: Moment, at: Moment): number {
  return Math.max(at.monotonic - since.monotonic, at.now - since.now);
}

/** Whether writes may leave. `renewed`: when the last renewal that succeeded was sent; undefined: it is not held. */
export function isFenceOpen(renewed: Moment | undefined, at: Moment, renewMs: number): boolean {
  return renewed !== undefined && elapsedMs(renewed, at) < renewMs;
}
