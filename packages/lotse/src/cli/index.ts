export { mainBundled } from "./bundled.ts";
export { type CreatedProject, type CreateOptions, createProject, describeProject } from "./init-create.ts";
export { CreateError, type PlannedFile, planProject } from "./init-plan.ts";
export { processIo } from "./io.ts";
export { type MissingRight, missingRight } from "./missing-right.ts";
export { type DeployedRights, type RightsOptions, rightsOf } from "./rights.ts";
