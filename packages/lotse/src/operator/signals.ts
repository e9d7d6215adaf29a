/**
 * A signal that aborts with the first of several, and can be let go: those of an operator live as long as it does, and
 * whatever comes and goes meanwhile must leave nothing behind on them.
 */
export function firstOfSignals(signals: readonly AbortSignal[]): { readonly signal: AbortSignal; letGo(): void } {
  const controller = new AbortController();
  const listeners = signals.map((source) => {
    const listener = () => controller.abort(source.reason);
    if (source.aborted) listener();
    else source.addEventListener("abort", listener, { once: true });
    return () => source.removeEventListener("abort", listener);
  });
  return {
    signal: controller.signal,
    letGo: () => {
      for (const remove of listeners) remove();
    },
  };
}

/** Resolves when the signal aborts, or at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/**
 * What `work` resolves with, or undefined when the signal aborts before. Leaves nothing on the signal, however often it is
 * asked; `work` is left to whoever began it.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(undefined);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
