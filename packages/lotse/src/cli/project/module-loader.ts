/**
 * Imports the user's files. Node's own type stripping is the fast way; where it is missing (Node.js 20) or does not
 * understand a file (enums, imports without an extension, names that only the `paths` of the project's tsconfig.json
 * explain) jiti loads it. Both import packages natively, so that the user's `lotse` and ours are one.
 */
import nodeModule from "node:module";
import { pathToFileURL } from "node:url";

/** What a module exports. */
export type Exports = Readonly<Record<string, unknown>>;

/** Marks the URLs of one load; a module's URL decides whether it is loaded anew. */
const GENERATION = "lotse-load";

/** Failures of the native way that jiti may overcome. All but the last two arise before any code has run. */
const TRY_OTHERWISE = new Set([
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
  "ERR_INVALID_TYPESCRIPT_SYNTAX",
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  // `@/lib` and `#lib` are names that tsconfig.json may explain, and none that Node.js takes.
  "ERR_INVALID_MODULE_SPECIFIER",
  "ERR_PACKAGE_IMPORT_NOT_DEFINED",
  "ERR_MODULE_NOT_FOUND",
]);

/** See the module comment. Each {@link ModuleLoader.load} sees the files as they are on disk at that time. */
export class ModuleLoader {
  readonly #stripsTypes: boolean;
  #generation = 0;
  #hooked = false;

  constructor(options: { readonly stripsTypes?: boolean } = {}) {
    this.#stripsTypes = options.stripsTypes ?? Boolean((process.features as { typescript?: unknown }).typescript);
  }

  /** Imports the file at an absolute path, and the project's files that it imports, anew. */
  async load(file: string): Promise<Exports> {
    const generation = this.#generation++;
    if (!this.#stripsTypes && isTypeScript(file)) return loadByJiti(file);
    try {
      return await this.#loadNatively(file, generation);
    } catch (error) {
      if (!isTypeScript(file) || !TRY_OTHERWISE.has((error as { code?: string }).code ?? "")) throw error;
      return loadByJiti(file);
    }
  }

  #loadNatively(file: string, generation: number): Promise<Exports> {
    const url = pathToFileURL(file);
    // The first load needs no mark, and without one the user's stacks show clean names.
    if (generation > 0) {
      this.#hooked ||= hookResolution();
      url.searchParams.set(GENERATION, String(generation));
    }
    return import(/* @vite-ignore */ url.href);
  }
}

function isTypeScript(file: string): boolean {
  return /\.[cm]?tsx?$/.test(file);
}

async function loadByJiti(file: string): Promise<Exports> {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(pathToFileURL(file).href, {
    moduleCache: false,
    interopDefault: false,
    tsconfigPaths: true,
  });
  return jiti.import<Exports>(file);
}

interface ResolveHooks {
  registerHooks?(hooks: {
    resolve(
      specifier: string,
      context: { readonly parentURL?: string },
      next: (specifier: string, context: object) => { url: string },
    ): { url: string };
  }): void;
}

/** What a marked module imports from its own project carries the same mark, or a reload would see only the first file. */
function hookResolution(): boolean {
  (nodeModule as unknown as ResolveHooks).registerHooks?.({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (!context.parentURL?.includes(`${GENERATION}=`) || !isOfProject(resolved.url)) return resolved;
      const mark = new URL(context.parentURL).searchParams.get(GENERATION);
      if (mark === null) return resolved;
      const url = new URL(resolved.url);
      url.searchParams.set(GENERATION, mark);
      return { ...resolved, url: url.href };
    },
  });
  return true;
}

function isOfProject(url: string): boolean {
  return url.startsWith("file:") && !url.includes("/node_modules/");
}
