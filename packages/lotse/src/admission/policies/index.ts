export { type PolicyObjects, type PolicyParts, policyObjects } from "./policies.ts";
