/**
 * `lotse/init`: a new operator's project. What `lotse init` and `npm create lotse` call.
 *
 * @module
 */
export {
  type CreatedProject,
  CreateError,
  type CreateOptions,
  createProject,
  describeProject,
  type PlannedFile,
  planProject,
} from "./cli/index.ts";
