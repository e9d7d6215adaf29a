export { type AccessInput, accessManifests, ruleWithReason } from "./access.ts";
export { type Column, crdOf, RECORD_FIELD } from "./crd.ts";
export { type DeploymentInput, deploymentManifest } from "./deployment.ts";
export { bundleCommands, type DockerfileInput, dockerfile, ENTRY } from "./dockerfile.ts";
export { allows, type Need, type Rule, rulesFor } from "./rbac.ts";
export { needOf, parseRecording, type RecordedRequest, recorder } from "./recording.ts";
export { Commented, toYaml, toYamlStream } from "./yaml.ts";
