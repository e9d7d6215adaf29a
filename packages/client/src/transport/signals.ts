/**
 * One signal out of several, with its listeners taken off again: a client view's signal lives as long as the operator,
 * and each of its requests would otherwise leave something behind on it.
 */
export function linkSignals(signals: readonly (AbortSignal | undefined)[]): {
  signal: AbortSignal | undefined;
  unlink: () => void;
} {
  const sources = [...new Set(signals.filter((signal) => signal !== undefined))];
  if (sources.length < 2) return { signal: sources[0], unlink: nothing };
  const controller = new AbortController();
  const listeners = sources.map((source) => {
    const listener = () => controller.abort(source.reason);
    if (source.aborted) listener();
    else source.addEventListener("abort", listener, { once: true });
    return [source, listener] as const;
  });
  return {
    signal: controller.signal,
    unlink: () => {
      for (const [source, listener] of listeners) source.removeEventListener("abort", listener);
    },
  };
}

function nothing(): void {}
