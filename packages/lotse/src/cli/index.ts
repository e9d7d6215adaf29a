export { mainBundled } from "./bundled.ts";
export {
  type CreatedProject,
  CreateError,
  type CreateOptions,
  createProject,
  describeProject,
  type PlannedFile,
  planProject,
} from "./init/index.ts";
export {
  type DeployedRights,
  type MissingRight,
  missingRight,
  type RightsOptions,
  rightsOf,
} from "./permissions/index.ts";
export { processIo } from "./terminal/index.ts";
