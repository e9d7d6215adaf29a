/** Connections through an HTTP proxy, by CONNECT: the proxy sees who is called, and never what is said. */
import { Buffer } from "node:buffer";
import * as http from "node:http";
import * as https from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { PROXY_PATIENCE_MS, ProxyError } from "./proxy-error.ts";

interface Target {
  readonly host: string;
  readonly port: number;
}

/** Asks the proxy for a tunnel. One with a certificate of its own may have it of the cluster's authority `ca`. */
export async function openHttpTunnel(proxy: URL, target: Target, ca?: string | Buffer): Promise<Duplex> {
  try {
    return await ask(proxy, target);
  } catch (error) {
    // First as Node.js trusts it by itself, because naming an authority would leave NODE_EXTRA_CA_CERTS out.
    const { cause } = error as { cause?: { code?: string } };
    if (ca === undefined || !/CERT|SELF_SIGNED|UNABLE_TO/.test(cause?.code ?? "")) throw error;
    return ask(proxy, target, ca);
  }
}

function ask(proxy: URL, { host, port }: Target, ca?: string | Buffer): Promise<Duplex> {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
  const secure = proxy.protocol === "https:";
  const proxyHost = proxy.hostname.replace(/^\[(.*)\]$/, "$1");
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request({
      host: proxyHost,
      // Else Node takes the host header's name, and would check the proxy's certificate against the target.
      servername: isIP(proxyHost) ? "" : proxyHost,
      port: proxy.port || (secure ? 443 : 80),
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...(proxy.username ? { "proxy-authorization": authorization } : {}) },
      agent: false,
      ...(ca === undefined ? {} : { ca }),
      timeout: PROXY_PATIENCE_MS,
    });
    const giveUp = () => request.destroy(new Error("it does not answer"));
    request.once("timeout", giveUp);
    request.once("connect", ({ statusCode = 0, statusMessage = "" }, socket) => {
      request.off("timeout", giveUp);
      // What goes through the tunnel may be quiet as long as it likes.
      if (statusCode === 200) return resolve(socket.setTimeout(0));
      socket.destroy();
      const refused = statusCode === 401 || statusCode === 403 || statusCode === 407;
      reject(new ProxyError(`the proxy ${proxy.host} answered ${statusCode} ${statusMessage}`.trim(), { refused }));
    });
    // A proxy that takes CONNECT for any other request answers it.
    request.once("response", (response) => {
      response.destroy();
      reject(new ProxyError(`the proxy ${proxy.host} answered ${response.statusCode} and opened no tunnel`));
    });
    request.on("error", (cause) => {
      reject(new ProxyError(`the proxy ${proxy.host} failed: ${cause.message}`, { cause }));
    });
    request.end();
  });
}
