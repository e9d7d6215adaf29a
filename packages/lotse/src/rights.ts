/**
 * `lotse/rights`: what an operator may do when it is deployed, for tests that let it do no more. Reads the operator's
 * source with the TypeScript of its project: never part of an operator that runs.
 *
 * @module
 */
export { type DeployedRights, type MissingRight, missingRight, type RightsOptions, rightsOf } from "./cli/index.ts";
