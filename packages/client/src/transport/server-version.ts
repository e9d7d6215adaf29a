/** A server's version as numbers. */
export interface ParsedVersion {
  readonly major: number;
  readonly minor: number;
  /** Whether the text could be read; if not, all numbers are 0 and `atLeast` is never true. */
  readonly known: boolean;
  atLeast(major: number, minor: number): boolean;
}

/** The oldest server that the client is tested with. */
const OLDEST = { major: 1, minor: 31 } as const;
/** The newest one. */
const NEWEST = { major: 1, minor: 36 } as const;

/**
 * Reads `gitVersion` of `/version`; what vendors add behind the numbers is left away.
 *
 * @example
 * ```ts
 * parseServerVersion("v1.31.2-gke.1115000").atLeast(1, 30); // true
 * ```
 */
export function parseServerVersion(gitVersion: string): ParsedVersion {
  const match = /^\s*v?(\d+)\.(\d+)/.exec(gitVersion);
  const [major, minor] = match ? [Number(match[1]), Number(match[2])] : [0, 0];
  const known = match !== null;
  return {
    major,
    minor,
    known,
    atLeast: (wantedMajor, wantedMinor) =>
      known && (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)),
  };
}

/** What to say of a server that this client was not tested with; undefined when there is nothing to say. */
export function supportWarning(gitVersion: string): string | undefined {
  const version = parseServerVersion(gitVersion);
  if (!version.known) return `the server calls its version "${gitVersion}", which cannot be read`;
  const found = `the server is Kubernetes ${version.major}.${version.minor}`;
  if (!version.atLeast(OLDEST.major, OLDEST.minor)) {
    return `${found}; this client is made for ${OLDEST.major}.${OLDEST.minor} and newer`;
  }
  if (!version.atLeast(NEWEST.major, NEWEST.minor + 1)) return undefined;
  return `${found}; this client knows ${NEWEST.major}.${NEWEST.minor} and older: look for a newer one`;
}
