/** `lotse init` and `npm create lotse`: a new project. */
export { type CreatedProject, type CreateOptions, createProject, describeProject } from "./create.ts";
export { type InitOptions, init } from "./init.ts";
export { CreateError, type PlannedFile, planProject } from "./plan.ts";
