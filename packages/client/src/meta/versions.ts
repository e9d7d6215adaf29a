/**
 * Whether a resource version is older than another one of the same kind. Versions are integers on all servers that are
 * known; where they are not, nothing is older than anything.
 */
export function isOlderVersion(a: string | undefined, b: string | undefined): boolean {
  return isComparableVersion(a) && isComparableVersion(b) && isBelow(a, b);
}

/** An integer as servers write it: without leading zeros, so that the longer one is the larger one. */
export function isComparableVersion(version: string | undefined): version is string {
  if (version === undefined || version === "") return false;
  // By hand: it is asked several times for each event, and for each write that is under way.
  for (let i = 0; i < version.length; i++) {
    const digit = version.charCodeAt(i) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return false;
  }
  return version.charCodeAt(0) !== ZERO || version.length === 1;
}

const ZERO = 0x30;

/** Compared as texts: they are too large for numbers, and a BigInt for each event costs more than all the rest. */
function isBelow(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
