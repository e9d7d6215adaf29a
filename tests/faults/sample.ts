/** All of them, or each third with `LOTSE_FAULTS=3`, as `npm run test:full` has it. */
export function sampled<T>(all: readonly T[]): T[] {
  const stride = Number(process.env.LOTSE_FAULTS ?? 1);
  return all.filter((_, index) => index % stride === 0);
}
