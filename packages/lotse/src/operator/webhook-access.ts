/** How the API server reaches this process, and with which certificate. */
import type { Client } from "@lotse/client";
import {
  CERTIFICATES_DIR,
  type CertificateSource,
  type ClientConfig,
  certificatesFromFiles,
  localCertificates,
  namesOfReach,
  ownCertificates,
  planReach,
  readLocalAddresses,
  readNodeAddresses,
  readServerNames,
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

/** See the module comment. Rejects when the API server could not reach this process. */
export async function openAccess(options: WebhookOptions, runtime: Runtime, logger: Logger): Promise<WebhookAccess> {
  const { port = PORT } = options;
  let address: WebhookAddress = await reachOf(options, port, runtime);
  const certificates = certificatesFor(options, address, runtime, logger);
  return {
    get address() {
      return address;
    },
    certificates,
    port,
    listens: (actual) => {
      if (options.url === undefined && "url" in address) address = { url: withPort(address.url, actual) };
    },
  };
}

function reachOf(
  options: WebhookOptions,
  port: number,
  { operator, client, clock, stopping }: Runtime,
): Promise<ClientConfig> {
  const { namespace, server, source } = client.config;
  return untilKnown(client, (serverVersion) =>
    planReach({
      webhooks: options,
      inCluster: source === "in-cluster",
      namespace,
      defaultService: `${operator}-webhooks`,
      port,
      serverUrl: server,
      serverVersion,
      serverCertificateNames: () => readServerNames(server, clock),
      nodeAddresses: () => readNodeAddresses(client, stopping),
      localAddresses: readLocalAddresses(),
    }),
  );
}

/** The version helps to guess what sort of cluster it is; one that does not tell is judged by the rest. */
async function untilKnown<T>(client: Client, plan: (version: string) => Promise<T>): Promise<T> {
  const { gitVersion = "" } = await client.version().catch(() => ({ gitVersion: "" }));
  return plan(gitVersion);
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
    return certificatesFromFiles({ ...common, dir: CERTIFICATES_DIR, publishes: false });
  }
  const own = { ...common, random, names: namesOfReach(address) };
  // One process at an address of its own shares its certificate with no other.
  if ("url" in address && secret === undefined) return localCertificates(own);
  const namespace = "service" in address ? address.service.namespace : client.config.namespace;
  signal.throwIfAborted();
  return ownCertificates({ ...own, client, namespace, secret: secret ?? `${operator}-webhooks`, operator });
}

function withPort(text: string, port: number): string {
  const url = new URL(text);
  url.port = String(port);
  return url.origin;
}
