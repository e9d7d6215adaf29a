/** Connections through an HTTP proxy, by CONNECT: the proxy sees who is called, and never what is said. */
import * as http from "node:http";
import * as https from "node:https";
import type { Duplex } from "node:stream";
import * as tls from "node:tls";

/** An agent class whose connections go through the proxy at `proxyUrl`. */
export function agentThrough(proxyUrl: string, secure: boolean): typeof http.Agent {
  const proxy = new URL(proxyUrl);
  const Base = (secure ? https.Agent : http.Agent) as typeof http.Agent;
  return class extends Base {
    override createConnection(
      target: http.ClientRequestArgs,
      onConnected: (error: Error | null, stream: Duplex) => void,
    ): undefined {
      const { host, port, servername } = target as { host: string; port: number; servername?: string };
      openTunnel(proxy, `${bracketed(host)}:${port}`).then(
        (socket) => {
          // Agents wait for no handshake: a connection that fails later reports to the request that uses it.
          const options = { ...(target as tls.ConnectionOptions), socket, servername: servername ?? host };
          onConnected(null, secure ? tls.connect(options) : socket);
        },
        // Beside an error nobody looks at the stream.
        (error) => onConnected(error, undefined as never),
      );
      return undefined;
    }
  };
}

function openTunnel(proxy: URL, authority: string): Promise<Duplex> {
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === "https:" ? https : http).request({
      host: proxy.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...(proxy.username ? { "proxy-authorization": authorization } : {}) },
      agent: false,
    });
    request.once("connect", ({ statusCode, statusMessage = "" }, socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`the proxy ${proxy.host} answered ${statusCode} ${statusMessage}`.trim()));
    });
    request.once("error", (cause) => {
      reject(new Error(`the proxy ${proxy.host} failed: ${cause.message}`, { cause }));
    });
    request.end();
  });
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);
