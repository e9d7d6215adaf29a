/** Whose code is it? By the package that a file belongs to. */
import { readFileSync } from "node:fs";
import path from "node:path";

/** `own`: the project's, which is looked into · `lotse`: whose methods are known · `standard`: of the language · `other` */
export type Origin = "own" | "lotse" | "standard" | "other";

/** The packages whose methods are known; what others publish under the same scope is theirs. */
const LOTSE: ReadonlySet<string> = new Set(["lotse", "@lotse/client", "@lotse/cluster", "@lotse/testing"]);

/** Tells the {@link Origin} of files; what it has found out about folders it remembers. */
export class Origins {
  readonly #packages = new Map<string, string | undefined>();

  of(file: string): Origin {
    if (/[\\/]lib\.[^\\/]*\.d\.ts$|[\\/]node_modules[\\/]@types[\\/]/.test(file)) return "standard";
    const name = this.#packageOf(path.dirname(file));
    if (name !== undefined && LOTSE.has(name)) return "lotse";
    const declared = /\.d\.[cm]?ts$/.test(file);
    return declared || /[\\/]node_modules[\\/]/.test(file) ? "other" : "own";
  }

  #packageOf(folder: string): string | undefined {
    if (this.#packages.has(folder)) return this.#packages.get(folder);
    const above = path.dirname(folder);
    const name = nameIn(folder) ?? (above === folder ? undefined : this.#packageOf(above));
    this.#packages.set(folder, name);
    return name;
  }
}

/** Undefined where there is no package.json; empty where it has no name, which makes it the user's project all the same. */
function nameIn(folder: string): string | undefined {
  try {
    const { name = "" } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { name?: string };
    return name;
  } catch {
    return undefined;
  }
}
