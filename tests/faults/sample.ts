/**
 * Five has no factor in common with the sorts of faults and points that lists go round in, so that some of each sort
 * are among the chosen.
 */
const STRIDE = 5;

/** Every fifth in `npm test`, which has to be quick; all of them in `npm run test:real`. */
export function sampled<T>(all: readonly T[]): T[] {
  return all.filter((_, index) => process.env.LOTSE_FAULTS === "all" || index % STRIDE === 0);
}
