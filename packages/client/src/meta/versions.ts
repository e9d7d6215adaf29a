/**
 * Whether a resource version is older than another one of the same kind. Versions are integers on all servers that are
 * known; where they are not, nothing is older than anything.
 */
export function isOlderVersion(a: string | undefined, b: string | undefined): boolean {
  return isComparableVersion(a) && isComparableVersion(b) && isBelow(a, b);
}

/** An integer as servers write it: without leading zeros, so that the longer one is the larger one. */
export function isComparableVersion(version: string | undefined): version is string {
  return version !== undefined && /^(?:0|[1-9]\d*)$/.test(version);
}

/** Compared as texts: they are too large for numbers, and a BigInt for each event costs more than all the rest. */
function isBelow(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
