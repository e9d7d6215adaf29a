/**
 * Time comes in through this door. Nothing below reads `Date.now()` or calls `setTimeout` by itself, so that a test
 * can own time. Durations are measured with `monotonic`, which no clock change can bend; `now` is for what is written
 * down for people and for other processes.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed instant; never goes back. */
  monotonic(): number;
  /** Calls `fn` once after `ms`; the returned function cancels it. A pending call keeps the process alive: it is awaited. */
  after(ms: number, fn: () => void): () => void;
}

/** Node cannot wait longer than this in one timer; a longer delay fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    if (ms > LONGEST_TIMER_MS) {
      let cancel = systemClock.after(LONGEST_TIMER_MS, () => {
        cancel = systemClock.after(ms - LONGEST_TIMER_MS, fn);
      });
      return () => cancel();
    }
    const timer = setTimeout(fn, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms` on `clock`; rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
