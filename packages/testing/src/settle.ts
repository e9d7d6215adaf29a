import { KubeError } from "@lotse/client";

/** What has to be quiet. */
export interface Quietable {
  /** Resolves when nothing runs and nothing is due. */
  readonly idle: () => Promise<unknown>;
  /** Whether something is under way that `idle` does not know of. */
  readonly busy: () => boolean;
  /** Differs after anything has happened. */
  readonly mark: () => unknown;
  /** A turn of the event loop, in which whatever has arrived is read. */
  readonly turn: () => Promise<void>;
}

/**
 * The server and the operator share this process and its event loop, and what one end of a loopback connection has
 * written the other end finds at the next turn. From a write to the handler that it wakes it takes two or three turns;
 * so many without any movement mean that nothing is on its way.
 */
const QUIET_TURNS = 20;

/** Resolves when everything is quiet. Rejects after `timeoutMs` of real time: a loop never becomes quiet. */
export async function untilQuiet(parts: Quietable, timeoutMs: number, progress: () => string): Promise<void> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => {
      reject(
        new KubeError(`the operator was not quiet within ${timeoutMs} ms: ${progress()}`, {
          hint: "a handler hangs, waits for a virtual clock that no test advances, or wakes itself again and again",
        }),
      );
    }, timeoutMs);
    cancel = () => clearTimeout(timer);
  });
  let expired = false;
  late.catch(() => {
    expired = true;
  });
  try {
    await Promise.race([late, wait(parts, () => expired)]);
  } finally {
    cancel();
  }
}

async function wait(parts: Quietable, expired: () => boolean): Promise<void> {
  for (let quiet = 0; quiet < QUIET_TURNS && !expired(); ) {
    const mark = parts.mark();
    await parts.idle();
    await parts.turn();
    quiet = parts.busy() || parts.mark() !== mark ? 0 : quiet + 1;
  }
}
