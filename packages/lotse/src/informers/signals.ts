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
