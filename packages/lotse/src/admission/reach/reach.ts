/** Where an API server can reach the webhook server. Decisions only; what they need to know is asked of `facts`. */
import { isIP } from "node:net";
import { ConfigError } from "@lotse/client/meta";
import { addressInSubnet, type LocalAddress } from "./subnets.ts";

/** What a webhook configuration says, without a path and without the authorities. */
export type ClientConfig =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } };

/** What the user has said about it. */
export interface ReachOptions {
  readonly url?: string | undefined;
  readonly service?:
    | string
    | { readonly namespace?: string; readonly name: string; readonly port?: number }
    | undefined;
  /** The address that the server listens on. */
  readonly host?: string | undefined;
}

/** What is known of the cluster and of this machine. */
export interface ReachFacts {
  readonly webhooks: ReachOptions;
  /** Whether this process is a pod of the cluster. */
  readonly inCluster: boolean;
  /** Of the operator. */
  readonly namespace: string;
  /** The Service that the operator's manifests have, unless another one is named. */
  readonly defaultService: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** As the client reaches it. */
  readonly serverUrl: string;
  /** `v1.36.0+k3s1`. */
  readonly serverVersion: string;
  /** The names in the certificate of the API server. Asked for when nothing else tells; may reject. */
  serverCertificateNames(): Promise<readonly string[]>;
  /** Addresses of nodes inside of the cluster. Asked for when the cluster runs in containers of this machine; may reject. */
  nodeAddresses(): Promise<readonly string[]>;
  /** The addresses of this machine. */
  readonly localAddresses: readonly LocalAddress[];
}

const SERVICE_PORT = 443;

/** Says where; rejects with what to do when there is no way. */
export async function planReach(facts: ReachFacts): Promise<ClientConfig> {
  const { webhooks, inCluster, namespace, defaultService } = facts;
  if (webhooks.url !== undefined) return { url: checkUrl(webhooks.url) };
  if (webhooks.service !== undefined) {
    const named = typeof webhooks.service === "string" ? { name: webhooks.service } : webhooks.service;
    return { service: { namespace, port: SERVICE_PORT, ...named } };
  }
  if (inCluster) return { service: { namespace, name: defaultService, port: SERVICE_PORT } };
  return { url: urlOf(await hostFor(facts), facts.port) };
}

/** Names and addresses that the server's certificate has to be for. */
export function namesOfReach(config: ClientConfig): string[] {
  if ("service" in config) {
    const { name, namespace } = config.service;
    return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`];
  }
  return [new URL(config.url).hostname.replace(/^\[|\]$/g, "")];
}

/** A name by which the API server finds this machine. */
async function hostFor(facts: ReachFacts): Promise<string> {
  const server = new URL(facts.serverUrl).hostname.replace(/^\[|\]$/g, "");
  const { host } = facts.webhooks;
  // The user named one address of this machine, and not a way to say all of them.
  if (host !== undefined && !isCatchAll(host) && !isLoopback(host)) return host;
  const byName = [server, ...(await facts.serverCertificateNames().catch(() => []))].map((name) => name.toLowerCase());
  const kind = clusterKind(byName, facts.serverVersion);
  if (kind === "here" || (kind === undefined && isLoopback(server))) return loopbackFor(host);
  if (kind === undefined) throw unreachable(facts);
  if (kind.host !== undefined) return kind.host;
  const nodes = await facts.nodeAddresses().catch(() => []);
  return addressInSubnet(nodes, facts.localAddresses) ?? DOCKER_DESKTOP;
}

/** A cluster on this machine: `here` shares its network, others run in containers or virtual machines. */
type LocalCluster = "here" | { /** Undefined: it has none of its own. */ readonly host: string | undefined };

const DOCKER_DESKTOP = "host.docker.internal";

/** Names that local clusters have in their certificates, or in the addresses of their API servers. */
const KNOWN: readonly (readonly [name: RegExp, cluster: LocalCluster])[] = [
  [/^k3d-.+-server(?:lb|-\d+)$|^host\.k3d\.internal$/, { host: "host.k3d.internal" }],
  [/^minikube(?:ca)?$|\.minikube\.internal$/, { host: "host.minikube.internal" }],
  [/^docker-(?:for-)?desktop$|^(?:kubernetes|vm|host)\.docker\.internal$/, { host: DOCKER_DESKTOP }],
  [/^lima-rancher-desktop$|^host\.rancher-desktop\.internal$/, { host: "host.rancher-desktop.internal" }],
  [/^k8s\.orb\.local$|^orbstack$/, { host: "host.orb.internal" }],
  // Its nodes have no name for the machine that they run on; those of others end in control-plane, too: hence last.
  [/^[\w.-]+-control-plane$/, { host: undefined }],
];

/** Which of the clusters it is that people have on their own machines; undefined: none that is known. */
export function clusterKind(names: readonly string[], version: string): LocalCluster | undefined {
  if (/\+lotse$/.test(version)) return "here";
  for (const [pattern, cluster] of KNOWN) if (names.some((name) => pattern.test(name))) return cluster;
  // As Kopf does: k3s on a laptop is mostly that of k3d; on a server it is reached by another name than localhost.
  const isLocal = names.some(isLoopback) && isLoopback(names[0] ?? "");
  return /\+k3s\d*$/.test(version) && isLocal ? { host: "host.k3d.internal" } : undefined;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host) || host === "0.0.0.0";
}

function isCatchAll(host: string): boolean {
  return host === "0.0.0.0" || host === "::" || host === "";
}

function loopbackFor(host: string | undefined): string {
  return host !== undefined && host !== "0.0.0.0" && isLoopback(host) ? host : "127.0.0.1";
}

function urlOf(host: string, port: number): string {
  return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** The rules that API servers have for such an address, before they say them in their own words. */
function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const wrong = !url
    ? "is no address"
    : url.protocol !== "https:"
      ? "does not begin with https://"
      : url.username !== "" || url.password !== ""
        ? "has a user in it"
        : url.search !== "" || url.hash !== ""
          ? "has a query or a fragment"
          : undefined;
  if (url === undefined || wrong !== undefined) {
    throw new ConfigError(`The webhook URL ${JSON.stringify(text)} ${wrong}: no API server would call it.`, {
      hint: "Write https://NAME:PORT, with a name or address that the API server can reach.",
    });
  }
  return text.replace(/\/+$/, "");
}

function unreachable({ serverUrl }: ReachFacts): ConfigError {
  return new ConfigError(
    `The operator has webhooks, and the API server at ${new URL(serverUrl).host} has no way to reach this machine that is known.`,
    {
      hint: "Say one with --webhook-url https://NAME:PORT (or webhooks: { url }), run the operator in the cluster, or use lotse dev.",
    },
  );
}
