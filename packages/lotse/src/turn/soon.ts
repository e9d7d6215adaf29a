/**
 * What may be there already. Most turns wait for nothing but their write: a Promise for each of their steps would be most of
 * what they cost. Whoever gets one looks whether it is a Promise, or awaits it where a turn may well take a breath.
 */
export type Soon<T> = T | Promise<T>;
