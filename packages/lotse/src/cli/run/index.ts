/** `lotse run`: operators against a cluster until they are asked to stop. */
export { serveExplain, serveLiveness } from "./liveness.ts";
export { type Precedence, precedenceOf } from "./precedence.ts";
export { coordinationFor } from "./precedence-flags.ts";
export { type RunOptions, run, runOperators } from "./run.ts";
export { type WebhookFlags, webhooksOf } from "./webhook-flags.ts";
