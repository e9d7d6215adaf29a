export { type About, aboutOf } from "./about.ts";
export { type AccessInput, accessManifests, byNamespace, ruleWithReason } from "./access.ts";
export {
  type Certificates,
  certManagerManifests,
  type Place,
  podWebhooks,
  REGISTERED,
  rolesOf,
  serviceNames,
  withInjection,
} from "./certificates.ts";
export {
  type CoordinationChoice,
  mayOverlap,
  needsOfCoordination,
  planOfChoice,
  type Replication,
} from "./coordination.ts";
export { type DeploymentInput, deploymentManifests, networkPolicyManifest, type PodWebhooks } from "./deployment.ts";
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
export { metricsReaderManifest, needsOfMetricsAuth } from "./metrics-auth.ts";
export {
  alertGroups,
  dashboard,
  type Monitored,
  type MonitoringRule,
  plainRules,
  prometheusRule,
  type RuleGroup,
  usualSelect,
} from "./monitoring/index.ts";
export { type BundleInput, type ExampleObject, olmBundle } from "./olm.ts";
export { type PermissionScope, permissionsOf } from "./permissions.ts";
export { allows, type Need, type Rule, rulesFor } from "./rbac.ts";
export { NoVersionError, type TypesInput, typesModule } from "./types.ts";
export { needsOfWebhooks, USUAL_ROLES, type WebhookRoles } from "./webhook-needs.ts";
export {
  definitionsOf,
  definitionWithService,
  planWebhooks,
  SERVICE_PORT,
  WEBHOOK_PORT,
  type WebhookDeclarations,
  type WebhookPlan,
  type WebhookScope,
  webhookServiceManifest,
  webhooksName,
} from "./webhooks.ts";
