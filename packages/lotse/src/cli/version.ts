import { readFileSync } from "node:fs";

/** The version of this package, as its package.json has it: one folder up from the bundle, two from the source. */
export function readVersion(): string {
  for (const path of ["../package.json", "../../package.json"]) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
      if (name === "lotse") return version;
    } catch {
      // Not there: the other place it is.
    }
  }
  return "unknown";
}
