export { type About, aboutOf } from "./about.ts";
export { type AccessInput, accessManifests, ruleWithReason } from "./access.ts";
export { type DeploymentInput, deploymentManifest, networkPolicyManifest } from "./deployment.ts";
export {
  BASE_IMAGES,
  BUNDLER,
  bundleCommands,
  DOCKERIGNORE,
  type DockerfileInput,
  dockerfile,
  ENTRY,
} from "./dockerfile.ts";
export { type GrantInput, grantManifests } from "./grant.ts";
export { type ChartInput, type GeneratedFile, helmChart } from "./helm.ts";
export { type BundleInput, type ExampleObject, olmBundle } from "./olm.ts";
export { type PermissionScope, permissionsOf } from "./permissions.ts";
export { allows, type Need, type Rule, rulesFor } from "./rbac.ts";
export { needOf, parseRecording, requestRecorder } from "./recording.ts";
export { NoVersionError, type TypesInput, typesModule } from "./types.ts";
