export { type Access, type AccessControllers, type AccessOptions, createAccess } from "./access.ts";
export type { Gate } from "./gate.ts";
export { type Credentials, type Identity, podIdentity } from "./identities.ts";
export { newSigningKey } from "./jwt.ts";
export { peopleOf, SYSTEM } from "./users.ts";
export { createWebGuard } from "./web-guard.ts";

/** The roles that every cluster has; loaded by those where roles count. */
export const loadPolicy = () => import("./bootstrap-policy.ts");
