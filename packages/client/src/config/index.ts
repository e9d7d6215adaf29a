import type { openAccess as OpenAccess } from "./access.ts";

export type {
  Access,
  AccessOptions,
  AccessOrigin,
  Credentials,
  CredentialWait,
  Identity,
  KubeconfigSource,
  Login,
  LoginFunction,
  TlsMaterial,
} from "./contract.ts";
export { AuthError } from "./errors.ts";
export { IMPERSONATED_USER, type Impersonation, impersonationHeaders, isImpersonation } from "./impersonation.ts";
export { readClaims } from "./jwt.ts";
export {
  KubeConfig,
  type KubeConfigEntries,
  type KubeConfigLoadOptions,
  type KubeConfigNames,
} from "./kubeconfig-editor.ts";
export type {
  ExecConfig,
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigContext,
  KubeconfigUser,
} from "./kubeconfig-parse.ts";
export { openTunnel } from "./proxy.ts";
export { explainRefusal, tokenOf } from "./refusal.ts";
export { printWarningsOnce, tellOnce } from "./warnings.ts";

/** Finds the server and the credentials. Loaded when the first client connects: a program may import it and not need it. */
export const openAccess: typeof OpenAccess = async (o) => (await import("./access.ts")).openAccess(o);
