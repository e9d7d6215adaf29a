/** What a pod of a test does, and what its samples amount to. */

/** One request: how long it took in milliseconds, or `null` when it failed. */
export type Sample = number | null;

/** The program of a pod. It needs nothing but Node.js: `URL`, `METHOD` and `REPEAT` say what to do. */
export const RUNNER = `
const { URL: url, METHOD: method, REPEAT: repeat } = process.env;
const samples = [];
for (let i = 0; i < Number(repeat); i++) {
  const since = performance.now();
  try {
    const response = await fetch(url, { method, signal: AbortSignal.timeout(10_000) });
    await response.arrayBuffer();
    samples.push(response.ok ? Math.round((performance.now() - since) * 1000) / 1000 : null);
  } catch {
    samples.push(null);
  }
}
console.log(JSON.stringify(samples));
`;

/** What all requests of a test amount to; latencies in milliseconds, of those that succeeded. */
export interface Summary {
  readonly requests: number;
  readonly failures: number;
  readonly p50: number;
  readonly p99: number;
}

/** Sums samples up. */
export function summary(samples: readonly Sample[]): Summary {
  const times = samples.filter((sample) => sample !== null).sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  const rounded = (value: number) => Math.round(value * 10) / 10;
  return {
    requests: samples.length,
    failures: samples.length - times.length,
    p50: rounded(at(0.5)),
    p99: rounded(at(0.99)),
  };
}
