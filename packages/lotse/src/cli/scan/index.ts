/** What does the code of handlers ask the cluster for? Read with the TypeScript of the user's project. */
export type { ScannedHandler } from "./handlers.ts";
export { findCompiler, type InstalledCompiler, withProject } from "./project.ts";
export type { CodeAccess, ProjectIo } from "./project-io.ts";
export { type ScanResult, scanOperator } from "./scan.ts";
export type { Gap } from "./walk.ts";
