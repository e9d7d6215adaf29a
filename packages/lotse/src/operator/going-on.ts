/** What an operator goes on with until it stops, and what ends it before. */

/**
 * Resolves when the streams have ended; rejects when they fail, when the API server refuses what is registered, or when
 * the coordination with other processes can never work.
 */
export async function allOf(
  streams: Promise<void>,
  registered: Promise<void> | undefined,
  uncoordinated: Promise<never> | undefined,
  stopping: AbortSignal,
): Promise<void> {
  const told = registered?.catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
  await Promise.race([Promise.all([streams, told]), ...(uncoordinated ? [uncoordinated] : [])]);
}

/** Resolves when the operator shall stop, or with the error that stops it; streams that just end do not stop it. */
export function firstOf(stop: Promise<void>, streams: Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  return new Promise((resolve) => {
    void stop.then(() => resolve(undefined));
    streams.catch((error: unknown) => resolve({ error }));
  });
}
