/** From the flags about webhooks to what an operator is started with. */
import { statSync } from "node:fs";
import path from "node:path";
import { isDns1123Label } from "@lotse/client/meta";
import type { WebhookOptions } from "../../declare/index.ts";
import { type Io, Problem } from "../terminal/index.ts";

/** The flags. */
export interface WebhookFlags {
  /** Where the API server reaches this process. */
  readonly webhookUrl?: string | undefined;
  /** `[NAMESPACE/]NAME[:PORT]` */
  readonly webhookService?: string | undefined;
  readonly webhookHost?: string | undefined;
  readonly webhookPort?: number | undefined;
  /** `own`, `cert-manager`, or a folder. */
  readonly certificates?: string | undefined;
  /** False: webhooks and policies come as manifests. */
  readonly register?: boolean | undefined;
}

type Certificates = Exclude<WebhookOptions["certificates"], undefined>;

/** What the flags say; a {@link Problem} for those that no API server could go by. */
export function webhooksOf(flags: WebhookFlags, io: Pick<Io, "cwd">): WebhookOptions {
  const { webhookUrl, webhookService, webhookHost, webhookPort, certificates, register } = flags;
  if (webhookUrl !== undefined && webhookService !== undefined) {
    throw wrong(
      "--webhook-url and --webhook-service exclude each other",
      "the API server asks at one place: a Service in the cluster, or a URL outside of it",
      "leave one of them out",
    );
  }
  return {
    ...(webhookUrl !== undefined && { url: urlOf(webhookUrl) }),
    ...(webhookService !== undefined && { service: serviceOf(webhookService) }),
    ...(webhookHost !== undefined && { host: hostOf(webhookHost) }),
    ...(webhookPort !== undefined && { port: webhookPort }),
    ...(certificates !== undefined && { certificates: certificatesOf(certificates, io) }),
    // Without the flag, it is as the operator itself says.
    ...(register === false && { register }),
  };
}

function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const why = !url
    ? "it is not a URL"
    : url.protocol !== "https:"
      ? "webhooks are asked by https alone"
      : url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== ""
        ? "it has a user, a query or a fragment"
        : undefined;
  if (why === undefined) return text;
  const todo = "write it like https://192.168.1.10:9443, with a name or address that the cluster can reach";
  throw wrong(`--webhook-url ${text} is no address that an API server calls`, why, todo);
}

function serviceOf(text: string): Exclude<WebhookOptions["service"], string | undefined> {
  const [, namespace, name = "", port] = /^(?:([^/:]+)\/)?([^/:]+)(?::(\d+))?$/.exec(text) ?? [];
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  if (isDns1123Label(name) && (namespace === undefined || isDns1123Label(namespace)) && isPort) {
    return { name, ...(namespace !== undefined && { namespace }), ...(port !== undefined && { port: Number(port) }) };
  }
  throw wrong(
    `--webhook-service ${text} is no Service`,
    "names are of small letters, digits and dashes, and ports from 1 to 65535",
    "write [NAMESPACE/]NAME[:PORT], for instance rates/exchange-rates-webhooks:443",
  );
}

function hostOf(text: string): string {
  if (/^(?:[\w.-]+|[0-9A-Fa-f:.]*::?[0-9A-Fa-f:.]*)$/.test(text) && !/^[\w.-]+:\d+$/.test(text)) return text;
  throw wrong(
    `--webhook-host ${text} is no address to listen on`,
    "it is one address of this machine, without https:// and without a port",
    "write it like 127.0.0.1, and the port with --webhook-port",
  );
}

function certificatesOf(text: string, { cwd }: Pick<Io, "cwd">): Certificates {
  if (text === "own" || text === "cert-manager") return text;
  const dir = path.resolve(cwd, text);
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return { dir };
  throw wrong(
    `--certificates ${text} names no folder`,
    "it is own, cert-manager, or a folder with tls.crt, tls.key and ca.crt",
    "correct the name, or leave the flag out: then the operator makes its certificates itself",
  );
}

function wrong(what: string, why: string, todo: string): Problem {
  return new Problem({ what, why, todo }, { exitCode: 2 });
}
