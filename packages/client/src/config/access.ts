/** From options to the access of one server. */
import { resolve } from "node:path";
import { type Clock, ConfigError, lookup, systemClock } from "../meta/index.ts";
import type { Access, AccessOptions, LoginFunction } from "./contract.ts";
import { type CredentialIssuer, type Material, PartsCredentials, readPem } from "./credentials.ts";
import { AuthError } from "./errors.ts";
import { ExecPlugin } from "./exec-plugin.ts";
import { RenewedFile } from "./files.ts";
import { impersonationHeaders } from "./impersonation.ts";
import { openInCluster, SERVICE_ACCOUNT_FOLDER } from "./in-cluster.ts";
import type { KubeconfigCluster, KubeconfigUser, MergedKubeconfig } from "./kubeconfig-parse.ts";
import { LoginCredentials, loginsOf } from "./login.ts";
import type { OidcContext } from "./oidc.ts";
import { checkProxy, proxyOf } from "./proxy.ts";
import { findKubeconfig } from "./sources.ts";
import { printWarningsOnce } from "./warnings.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What the steps below pass on: the options, with everything that has a default. */
interface Asked extends AccessOptions {
  readonly env: Env;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
}

/**
 * Finds the server and the credentials: `url` alone, a kubeconfig, the pod's service account; in this order. Reads files,
 * sends nothing.
 */
export async function openAccess(o: AccessOptions): Promise<Access> {
  const { env = process.env, clock = systemClock, onWarning = printWarningsOnce() } = o;
  const access = await findAccess({ ...o, env, clock, onWarning });
  const proxyUrl = access.proxyUrl ?? (await proxyOf(access.server, env));
  return proxyUrl === undefined ? access : { ...access, proxyUrl };
}

async function findAccess(o: Asked): Promise<Access> {
  if (o.login) return fromLogin(o, o.login);
  if (o.url !== undefined && o.kubeconfig === undefined && o.context === undefined) return fromOptions(o, o.url);
  const { merged, looked } =
    o.serviceAccount !== undefined && o.kubeconfig === undefined && o.context === undefined
      ? { merged: undefined, looked: [] }
      : await findKubeconfig(o, o.env);
  if (merged) return fromKubeconfig(merged, o);
  const { env, clock, serviceAccount, namespace } = o;
  const inCluster = await openInCluster({ env, clock, serviceAccount, namespace });
  if (inCluster) return inCluster;
  throw new ConfigError(
    `no cluster is configured: looked for ${[...looked, `a pod's service account in ${SERVICE_ACCOUNT_FOLDER}`].join(" and ")}`,
    { hint: "set $KUBECONFIG, pass `kubeconfig` or `url`, or start a local cluster with `npx lotse cluster`" },
  );
}

/** Only what the program does not say by itself is looked for in the configuration. */
async function fromLogin({ login, ...o }: Asked, ask: LoginFunction): Promise<Access> {
  const logins = loginsOf(await ask());
  if (logins.length === 0) {
    throw new AuthError("the login brought no credentials", { hint: "return { server, token } or the like" });
  }
  const servers = new Set(logins.flatMap(({ server }) => (server === undefined ? [] : [withoutSlash(server)])));
  const [server, another] = servers;
  if (another !== undefined) {
    throw new ConfigError(`the logins are for different servers: ${[...servers].join(", ")}`, {
      hint: "one client talks to one server",
    });
  }
  const configured = server === undefined ? await openAccess(o) : undefined;
  const credentials = new LoginCredentials(ask, o.clock);
  credentials.take(logins);
  const said = <Key extends "namespace" | "proxyUrl">(key: Key) => logins.find((one) => one[key] !== undefined)?.[key];
  const proxyUrl = said("proxyUrl") ?? configured?.proxyUrl;
  return {
    server: server ?? configured?.server ?? "",
    namespace: o.namespace ?? said("namespace") ?? configured?.namespace ?? "default",
    source: "login",
    credentials,
    headers: {},
    ...(proxyUrl && { proxyUrl: checkProxy(proxyUrl, "the login") }),
  };
}

function fromOptions(o: Asked, url: string): Access {
  const rejectUnauthorized = o.insecureSkipTlsVerify !== true;
  return {
    server: withoutSlash(url),
    namespace: o.namespace ?? "default",
    source: "url",
    credentials: new PartsCredentials({ ...given(o), rejectUnauthorized }),
    headers: {},
  };
}

async function fromKubeconfig(merged: MergedKubeconfig, o: Asked): Promise<Access> {
  const name = chooseContext(merged, o);
  const context = merged.contexts.get(name)?.value ?? {};
  const namespace = o.namespace ?? (context.namespace || undefined);
  if (!context.cluster) {
    const { env, clock, serviceAccount, url } = o;
    const inCluster = await openInCluster({ env, clock, serviceAccount, namespace, context: name, url });
    if (inCluster) return inCluster;
    throw new ConfigError(`the context "${name}" in ${merged.origin} names no cluster`, {
      hint: "complete it with kubectl config set-context",
    });
  }
  const cluster = merged.clusters.get(context.cluster);
  if (!cluster) throw missing("cluster", context.cluster, name, merged.origin, merged.clusters.keys());
  const user = context.user ? merged.users.get(context.user) : undefined;
  if (context.user && !user) throw missing("user", context.user, name, merged.origin, merged.users.keys());
  const server = withoutToken(o.url ?? cluster.value.server ?? "", user?.value.token);
  if (!server) {
    throw new ConfigError(`the cluster "${context.cluster}" in ${merged.origin} has no server address`, {
      hint: "set it with kubectl config set-cluster",
    });
  }
  const place = { cluster: context.cluster, user: context.user ?? "", files: merged.origin };
  const noUser = { value: {}, folder: undefined };
  const parts = partsOf(server, cluster, user ?? noUser, place, o);
  const insecure = o.insecureSkipTlsVerify ?? cluster.value["insecure-skip-tls-verify"] === true;
  // Plain HTTP has no certificate.
  if (insecure && /^https:/i.test(server))
    o.onWarning(`the certificate of ${server} is not verified (insecure-skip-tls-verify)`);
  const proxyUrl = cluster.value["proxy-url"];
  return {
    server: withoutSlash(server),
    context: name,
    namespace: namespace ?? "default",
    source: "kubeconfig",
    credentials: new PartsCredentials({ ...parts, ...given(o), rejectUnauthorized: !insecure }),
    headers: impersonation(user?.value ?? {}),
    origin: {
      files: merged.origin,
      cluster: context.cluster,
      ...(context.user && { user: context.user }),
      ...authorityOf(cluster, o),
    },
    ...(proxyUrl && { proxyUrl: checkProxy(proxyUrl, `the cluster "${context.cluster}" in ${merged.origin}`) }),
  };
}

/** Where the certificate authority comes from, for the person who has to find the wrong one. */
function authorityOf({ value, folder }: At<KubeconfigCluster>, o: Asked): { authority?: string } {
  if (o.ca !== undefined) return { authority: "the option `ca`" };
  if (value["certificate-authority-data"]) return { authority: "certificate-authority-data" };
  const path = value["certificate-authority"];
  return path ? { authority: resolve(folder ?? ".", path) } : {};
}

function chooseContext(merged: MergedKubeconfig, o: Asked): string {
  const names = [...merged.contexts.keys()];
  const wanted = o.context ?? merged.currentContext;
  if (names.length === 0) {
    const hint =
      "choose another file with `kubeconfig` or $KUBECONFIG, or add a context with kubectl config set-context";
    throw new ConfigError(`${merged.origin} ${merged.empty ? "is empty" : "has no contexts"}`, { hint });
  }
  if (wanted === undefined) {
    const first = names[0] as string;
    o.onWarning(`${merged.origin} sets no current-context; using the first one, "${first}"`);
    return first;
  }
  if (merged.contexts.has(wanted)) return wanted;
  throw new ConfigError(`there is no context "${wanted}" in ${merged.origin}`, {
    hint: `the contexts are: ${names.join(", ")}`,
  });
}

interface At<T> {
  readonly value: T;
  readonly folder: string | undefined;
}

function partsOf(
  server: string,
  { value: cluster, folder: clusterFolder }: At<KubeconfigCluster>,
  { value: user, folder: userFolder }: At<KubeconfigUser>,
  place: { readonly cluster: string; readonly user: string; readonly files: string },
  { env, clock, onWarning }: Asked,
) {
  const ofCluster = (field: string) => `${field} of the cluster "${place.cluster}" in ${place.files}`;
  const ofUser = (field: string) => `${field} of the user "${place.user}" in ${place.files}`;
  const file = (path: string | undefined, folder: string | undefined, what: string, field: string): Material =>
    path ? new RenewedFile(resolve(folder ?? ".", path), what, clock, field) : undefined;
  const userFile = (key: "client-certificate" | "client-key" | "tokenFile", what: string) =>
    file(user[key], userFolder, what, ofUser(key));
  const { exec, "auth-provider": provider } = user;
  refuseOldWays(user);
  refuseHalfCertificate(user, ofUser);
  const ca = cluster["certificate-authority-data"];
  const [cert, key] = [user["client-certificate-data"], user["client-key-data"]];
  return {
    // The data wins over the file, as for kubectl.
    ca: ca
      ? readPem(ca)
      : file(
          cluster["certificate-authority"],
          clusterFolder,
          "certificate authority",
          ofCluster("certificate-authority"),
        ),
    cert: cert ? readPem(cert) : userFile("client-certificate", "client certificate"),
    key: key ? readPem(key) : userFile("client-key", "client key"),
    // A file beats the text beside it, which only repeats an older state of it.
    token: userFile("tokenFile", "token file") ?? (user.token || undefined),
    servername: cluster["tls-server-name"],
    issuer: exec
      ? new ExecPlugin(exec, {
          cluster: clusterInfo(server, cluster),
          folder: userFolder,
          place: `of the user "${place.user}" in ${place.files}`,
          env,
          clock,
        })
      : provider
        ? oidcIssuer(provider.config ?? {}, { user: place.user, folder: userFolder, env, clock, onWarning })
        : undefined,
  };
}

/** Loaded when it is asked for the first time: few clusters are logged in to this way. */
function oidcIssuer(config: Record<string, string>, context: OidcContext): CredentialIssuer {
  let loading: Promise<CredentialIssuer> | undefined;
  const load = () => {
    loading ??= import("./oidc.ts").then(({ OidcIssuer }) => new OidcIssuer(config, context));
    return loading;
  };
  return { get: async (o) => (await load()).get(o), renew: async (o) => (await load()).renew(o) };
}

/** TLS would leave out what it cannot use, and the API server would take the caller for anonymous. */
function refuseHalfCertificate(user: KubeconfigUser, ofUser: (field: string) => string): void {
  const cert = user["client-certificate-data"] || user["client-certificate"];
  const key = user["client-key-data"] || user["client-key"];
  if (Boolean(cert) === Boolean(key)) return;
  const [there, lacking] = cert ? ["client-certificate", "client-key"] : ["client-key", "client-certificate"];
  throw new AuthError(`there is ${ofUser(there)}, but no ${lacking}`, {
    hint: `add ${lacking} or ${lacking}-data: one is of no use without the other`,
  });
}

function clusterInfo(server: string, cluster: KubeconfigCluster) {
  const keys = ["certificate-authority-data", "insecure-skip-tls-verify", "tls-server-name"] as const;
  return {
    server,
    ...Object.fromEntries(keys.flatMap((key) => (cluster[key] === undefined ? [] : [[key, cluster[key]]]))),
  };
}

function refuseOldWays(user: KubeconfigUser): void {
  if (user.username !== undefined || user.password !== undefined) {
    throw new AuthError("user name and password are refused by every Kubernetes since 1.19", {
      hint: "use a token, a client certificate or a credential plugin",
    });
  }
  const provider = user["auth-provider"]?.name;
  if (provider === undefined || provider === "oidc") return;
  const plugin = lookup({ gcp: "gke-gcloud-auth-plugin", azure: "kubelogin" }, provider) ?? "a credential plugin";
  throw new AuthError(`the auth-provider "${provider}" is gone since Kubernetes 1.26`, {
    hint: `use ${plugin} by way of "exec" in the kubeconfig`,
  });
}

function impersonation(user: KubeconfigUser): Record<string, string | string[]> {
  const { as, "as-uid": uid, "as-groups": groups, "as-user-extra": extra } = user;
  if (!as && !uid && !groups?.length && Object.keys(extra ?? {}).length === 0) return {};
  return impersonationHeaders({ user: as ?? "", uid, groups, extra });
}

/** What the caller passed wins over what the kubeconfig says. */
function given(o: AccessOptions): { ca?: Material; cert?: Material; key?: Material; token?: Material } {
  const { ca, cert, key, token } = o;
  const entries = Object.entries({ ca, cert, key, token }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "string" ? value : Buffer.from(value ?? "")]),
  );
}

function missing(what: string, name: string, context: string, files: string, known: Iterable<string>): ConfigError {
  return new ConfigError(`the context "${context}" in ${files} names the ${what} "${name}", which is not there`, {
    hint: `the ${what}s are: ${[...known].join(", ") || "none"}`,
  });
}

/**
 * The embedded cluster writes its token into the address of a server without TLS, too, for clients that send no other
 * credentials there. This one does, and addresses end up in logs.
 */
function withoutToken(server: string, token: string | undefined): string {
  return token && server.endsWith(`/~${token}`) ? server.slice(0, -`/~${token}`.length) : server;
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");
