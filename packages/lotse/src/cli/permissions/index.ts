/** What does an operator need, by its handlers' code and by what they were seen to ask for? */
export { type HandlerNeeds, handlerNeeds, judgeHandlers, tellUnseen, unseenTexts } from "./handler-needs.ts";
export { includesRequest, type MissingRight, missingRight } from "./missing-right.ts";
export { type DeployedRights, deployedRights, type RightsOptions, rightsOf } from "./rights.ts";
