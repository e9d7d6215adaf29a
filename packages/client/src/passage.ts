/**
 * `@lotse/client/passage`: requests of others go on to a server with the credentials of a kubeconfig. For proxies.
 *
 * @module
 */

export type { AccessOptions } from "./config/index.ts";
export { Passage, type PassageRequest, type PassageUpgrade } from "./transport/index.ts";
