import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../meta/index.ts";
import { ConfigError } from "../meta/index.ts";
import type { Access } from "./contract.ts";
import { PartsCredentials } from "./credentials.ts";
import { RenewedFile } from "./files.ts";

/** Where the kubelet mounts a service account's token, namespace and certificate authority. */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The access that a pod has by its service account, or `undefined` outside of a pod. */
export async function openInCluster(o: {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  serviceAccount?: string | undefined;
  namespace?: string | undefined;
  context?: string | undefined;
  url?: string | undefined;
}): Promise<Access | undefined> {
  // Every container has this variable; without it the folder may be one that was mounted for another purpose.
  if (o.serviceAccount === undefined && !o.env.KUBERNETES_SERVICE_HOST) return undefined;
  const folder = o.serviceAccount ?? SERVICE_ACCOUNT_FOLDER;
  const token = new RenewedFile(join(folder, "token"), "service account token", o.clock);
  try {
    await token.read();
  } catch (cause) {
    if (o.serviceAccount === undefined) return undefined;
    throw new ConfigError(`${folder} holds no service account token`, {
      cause,
      hint: "check serviceAccount; the folder should have the files token, ca.crt and namespace",
    });
  }
  const ca = new RenewedFile(join(folder, "ca.crt"), "service account CA", o.clock);
  const hasCa = await ca.read().then(
    () => true,
    () => false,
  );
  const own = await readFile(join(folder, "namespace"), "utf8").catch(() => "");
  return {
    server: o.url ?? serverOf(o.env),
    context: o.context,
    namespace: o.namespace || own.trim() || "default",
    source: "in-cluster",
    credentials: new PartsCredentials({ token, ca: hasCa ? ca : undefined, rejectUnauthorized: true }),
    headers: {},
  };
}

function serverOf(env: Readonly<Record<string, string | undefined>>): string {
  const host = env.KUBERNETES_SERVICE_HOST || "kubernetes.default.svc";
  const port = env.KUBERNETES_SERVICE_PORT_HTTPS || env.KUBERNETES_SERVICE_PORT || "443";
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
