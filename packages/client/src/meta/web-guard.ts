/**
 * Tells requests that a web page in a person's browser sent from those of programs. A server on this machine is within
 * reach of every page that its user opens, and speaks for that user: a page may point a host name of its own at this
 * machine (DNS rebinding), send what needs no permission of the server (a form, a POST without a type), or open a
 * WebSocket, which browsers let any page do. Browsers say in headers that no page can change where a request comes from.
 */

/** The headers that tell; names in lower case. */
export interface WebHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly "sec-fetch-site"?: string | undefined;
}

/**
 * Whether a Host header names something that could belong to any site: neither an address, nor this machine, nor one of
 * `names`. An attacker can point a name of theirs here, but not an address, nor `localhost`. A header that is absent was
 * sent by no browser.
 */
export function isForeignHost(header: string | undefined, names: readonly string[] = []): boolean {
  if (header === undefined) return false;
  const address = /^\[[\d.:a-f%]+\](?::\d+)?$/i.test(header);
  if (address) return false;
  const [, spelled = ""] = /^([^:]*)(?::\d+)?$/.exec(header.toLowerCase()) ?? [];
  const name = spelled.endsWith(".") ? spelled.slice(0, -1) : spelled;
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)) return false;
  if (name === "localhost" || name.endsWith(".localhost")) return false;
  return name === "" || !names.some((known) => known.toLowerCase() === name);
}

/**
 * Where a request comes from when that is a web page of another origin; undefined for programs, for addresses that
 * a person typed, and for pages of this very server.
 */
export function foreignOrigin({ host, origin, "sec-fetch-site": site }: WebHeaders): string | undefined {
  switch (site?.trim().toLowerCase()) {
    case "cross-site":
    case "same-site":
      return origin ?? "another site";
    case "same-origin":
    case "none":
      // The browser itself has compared; what it compared may be the address of a proxy on the way here.
      return undefined;
    default:
      return origin === undefined || isOwnOrigin(origin, host) ? undefined : origin;
  }
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ":80", ws: ":80", https: ":443", wss: ":443" };

/** Some programs send an Origin, too: the address that they call. The scheme does not matter, a port speaks only one. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const [, scheme = "", place] = /^(https?|wss?):\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? [];
  if (place === undefined || host === undefined) return false;
  const port = DEFAULT_PORTS[scheme] as string;
  const bare = (text: string) => (text.endsWith(port) ? text.slice(0, -port.length) : text);
  return bare(place) === bare(host.toLowerCase());
}
