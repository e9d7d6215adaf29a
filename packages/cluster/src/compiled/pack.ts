import { readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import type { CodeCache } from "./cache.ts";

/** Files of a package that are loaded with the code that V8 made of them in an earlier run. */
export interface Pack {
  /** What an entry of the pack exports. */
  load<T>(entry: string): T;
  /**
   * Keeps what V8 has compiled so far of the files for which nothing was kept; to be called when what shall be fast has
   * run once. Tells whether all that is loaded is kept now.
   */
  keep(): boolean;
}

/** How to open one. */
export interface PackOptions {
  /** None: everything is compiled anew. */
  readonly cache?: CodeCache | undefined;
  /** Modules that others have loaded already, by name: the pack uses them instead of its own copies. */
  readonly provided?: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970, by which old compiled code is forgotten. */
  readonly now?: () => number;
}

interface Unit {
  readonly exports: object;
  readonly source: Buffer;
  readonly script: Script;
  kept: boolean;
}

type Wrapper = (
  exports: object,
  require: (id: string) => unknown,
  module: object,
  file: string,
  place: string,
  load: (id: string) => Promise<unknown>,
) => void;

/** Found from here, beside the pack: scripts cannot import by themselves without a warning of Node.js. */
const importFromHere = (id: string): Promise<unknown> => import(id);

/**
 * Opens a folder of files that the build has made: CommonJS, each wrapped in its function, ASCII. Node.js 20 can keep
 * compiled code of such files only, and only where a program does it itself.
 */
export function openPack(folder: string, { cache, provided = {}, now = Date.now }: PackOptions = {}): Pack {
  const units = new Map<string, Unit>();
  const load = (name: string): object => {
    const known = units.get(name);
    if (known) return known.exports;
    const file = join(folder, `${name}.cjs`);
    const source = readFileSync(file);
    const cachedData = cache?.read(source);
    const script = new Script(source.toString("latin1"), {
      filename: file,
      ...(cachedData && { cachedData }),
    });
    const unit = {
      exports: {},
      source,
      script,
      kept: cachedData !== undefined && script.cachedDataRejected === false,
    };
    units.set(name, unit);
    const require = (id: string): unknown => {
      if (id.startsWith("./")) return load(id.slice(2, -".cjs".length));
      if (Object.hasOwn(provided, id)) return provided[id];
      if (isBuiltin(id)) return process.getBuiltinModule(id);
      return id.startsWith("@lotse/") ? load(copyName(id)) : createRequire(file)(id);
    };
    (script.runInThisContext() as Wrapper)(unit.exports, require, unit, file, folder, importFromHere);
    return unit.exports;
  };
  return {
    load: <T>(entry: string) => load(entry) as T,
    keep: () => {
      if (!cache) return false;
      const fresh = [...units.values()].filter(({ kept }) => !kept);
      for (const unit of fresh) unit.kept = cache.write(unit.source, unit.script.createCachedData());
      if (fresh.length > 0) cache.forget(now());
      return fresh.every(({ kept }) => kept);
    },
  };
}

/** The name of a pack's own copy of another package's entry: `@lotse/client/meta` is `client-meta`. */
const copyName = (id: string): string => id.slice("@lotse/".length).replaceAll("/", "-");
