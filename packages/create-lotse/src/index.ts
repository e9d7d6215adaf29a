/**
 * `create-lotse`: what `npm create lotse` runs.
 *
 * @packageDocumentation
 */

export { type CommandResult, runCommand } from "./command.ts";
export { type CreatedProject, type CreateOptions, createProject } from "./create.ts";
export { CreateError, type PlannedFile, planProject } from "./plan.ts";
