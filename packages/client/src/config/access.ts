/** From options to the access of one server. */
import { resolve } from "node:path";
import { type Clock, ConfigError, systemClock } from "../meta/index.ts";
import type { Access, AccessOptions, LoginFunction } from "./contract.ts";
import { type Material, PartsCredentials, readPem } from "./credentials.ts";
import { AuthError } from "./errors.ts";
import { ExecPlugin } from "./exec-plugin.ts";
import { RenewedFile } from "./files.ts";
import { openInCluster, SERVICE_ACCOUNT_FOLDER } from "./in-cluster.ts";
import type { KubeconfigCluster, KubeconfigUser, MergedKubeconfig } from "./kubeconfig.ts";
import { LoginCredentials, loginsOf } from "./login.ts";
import { findKubeconfig } from "./sources.ts";

/**
 * Finds the server and the credentials: `url` alone, a kubeconfig, the pod's service account; in this order. Reads files,
 * sends nothing.
 */
export async function openAccess(o: AccessOptions): Promise<Access> {
  const access = await findAccess(o);
  const proxyUrl = access.proxyUrl ?? (await proxyOf(access.server, o.env ?? process.env));
  return proxyUrl === undefined ? access : { ...access, proxyUrl };
}

const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

async function proxyOf(server: string, env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  // An address that is none is told by whoever tries to call it.
  if (!PROXY_VARIABLES.some((name) => env[name]) || !URL.canParse(server)) return undefined;
  // Loaded when needed: few machines have one.
  const { proxyFromEnv } = await import("./proxy-env.ts");
  const proxyUrl = proxyFromEnv(server, env);
  return proxyUrl === undefined ? undefined : checkProxy(proxyUrl);
}

async function findAccess(o: AccessOptions): Promise<Access> {
  if (o.login) return fromLogin(o, o.login);
  const env = o.env ?? process.env;
  const clock = o.clock ?? systemClock;
  if (o.url !== undefined && o.kubeconfig === undefined && o.context === undefined) return fromOptions(o, o.url);
  const { merged, looked } =
    o.serviceAccount !== undefined && o.kubeconfig === undefined && o.context === undefined
      ? { merged: undefined, looked: [] }
      : await findKubeconfig(o, env);
  if (merged) return fromKubeconfig(merged, o, env, clock);
  const { serviceAccount, namespace } = o;
  const inCluster = await openInCluster({ env, clock, serviceAccount, namespace });
  if (inCluster) return inCluster;
  throw new ConfigError(
    `no cluster is configured: looked for ${[...looked, `a pod's service account in ${SERVICE_ACCOUNT_FOLDER}`].join(" and ")}`,
    { hint: "set $KUBECONFIG, pass `kubeconfig` or `url`, or start a local cluster with `npx lotse cluster`" },
  );
}

/** Only what the program does not say by itself is looked for in the configuration. */
async function fromLogin({ login, ...o }: AccessOptions, ask: LoginFunction): Promise<Access> {
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
  const credentials = new LoginCredentials(ask, o.clock ?? systemClock);
  credentials.take(logins);
  const said = <Key extends "namespace" | "proxyUrl">(key: Key) => logins.find((one) => one[key] !== undefined)?.[key];
  const proxyUrl = said("proxyUrl") ?? configured?.proxyUrl;
  return {
    server: server ?? configured?.server ?? "",
    namespace: o.namespace ?? said("namespace") ?? configured?.namespace ?? "default",
    source: "login",
    credentials,
    headers: {},
    ...(proxyUrl && { proxyUrl: checkProxy(proxyUrl) }),
  };
}

function fromOptions(o: AccessOptions, url: string): Access {
  const rejectUnauthorized = o.insecureSkipTlsVerify !== true;
  return {
    server: withoutSlash(url),
    namespace: o.namespace ?? "default",
    source: "url",
    credentials: new PartsCredentials({ ...given(o), rejectUnauthorized }),
    headers: {},
  };
}

async function fromKubeconfig(
  merged: MergedKubeconfig,
  o: AccessOptions,
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): Promise<Access> {
  const name = chooseContext(merged, o);
  const context = merged.contexts.get(name)?.value ?? {};
  const namespace = o.namespace ?? (context.namespace || undefined);
  if (!context.cluster) {
    const { serviceAccount, url } = o;
    const inCluster = await openInCluster({ env, clock, serviceAccount, namespace, context: name, url });
    if (inCluster) return inCluster;
    throw new ConfigError(`the context "${name}" names no cluster`, {
      hint: "complete it with kubectl config set-context",
    });
  }
  const cluster = merged.clusters.get(context.cluster);
  if (!cluster) throw missing("cluster", context.cluster, name, merged.clusters.keys());
  const user = context.user ? merged.users.get(context.user) : undefined;
  if (context.user && !user) throw missing("user", context.user, name, merged.users.keys());
  const server = o.url ?? cluster.value.server;
  if (!server) {
    throw new ConfigError(`the cluster "${context.cluster}" has no server address`, {
      hint: "set it with kubectl config set-cluster",
    });
  }
  const parts = partsOf(server, cluster, user ?? { value: {}, folder: undefined }, env, clock);
  const insecure = o.insecureSkipTlsVerify ?? cluster.value["insecure-skip-tls-verify"] === true;
  if (insecure) o.onWarning?.(`the certificate of ${server} is not verified (insecure-skip-tls-verify)`);
  return {
    server: withoutSlash(server),
    context: name,
    namespace: namespace ?? "default",
    source: "kubeconfig",
    credentials: new PartsCredentials({ ...parts, ...given(o), rejectUnauthorized: !insecure }),
    headers: impersonation(user?.value ?? {}),
    ...(cluster.value["proxy-url"] ? { proxyUrl: checkProxy(cluster.value["proxy-url"]) } : {}),
  };
}

function checkProxy(url: string): string {
  if (/^https?:\/\//.test(url)) return url;
  throw new ConfigError(`the proxy ${url} is not of a kind that this client can use`, {
    hint: "use a proxy with http:// or https://",
  });
}

function chooseContext(merged: MergedKubeconfig, o: AccessOptions): string {
  const names = [...merged.contexts.keys()];
  const wanted = o.context ?? merged.currentContext;
  if (wanted === undefined) {
    const first = names[0];
    if (first === undefined) {
      throw new ConfigError(`${merged.origin} has no contexts`, { hint: "add one with kubectl config set-context" });
    }
    o.onWarning?.(`${merged.origin} sets no current-context; using the first one, "${first}"`);
    return first;
  }
  if (merged.contexts.has(wanted)) return wanted;
  throw new ConfigError(`there is no context "${wanted}" in ${merged.origin}`, {
    hint: names.length > 0 ? `the contexts are: ${names.join(", ")}` : "it has no contexts at all",
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
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
) {
  const file = (path: string | undefined, folder: string | undefined, what: string): Material =>
    path ? new RenewedFile(resolve(folder ?? ".", path), what, clock) : undefined;
  // The data wins over the file, as for kubectl.
  const pem = (
    data: string | undefined,
    path: string | undefined,
    folder: string | undefined,
    what: string,
  ): Material => (data ? readPem(data) : file(path, folder, what));
  const { exec } = user;
  refuseOldWays(user);
  return {
    ca: pem(
      cluster["certificate-authority-data"],
      cluster["certificate-authority"],
      clusterFolder,
      "certificate authority",
    ),
    cert: pem(user["client-certificate-data"], user["client-certificate"], userFolder, "client certificate"),
    key: pem(user["client-key-data"], user["client-key"], userFolder, "client key"),
    // A file beats the text beside it, which only repeats an older state of it.
    token:
      file(user.tokenFile, userFolder, "token file") ?? (user.token || user["auth-provider"]?.config?.["id-token"]),
    servername: cluster["tls-server-name"],
    exec: exec
      ? new ExecPlugin(exec, { cluster: clusterInfo(server, cluster), folder: userFolder, env, clock })
      : undefined,
  };
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
  const plugin = { gcp: "gke-gcloud-auth-plugin", azure: "kubelogin" }[provider] ?? "a credential plugin";
  throw new AuthError(`the auth-provider "${provider}" is gone since Kubernetes 1.26`, {
    hint: `use ${plugin} by way of "exec" in the kubeconfig`,
  });
}

function impersonation(user: KubeconfigUser): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  if (user.as) headers["impersonate-user"] = user.as;
  if (user["as-uid"]) headers["impersonate-uid"] = user["as-uid"];
  if (user["as-groups"]?.length) headers["impersonate-group"] = user["as-groups"];
  for (const [key, values] of Object.entries(user["as-user-extra"] ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values;
  }
  return headers;
}

/** What the caller passed wins over what the kubeconfig says. */
function given(o: AccessOptions): { ca?: Material; cert?: Material; key?: Material; token?: Material } {
  const { ca, cert, key, token } = o;
  const entries = Object.entries({ ca, cert, key, token }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "string" ? value : Buffer.from(value ?? "")]),
  );
}

function missing(what: string, name: string, context: string, known: Iterable<string>): ConfigError {
  return new ConfigError(`the context "${context}" names the ${what} "${name}", which is not there`, {
    hint: `the ${what}s are: ${[...known].join(", ") || "none"}`,
  });
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");
