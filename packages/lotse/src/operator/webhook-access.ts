/** How the API server reaches this process, and with which certificate. */
import { isIP } from "node:net";
import { ConfigError, KubeError } from "@lotse/client/meta";
import {
  type CertificateSource,
  certificatesFromFiles,
  localCertificates,
  ownCertificates,
  type WebhookAddress,
} from "../admission/index.ts";
import type { WebhookOptions } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";

/** See the module comment. */
export interface WebhookAccess {
  readonly address: WebhookAddress;
  readonly certificates: CertificateSource;
  /** Where to listen; 0 is any free one. */
  readonly port: number;
  /** The server listens there. */
  listens(port: number): void;
}

const PORT = 9_443;
const SERVICE_PORT = 443;
/** Where the manifests of an operator mount the Secret that cert-manager fills. */
const CERT_MANAGER_DIR = "/var/run/secrets/lotse/webhooks";

/** See the module comment. Rejects when the API server could not reach this process. */
export async function openAccess(options: WebhookOptions, runtime: Runtime, logger: Logger): Promise<WebhookAccess> {
  const { port = PORT } = options;
  let address = addressOf(options, runtime);
  const certificates = certificatesFor(options, address, runtime, logger);
  return {
    get address() {
      return address;
    },
    certificates,
    port,
    listens: (actual) => {
      if (options.url === undefined && "url" in address) address = { url: `https://${LOOPBACK}:${actual}` };
    },
  };
}

const LOOPBACK = "127.0.0.1";

function addressOf(options: WebhookOptions, { operator, client }: Runtime): WebhookAddress {
  const { url, service, port = PORT } = options;
  const { namespace, server, source } = client.config;
  if (url !== undefined) return { url: checkedUrl(url) };
  if (service !== undefined || source === "in-cluster") {
    const named = typeof service === "object" ? service : { name: service ?? `${operator}-webhooks` };
    const { name, port: servicePort = SERVICE_PORT } = named;
    return { service: { namespace: ("namespace" in named && named.namespace) || namespace, name, port: servicePort } };
  }
  const host = new URL(server).hostname;
  if (host === "localhost" || host === "[::1]" || host.startsWith("127."))
    return { url: `https://${LOOPBACK}:${port}` };
  throw new KubeError(`the API server at ${host} cannot reach the webhooks of this operator`, {
    hint: "say where this process is reached, with webhooks: { url } or --webhook-url, or run the operator in the cluster",
  });
}

function checkedUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed?.protocol === "https:" && parsed.search === "" && parsed.hash === "" && parsed.username === "") return url;
  throw new ConfigError(`${JSON.stringify(url)} is no address that an API server would call`, {
    hint: "write https://, a host and a port, without a user, a query or a fragment",
  });
}

function certificatesFor(
  { certificates = "own", secret }: WebhookOptions,
  address: WebhookAddress,
  { operator, client, clock, random, stopping: signal }: Runtime,
  logger: Logger,
): CertificateSource {
  // An operator that stops goes on to answer until its last watch has ended: its certificates end with it, not before.
  const common = { clock, logger, signal: new AbortController().signal };
  if (typeof certificates === "object") return certificatesFromFiles({ ...common, dir: certificates.dir });
  if (certificates === "cert-manager") {
    return certificatesFromFiles({ ...common, dir: CERT_MANAGER_DIR, publishes: false });
  }
  const own = { ...common, random, names: namesOf(address) };
  // One process at an address of its own shares its certificate with no other.
  if ("url" in address && secret === undefined) return localCertificates(own);
  const namespace = "service" in address ? address.service.namespace : client.config.namespace;
  signal.throwIfAborted();
  return ownCertificates({ ...own, client, namespace, secret: secret ?? `${operator}-webhooks`, operator });
}

/** The names by which API servers call. */
function namesOf(address: WebhookAddress): string[] {
  if ("service" in address) {
    const { namespace, name } = address.service;
    return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
  }
  const host = new URL(address.url).hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? [host.toLowerCase()] : [host];
}
