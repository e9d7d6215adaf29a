export { openAccess } from "./access.ts";
export type {
  Access,
  AccessOptions,
  Credentials,
  Identity,
  KubeconfigSource,
  Login,
  LoginFunction,
  TlsMaterial,
} from "./contract.ts";
export { AuthError } from "./errors.ts";
export type { ExecConfig, Kubeconfig, KubeconfigCluster, KubeconfigContext, KubeconfigUser } from "./kubeconfig.ts";
