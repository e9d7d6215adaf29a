import { type Clock, systemClock } from "@lotse/client/meta";

/**
 * A clock that runs `speed` times as fast as the real one, the same in every process that starts from the same `epoch`:
 * back-offs of seconds and the inactivity limit of 90 s pass in milliseconds, and a deadline that one process wrote down
 * means the same to the next.
 */
export function fastClock(epoch: number, speed: number): Clock {
  return {
    now: () => Math.round(epoch + (Date.now() - epoch) * speed),
    monotonic: () => performance.now() * speed,
    after: (ms, fn) => systemClock.after(ms / speed, fn),
  };
}
