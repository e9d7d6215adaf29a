/** Compiled code of this package, kept from one run to the next. */
export { CodeCache, type Compiler, codeFolder, thisCompiler } from "./cache.ts";
export { openPack, type Pack, type PackOptions } from "./pack.ts";
