/**
 * `create-lotse`: what `npm create lotse` runs.
 *
 * @packageDocumentation
 */

export { type CreatedProject, CreateError, type CreateOptions, createProject } from "lotse/init";
export { type CommandResult, runCommand } from "./command.ts";
