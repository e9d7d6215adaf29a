import type { Kubeconfig } from "@lotse/client";

export interface KubeconfigInput {
  readonly name: string;
  readonly url: string;
  /** Absent over plain HTTP, where clients must be told not to insist on TLS. */
  readonly caPem: string | undefined;
  readonly token: string;
}

export function buildKubeconfig({ name, url, caPem, token }: KubeconfigInput): Kubeconfig {
  const trust =
    caPem === undefined
      ? { "insecure-skip-tls-verify": true }
      : { "certificate-authority-data": Buffer.from(caPem).toString("base64") };
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, ...trust } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  };
}
