/** What stands in for kube-apiserver: an embedded cluster without controllers, told by flags and files what it shall be. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { CertificateAuthority } from "@lotse/client/certificates";
import { ADMISSION_PLUGINS, type AdmissionPluginName } from "../admission/index.ts";
import { Cluster } from "../cluster.ts";
import type { ClusterOptions, ServiceAccountOptions, ServingCertificate, TokenUser } from "../options.ts";
import type { OpenPort } from "../transport/index.ts";
import type { Address } from "./address.ts";
import type { DataPlace } from "./data-place.ts";
import { EnvtestError } from "./errors.ts";
import { type FlagValues, listOf } from "./flags.ts";
import { EXTRA_ROOTS, OTHER_PLUGINS } from "./tables.ts";
import { readTokenFile } from "./token-file.ts";

/** The range that envtest has always used. */
const SERVICE_RANGE = "10.0.0.0/24";

/** Where the API server is started, and who hears of what. */
export interface Surroundings {
  readonly address: Address;
  /** The port of that address: others may know it already. */
  readonly openPort: OpenPort;
  /** Where the data is; somebody is asking already. */
  readonly place: Promise<DataPlace>;
  /** Hears of what has no effect. */
  readonly warn: (text: string) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Starts the API server that the flags describe. */
export async function startApiServer(flags: FlagValues, surroundings: Surroundings): Promise<Cluster> {
  const { address, openPort, warn, env = {} } = surroundings;
  const { host } = address;
  // Files are read without a thread of their own: a start has nothing else to do meanwhile.
  const clientCa = optionalFile(flags.last("client-ca-file"), "--client-ca-file");
  const webhookCa = extraRoots(env[EXTRA_ROOTS], warn);
  const advertiseAddress = flags.last("advertise-address");
  const certificate = servingCertificate(flags, host);
  const place = await surroundings.place;
  const options: ClusterOptions = {
    ...address,
    openPort,
    data: place.folder,
    sync: place.sync,
    name: "kubernetes",
    rbac: wantsRoles(flags, warn),
    // envtest runs without a kube-controller-manager, and its tests rely on that.
    controllers: false,
    certificate,
    ...(clientCa !== undefined && { clientCa }),
    ...(webhookCa !== undefined && { webhookCa }),
    ...(advertiseAddress !== undefined && { advertiseAddress }),
    serviceRange: firstOf(flags, "service-cluster-ip-range", warn) ?? SERVICE_RANGE,
    serviceAccounts: accountsOf(flags, warn),
    tokens: tokensOf(flags),
    admission: admissionOf(flags, warn),
    flags: flags.given,
  };
  return Cluster.start(options);
}

/** The certificate in files, or a new one in `--cert-dir`, as the real program makes it. */
function servingCertificate(flags: FlagValues, host: string): ServingCertificate {
  const folder = flags.last("cert-dir") ?? "/var/run/kubernetes";
  const cert = flags.last("tls-cert-file");
  const key = flags.last("tls-private-key-file");
  if (cert !== undefined || key !== undefined) {
    if (cert === undefined || key === undefined) {
      throw new EnvtestError("--tls-cert-file and --tls-private-key-file need each other", "give both");
    }
    return { cert: file(cert, "--tls-cert-file"), key: file(key, "--tls-private-key-file") };
  }
  const paths = { cert: join(folder, "apiserver.crt"), key: join(folder, "apiserver.key") };
  try {
    return { cert: readFileSync(paths.cert, "utf8"), key: readFileSync(paths.key, "utf8") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const authority = new CertificateAuthority(`${hostname()}-ca`, Date.now());
  const hosts = [...new Set([host, "127.0.0.1", "localhost", "kubernetes.default.svc"])];
  const made = authority.issue({ commonName: hostname().slice(0, 64), hosts, usage: "server" });
  mkdirSync(folder, { recursive: true });
  writeFileSync(paths.cert, `${made.certPem}${authority.certPem}`, { mode: 0o644 });
  writeFileSync(paths.key, made.keyPem, { mode: 0o600 });
  return { cert: `${made.certPem}${authority.certPem}`, key: made.keyPem, ca: authority.certPem };
}

function accountsOf(flags: FlagValues, warn: (text: string) => void): ServiceAccountOptions {
  const issuer = firstOf(flags, "service-account-issuer", warn);
  const signingKey = optionalFile(flags.last("service-account-signing-key-file"), "--service-account-signing-key-file");
  const keys = flags.all("service-account-key-file").map((path) => file(path, "--service-account-key-file"));
  return {
    ...(issuer !== undefined && { issuer }),
    ...(signingKey !== undefined && { signingKey }),
    keys,
  };
}

function tokensOf(flags: FlagValues): Record<string, TokenUser> {
  const text = optionalFile(flags.last("token-auth-file"), "--token-auth-file");
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
function extraRoots(path: string | undefined, warn: (text: string) => void): string | undefined {
  if (path === undefined || path === "") return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    warn(`without effect here: NODE_EXTRA_CA_CERTS, which cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}

function file(path: string, flag: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new EnvtestError(`${flag} cannot be read: ${(error as Error).message}`, "look for a slip in the path");
  }
}

function optionalFile(path: string | undefined, flag: string): string | undefined {
  return path === undefined || path === "" ? undefined : file(path, flag);
}
