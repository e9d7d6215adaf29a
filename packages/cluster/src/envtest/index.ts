export { runCommand } from "./command.ts";
export { type InstalledEnvtest, type InstallOptions, installEnvtest } from "./install.ts";
