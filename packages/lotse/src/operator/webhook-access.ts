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
import { SharedCertificates } from "./shared-certificates.ts";
import type { Together } from "./together.ts";

/** See the module comment. */
export interface WebhookAccess {
  readonly address: WebhookAddress;
  /** Names and addresses by which the API server calls, which the certificate is for. */
  readonly names: readonly string[];
  readonly certificates: CertificateSource;
  /** Where others find the authority, where the operator makes it and it is kept. */
  readonly authorityIn: { readonly namespace: string; readonly secret: string } | undefined;
  /** Where to listen; 0 is any free one. */
  readonly port: number;
  /** The server listens there. */
  listens(port: number): void;
}

const PORT = 9_443;

/** How operators of one process share it. */
export interface AccessSharing {
  readonly together: Together;
  /** Whether the API server is told the same address for all of them: then one certificate is for all of them, too. */
  readonly oneAddress: boolean;
}

/** See the module comment. Rejects when the API server could not reach this process. */
export async function openAccess(
  options: WebhookOptions,
  runtime: Runtime,
  logger: Logger,
  sharing?: AccessSharing,
): Promise<WebhookAccess> {
  const { port = PORT } = options;
  const { operator } = runtime;
  let reach = await reachOf(options, port, runtime);
  const authorityIn = secretFor(options, reach, runtime, sharing);
  return {
    get address() {
      return sharing ? below(reach, operator) : reach;
    },
    names: namesOfReach(reach),
    certificates: certificatesFor(options, reach, runtime, logger, sharing, authorityIn),
    authorityIn,
    port,
    listens: (actual) => {
      if (options.url === undefined && "url" in reach) reach = { url: withPort(reach.url, actual) };
    },
  };
}

/** Where certificates of the operator's own are kept; undefined: nowhere, or they are not its own. */
function secretFor(
  { certificates = "own", secret }: WebhookOptions,
  address: ClientConfig,
  { operator, client }: Runtime,
  sharing: AccessSharing | undefined,
): (NonNullable<WebhookAccess["authorityIn"]> & { readonly owner: string }) | undefined {
  // One process at an address of its own shares its certificate with no other.
  if (certificates !== "own" || ("url" in address && secret === undefined)) return undefined;
  const owner = (sharing?.oneAddress ? sharing.together.lead : undefined) ?? operator;
  const namespace = "service" in address ? address.service.namespace : client.config.namespace;
  return { namespace, secret: secret ?? `${owner}-webhooks`, owner };
}

/** Operators that share an address are asked below their names. */
function below(reach: ClientConfig, operator: string): WebhookAddress {
  if ("url" in reach) return { url: `${reach.url}/${operator}` };
  return { service: { ...reach.service, path: `/${operator}` } };
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
  { certificates = "own" }: WebhookOptions,
  address: ClientConfig,
  { client, clock, random, stopping: signal }: Runtime,
  logger: Logger,
  sharing: AccessSharing | undefined,
  kept: ReturnType<typeof secretFor>,
): CertificateSource {
  // An operator that stops goes on to answer until its last watch has ended: its certificates end with it, not before.
  const common = { clock, logger, signal: new AbortController().signal };
  const shared = (where: string, make: () => CertificateSource) => {
    if (!sharing) return make();
    const all = sharing.together.certificates;
    const known = all.get(where) ?? new SharedCertificates(make);
    all.set(where, known);
    return known.use();
  };
  if (certificates !== "own") {
    const [dir, publishes] = typeof certificates === "object" ? [certificates.dir, true] : [CERTIFICATES_DIR, false];
    return shared(`in ${dir}`, () => certificatesFromFiles({ ...common, dir, publishes }));
  }
  const own = { ...common, random, names: namesOfReach(address) };
  if (!kept) return shared(`of ${own.names}`, () => localCertificates(own));
  signal.throwIfAborted();
  const { namespace, secret, owner } = kept;
  return shared(`in Secret ${namespace}/${secret}`, () =>
    ownCertificates({ ...own, client, namespace, secret, operator: owner }),
  );
}

function withPort(text: string, port: number): string {
  const url = new URL(text);
  url.port = String(port);
  return url.origin;
}
