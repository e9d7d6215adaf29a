/** The files of a user: which operators they export, how they come into the process, when they are saved. */
export { kindNames, kindsOf, kubectlName } from "./describe.ts";
export { type LoadedOperator, loadOperators, resolveFiles, resolveModules, shownPath } from "./load.ts";
export { type Exports, ModuleLoader } from "./module-loader.ts";
export { NO_HANDLERS, warnOfNoHandlers, withoutHandlers } from "./no-handlers.ts";
export { projectSettings } from "./settings.ts";
export { watchFolder } from "./watch-folder.ts";
