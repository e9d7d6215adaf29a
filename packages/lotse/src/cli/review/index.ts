/** Does the account that an operator runs as have the rights that it needs? Asked at its start, in production too. */
export { lacksAny, missingTexts } from "./permissions.ts";
export { reviewOperators, tellMissingPermissions } from "./start.ts";
