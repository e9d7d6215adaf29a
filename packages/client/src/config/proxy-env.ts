/** Which proxy does the environment ask for? The same rules as kubectl's: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
import { BlockList, isIP } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

/** The address of the proxy for `server`; undefined when it is to be called directly. */
export function proxyFromEnv(server: string, env: Environment): string | undefined {
  const url = new URL(server);
  const secure = url.protocol === "https:";
  const proxy = secure ? (env.HTTPS_PROXY ?? env.https_proxy) : (env.HTTP_PROXY ?? env.http_proxy);
  if (!proxy) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  const port = url.port || (secure ? "443" : "80");
  // One's own machine is never behind a proxy.
  if (host === "localhost" || isLoopback(host)) return undefined;
  const exempt = (env.NO_PROXY ?? env.no_proxy ?? "").split(",").map((entry) => entry.trim().toLowerCase());
  if (exempt.some((entry) => entry !== "" && exempts(entry, host, port))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** `*`, an address, a range of addresses, a name and all below it, or with a dot or `*.` in front only what is below. */
function exempts(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return inRange(entry, host);
  const [, name = entry, onlyPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const bare = name.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare)) return bare === host;
  const below = bare.replace(/^\*?\./, "");
  return (below === bare && host === bare) || host.endsWith(`.${below}`);
}

function inRange(range: string, host: string): boolean {
  const [network = "", bits = ""] = range.split("/");
  const family = isIP(network);
  if (!family || isIP(host) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}

function isLoopback(host: string): boolean {
  return inRange("127.0.0.0/8", host) || host === "::1";
}
