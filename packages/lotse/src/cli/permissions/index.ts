/** What may an operator do, what does it need, and what is missing? */
export { type HandlerNeeds, handlerNeeds, judgeHandlers, tellUnseen, unseenTexts } from "./handler-needs.ts";
export { includesRequest, type MissingRight, missingRight } from "./missing-right.ts";
export { lacksAny, missingTexts } from "./permissions.ts";
export { type DeployedRights, deployedRights, type RightsOptions, rightsOf } from "./rights.ts";
export { reviewOperators, tellMissingPermissions } from "./start.ts";
