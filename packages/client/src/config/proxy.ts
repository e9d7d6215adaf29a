/** Which proxy is there between us and a server, and can we use it? How to get through it is loaded when needed. */
import type { Duplex } from "node:stream";
import { ConfigError } from "../meta/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];
const SCHEMES = ["http:", "https:", "socks5:", "socks5h:"];

/** The proxy that the environment asks for, if any. */
export async function proxyOf(server: string, env: Environment): Promise<string | undefined> {
  // An address that is none is told by the code that tries to call it.
  if (!PROXY_VARIABLES.some((name) => env[name]) || !URL.canParse(server)) return undefined;
  // Loaded when needed: few machines have one.
  const { proxyFromEnv } = await import("./proxy-env.ts");
  const proxyUrl = proxyFromEnv(server, env);
  return proxyUrl === undefined ? undefined : checkProxy(proxyUrl, "the environment");
}

/** The address as it is, if it is of a kind that the client can use. `origin` is where it was found. */
export function checkProxy(url: string, origin: string): string {
  if (URL.canParse(url)) {
    const { protocol, hostname } = new URL(url);
    if (SCHEMES.includes(protocol) && hostname !== "") return url;
  }
  // It may hold a password.
  const shown = url.replace(/\/\/[^/@]*@/, "//");
  throw new ConfigError(`the proxy "${shown}" of ${origin} is not of a kind that this client can use`, {
    hint: "write http://, https:// or socks5://, and the host with its port",
  });
}

/** A connection to `target` through the proxy at `proxyUrl`; whatever is sent on it arrives there. `ca` may vouch for it. */
export async function openTunnel(
  proxyUrl: string,
  target: { readonly host: string; readonly port: number },
  ca?: string | Buffer,
): Promise<Duplex> {
  const proxy = new URL(proxyUrl);
  if (proxy.protocol.startsWith("socks")) return (await import("./socks.ts")).openSocksTunnel(proxy, target);
  return (await import("./tunnel.ts")).openHttpTunnel(proxy, target, ca);
}
