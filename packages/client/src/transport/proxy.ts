/** Agents whose connections go through a proxy: it sees who is called, and never what is said. */
import * as http from "node:http";
import * as https from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import * as tls from "node:tls";
import { openTunnel } from "../config/index.ts";

/** An agent class whose connections go through the proxy at `proxyUrl`. */
export function agentThrough(proxyUrl: string, secure: boolean, ca?: string | Buffer): typeof http.Agent {
  const Base = (secure ? https.Agent : http.Agent) as typeof http.Agent;
  return class extends Base {
    override createConnection(
      target: http.ClientRequestArgs,
      onConnected: (error: Error | null, stream: Duplex) => void,
    ): undefined {
      const { host, port, servername } = target as { host: string; port: number; servername?: string };
      openTunnel(proxyUrl, { host, port: Number(port) }, ca).then(
        (socket) => {
          // Agents wait for no handshake: a connection that fails later reports to the request that uses it.
          // An address is no name to ask for; the certificate is checked against the host all the same.
          const name = servername || (isIP(host) ? "" : host);
          const options = { ...(target as tls.ConnectionOptions), socket, servername: name };
          onConnected(null, secure ? tls.connect(options) : socket);
        },
        // Beside an error the stream is not looked at.
        (error) => onConnected(error, undefined as never),
      );
      return undefined;
    }
  };
}
