import type { Kubeconfig } from "@lotse/client";
import type { Credentials } from "./access/index.ts";

export interface KubeconfigInput {
  readonly name: string;
  readonly url: string;
  /** Absent over plain HTTP, where clients must be told not to insist on TLS. */
  readonly caPem: string | undefined;
  readonly user: Credentials;
  /** The name under which the user stands there; that of the cluster unless told. */
  readonly userName?: string;
  /** `default` unless told. */
  readonly namespace?: string;
}

export function buildKubeconfig(input: KubeconfigInput): Kubeconfig {
  const { name, url, caPem, user, userName = name, namespace = "default" } = input;
  const trust =
    caPem === undefined
      ? { "insecure-skip-tls-verify": true }
      : { "certificate-authority-data": Buffer.from(caPem).toString("base64") };
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, ...trust } }],
    users: [{ name: userName, user }],
    contexts: [{ name, context: { cluster: name, user: userName, namespace } }],
    "current-context": name,
  };
}
