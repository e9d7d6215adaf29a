/** How the API server reaches this process, and with which certificate. */
import { CertificateAuthority } from "@lotse/client/certificates";
import { KubeError } from "@lotse/client/meta";
import type { CertificateSource, WebhookAddress } from "../admission/index.ts";
import type { WebhookOptions } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";

/** See the module comment. */
export interface WebhookAccess {
  readonly address: WebhookAddress;
  readonly certificates: CertificateSource;
  readonly port: number;
  listens(port: number): void;
}

export async function openAccess(options: WebhookOptions, runtime: Runtime, _logger: Logger): Promise<WebhookAccess> {
  const { port = 9443, url, service } = options;
  const host = new URL(runtime.client.config.server).hostname;
  let address: WebhookAddress;
  if (url) address = { url };
  else if (service) {
    const {
      namespace = runtime.client.config.namespace,
      name,
      port = 443,
    } = typeof service === "string" ? { name: service } : service;
    address = { service: { namespace, name, port } };
  } else if (["127.0.0.1", "localhost", "[::1]"].includes(host)) address = { url: `https://127.0.0.1:${port}` };
  else throw new KubeError("The API server cannot reach the webhooks of this operator.", { hint: "set webhooks.url" });
  const authority = new CertificateAuthority("lotse", Date.now());
  const { certPem, keyPem } = authority.issue({
    commonName: "lotse",
    hosts: ["127.0.0.1", "localhost"],
    usage: "server",
  });
  const now = {
    credentials: { key: keyPem, cert: certPem },
    caBundle: authority.certPem,
    notAfter: new Date(Date.now() + 1e9),
  };
  return {
    get address() {
      return address;
    },
    port,
    listens: (actual) => {
      if ("url" in address && !url) address = { url: `https://127.0.0.1:${actual}` };
    },
    certificates: {
      ready: Promise.resolve(),
      current: () => now,
      onChange: () => () => {},
      health: () => ({
        notBefore: new Date(),
        notAfter: now.notAfter,
        authorityNotAfter: undefined,
        problem: undefined,
      }),
      stop: async () => {},
    },
  };
}
