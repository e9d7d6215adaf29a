/** What a pod of a test does, and what its samples amount to. */

/** One request: how long it took in milliseconds, or `null` when it failed. */
export type Sample = number | null;

/**
 * The program of a pod. It needs nothing but Node.js: `URL`, `METHOD` and `REPEAT` say what to do. An answer that says
 * that something is wrong is a failed request; when nobody answers at all, the program itself fails.
 */
export const RUNNER = `
const { URL: url, METHOD: method, REPEAT: repeat } = process.env;
const samples = [];
let answers = 0;
let trouble;
for (let i = 0; i < Number(repeat); i++) {
  const since = performance.now();
  try {
    const response = await fetch(url, { method, signal: AbortSignal.timeout(30_000) });
    await response.arrayBuffer();
    answers++;
    samples.push(response.ok ? Math.round((performance.now() - since) * 1000) / 1000 : null);
  } catch (error) {
    trouble = error.cause ?? error;
    samples.push(null);
  }
}
console.log(answers > 0 ? JSON.stringify(samples) : url + " does not answer: " + (trouble.message || trouble.code));
process.exitCode = answers > 0 ? 0 : 1;
`;

/** What all requests of a test amount to; latencies of those that succeeded. */
export interface Summary {
  readonly requests: number;
  readonly failures: number;
  readonly p50: string;
  readonly p99: string;
}

/** Sums samples up. */
export function summary(samples: readonly Sample[]): Summary {
  const times = samples.filter((sample) => sample !== null).sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  const rounded = (value: number) => `${Math.round(value * 10) / 10} ms`;
  return {
    requests: samples.length,
    failures: samples.length - times.length,
    p50: rounded(at(0.5)),
    p99: rounded(at(0.99)),
  };
}
