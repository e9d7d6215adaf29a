import { KubeError } from "../meta/index.ts";

/** No credentials could be had: a plugin failed, or a file cannot be read. */
export class AuthError extends KubeError {
  override readonly code: string = "LOTSE_AUTH";
}
