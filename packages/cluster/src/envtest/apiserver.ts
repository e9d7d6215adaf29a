/** What stands in for kube-apiserver: an embedded cluster without controllers, told by flags and files what it shall be. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CertificateAuthority } from "@lotse/client/certificates";
import { ADMISSION_PLUGINS, type AdmissionPluginName } from "../admission/index.ts";
import { Cluster } from "../cluster.ts";
import type { ClusterOptions, ServiceAccountOptions, ServingCertificate, TokenUser } from "../options.ts";
import { EnvtestError } from "./errors.ts";
import { cannotListen, DATA_PATH, type DataPlace } from "./etcd.ts";
import { type FlagValues, listOf } from "./flags.ts";
import { EXTRA_ROOTS, OTHER_PLUGINS } from "./tables.ts";
import { readTokenFile } from "./token-file.ts";

/** The range that envtest has always used. */
const SERVICE_RANGE = "10.0.0.0/24";
const SECURE_PORT = 6443;

/** Starts the API server that the flags describe; `warn` hears of what has no effect. */
export async function startApiServer(
  flags: FlagValues,
  warn: (text: string) => void,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Cluster> {
  const host = flags.last("bind-address") ?? "127.0.0.1";
  const port = Number(flags.last("secure-port") ?? SECURE_PORT);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new EnvtestError(`--secure-port ${flags.last("secure-port")} is no port`, "write a number from 1 to 65535");
  }
  const place = await findData(flags.last("etcd-servers"));
  const clientCa = await optionalFile(flags.last("client-ca-file"), "--client-ca-file");
  const webhookCa = await extraRoots(env[EXTRA_ROOTS], warn);
  const advertiseAddress = flags.last("advertise-address");
  const options: ClusterOptions = {
    host,
    port,
    data: place.folder,
    sync: place.sync,
    name: "kubernetes",
    rbac: wantsRoles(flags, warn),
    // envtest runs without a kube-controller-manager, and its tests rely on that.
    controllers: false,
    certificate: await servingCertificate(flags, host),
    ...(clientCa !== undefined && { clientCa }),
    ...(webhookCa !== undefined && { webhookCa }),
    ...(advertiseAddress !== undefined && { advertiseAddress }),
    serviceRange: firstOf(flags, "service-cluster-ip-range", warn) ?? SERVICE_RANGE,
    serviceAccounts: await accountsOf(flags, warn),
    tokens: await tokensOf(flags),
    admission: admissionOf(flags, warn),
    flags: flags.given,
  };
  return Cluster.start(options).catch((error: NodeJS.ErrnoException) => {
    throw error.syscall === "listen" ? cannotListen(error, `${host}:${port}`) : error;
  });
}

const PATIENCE_MS = 20_000;
const RETRY_MS = 25;

/** Asks the stand-in for etcd where the data is; waits for it a while, because both may be started at once. */
async function findData(servers: string | undefined): Promise<DataPlace> {
  const [url = ""] = listOf(servers === undefined ? [] : [servers]);
  if (url === "") throw new EnvtestError("--etcd-servers must be specified", "say where the etcd beside it listens");
  const stranger = new EnvtestError(
    `the etcd at ${url} is not the one that belongs to this program`,
    "start the etcd of the same folder: this program keeps its data in the folder of that one's --data-dir",
  );
  if (!url.startsWith("http://") || !URL.canParse(url)) throw stranger;
  const giveUp = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask(new URL(DATA_PATH, url));
    if (answer !== undefined) {
      const { folder, sync } = parse(answer);
      if (typeof folder !== "string") throw stranger;
      return { folder, sync: sync !== false };
    }
    if (performance.now() > giveUp) {
      throw new EnvtestError(`no server answers at ${url}`, "start the etcd of the same folder first");
    }
    await wait(RETRY_MS);
  }
}

/** The body of an answer; undefined where no server answers. */
function ask(url: URL): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: PATIENCE_MS }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
      response.on("error", () => resolve(undefined));
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(undefined));
  });
}

function parse(text: string): Partial<DataPlace> {
  try {
    return JSON.parse(text) as Partial<DataPlace>;
  } catch {
    return {};
  }
}

/** The certificate in files, or a new one in `--cert-dir`, as the real program makes it. */
async function servingCertificate(flags: FlagValues, host: string): Promise<ServingCertificate> {
  const folder = flags.last("cert-dir") ?? "/var/run/kubernetes";
  const cert = flags.last("tls-cert-file");
  const key = flags.last("tls-private-key-file");
  if (cert !== undefined || key !== undefined) {
    if (cert === undefined || key === undefined) {
      throw new EnvtestError("--tls-cert-file and --tls-private-key-file need each other", "give both");
    }
    return { cert: await file(cert, "--tls-cert-file"), key: await file(key, "--tls-private-key-file") };
  }
  const paths = { cert: join(folder, "apiserver.crt"), key: join(folder, "apiserver.key") };
  try {
    return { cert: await readFile(paths.cert, "utf8"), key: await readFile(paths.key, "utf8") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const authority = new CertificateAuthority(`${hostname()}-ca`, Date.now());
  const hosts = [...new Set([host, "127.0.0.1", "localhost", "kubernetes.default.svc"])];
  const made = authority.issue({ commonName: hostname().slice(0, 64), hosts, usage: "server" });
  await mkdir(folder, { recursive: true });
  await writeFile(paths.cert, `${made.certPem}${authority.certPem}`, { mode: 0o644 });
  await writeFile(paths.key, made.keyPem, { mode: 0o600 });
  return { cert: `${made.certPem}${authority.certPem}`, key: made.keyPem, ca: authority.certPem };
}

async function accountsOf(flags: FlagValues, warn: (text: string) => void): Promise<ServiceAccountOptions> {
  const issuer = firstOf(flags, "service-account-issuer", warn);
  const signingKey = await optionalFile(
    flags.last("service-account-signing-key-file"),
    "--service-account-signing-key-file",
  );
  const keys = await Promise.all(
    flags.all("service-account-key-file").map((path) => file(path, "--service-account-key-file")),
  );
  return {
    ...(issuer !== undefined && { issuer }),
    ...(signingKey !== undefined && { signingKey }),
    keys,
  };
}

async function tokensOf(flags: FlagValues): Promise<Record<string, TokenUser>> {
  const text = await optionalFile(flags.last("token-auth-file"), "--token-auth-file");
  return text === undefined ? {} : readTokenFile(text);
}

/** Whether roles decide. Modes are asked in their order, so that one that allows everything leaves nothing to others. */
function wantsRoles(flags: FlagValues, warn: (text: string) => void): boolean {
  const modes = listOf(flags.all("authorization-mode"));
  const known = ["AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"];
  for (const mode of modes) {
    if (!known.includes(mode)) {
      throw new EnvtestError(
        `authorization-mode ${JSON.stringify(mode)} is not a valid mode`,
        `there are ${known.join(", ")}`,
      );
    }
    if (mode !== "RBAC" && mode !== "AlwaysAllow") warn(`without effect here: --authorization-mode=${mode}`);
  }
  return modes.length > 0 && !modes.includes("AlwaysAllow");
}

function admissionOf(flags: FlagValues, warn: (text: string) => void): NonNullable<ClusterOptions["admission"]> {
  const chosen = (flag: "enable-admission-plugins" | "disable-admission-plugins") =>
    listOf(flags.all(flag)).filter((name): name is AdmissionPluginName => {
      if ((ADMISSION_PLUGINS as readonly string[]).includes(name)) return true;
      if (!OTHER_PLUGINS.has(name)) {
        throw new EnvtestError(`${flag} plugin ${JSON.stringify(name)} is unknown`, "look for a slip in its name");
      }
      warn(`without effect here: --${flag}=${name}`);
      return false;
    });
  const disable = chosen("disable-admission-plugins");
  // Pods want an account unless the flags say that they do not: those of envtest do, always.
  return { disable, enable: ["ServiceAccount", ...chosen("enable-admission-plugins")] };
}

/** The first of several values; that the others do not count is told. */
function firstOf(flags: FlagValues, name: string, warn: (text: string) => void): string | undefined {
  const [first, ...rest] = name === "service-cluster-ip-range" ? listOf(flags.all(name)) : flags.all(name);
  for (const value of rest) warn(`without effect here: --${name}=${value} (the first one counts)`);
  return first;
}

/** What Node.js would have read; as Node.js does, it tells of a file that cannot be read, and goes on without it. */
async function extraRoots(path: string | undefined, warn: (text: string) => void): Promise<string | undefined> {
  if (path === undefined || path === "") return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    warn(`without effect here: NODE_EXTRA_CA_CERTS, which cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}

async function file(path: string, flag: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new EnvtestError(`${flag} cannot be read: ${(error as Error).message}`, "look for a slip in the path");
  }
}

async function optionalFile(path: string | undefined, flag: string): Promise<string | undefined> {
  return path === undefined || path === "" ? undefined : file(path, flag);
}
