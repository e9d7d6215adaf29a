import os from "node:os";
import path from "node:path";

/** Where the suites keep what is costly to make: outside the repository, so that a fresh clone finds it again. */
export function cacheFolder(...parts: string[]): string {
  const { LOTSE_CACHE, XDG_CACHE_HOME } = process.env;
  const base = LOTSE_CACHE || path.join(XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "lotse");
  return path.resolve(base, ...parts);
}
