/**
 * Nineteen has no factor in common with the sorts of faults and points that lists go round in, so that the chosen are of
 * different sorts.
 */
const STRIDE = 19;

/** Every nineteenth in `npm test`, which has to be quick; all of them in `npm run test:real`. */
export function sampled<T>(all: readonly T[]): T[] {
  return all.filter((_, index) => process.env.LOTSE_FAULTS === "all" || index % STRIDE === 0);
}
