import type { VirtualClock } from "./meta/index.ts";

/**
 * Lets time pass until the work has ended, and hands its result on. One `advance` would not do: what is loaded on its
 * first need is there after some real time, and sets its timers only then.
 */
export async function passing<T>(clock: VirtualClock, work: Promise<T>, step = 1_000): Promise<T> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  while (!ended) await clock.advance(step);
  return work;
}
