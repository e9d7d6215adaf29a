/**
 * Names for runs of handlers, by which one run is found again in the log, in its span and in `lotse explain`. Short, and
 * cheap: a word that this operator has for as long as it runs, and a number.
 */

/** How many letters and digits tell one running operator from another: replicas, and those before a restart. */
const WORD_LENGTH = 5;

/**
 * Gives each run its id, such as `k3x9f-1a`. Randomness is asked for once, so that a run costs a count and no more.
 *
 * @param random a number from 0 up to 1
 */
export function runIds(random: () => number): () => string {
  const word = Math.floor(random() * 36 ** WORD_LENGTH)
    .toString(36)
    .padStart(WORD_LENGTH, "0");
  let runs = 0;
  return () => `${word}-${(++runs).toString(36)}`;
}
