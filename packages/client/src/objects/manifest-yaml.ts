/** Apart from manifest.ts, so that the writer of YAML is loaded when a program first wants some. */
import type { KubeBody } from "../kinds/index.ts";
import { toYaml } from "../meta/index.ts";

/** The body as YAML, keys in the order of manifests. */
export function yamlOf(body: KubeBody): string {
  const { apiVersion, kind, metadata, ...rest } = body;
  return toYaml({ apiVersion, kind, metadata, ...rest });
}
