/** Apart from the editor, so that the writer of YAML is loaded when a kubeconfig is first written. */
import { toYaml } from "../meta/index.ts";
import type { Kubeconfig } from "./kubeconfig-parse.ts";

/** A kubeconfig as kubectl keeps it. */
export function kubeconfigYaml(config: Kubeconfig): string {
  return toYaml(config);
}
