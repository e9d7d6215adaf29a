import * as http from "node:http";
import type { Duplex } from "node:stream";
import type { PodAccess } from "./access.ts";
import type { ConnectOptions } from "./connect.ts";
import { readPort } from "./port-number.ts";

/**
 * An agent whose requests go to a port of a pod, with no port opened here. Host and port of the request only make its
 * `Host` header.
 *
 * @example
 * ```ts
 * http.get({ path: "/healthz", agent: podAgent(pod, 8080) }, (response) => response.pipe(process.stdout));
 * ```
 */
export function podAgent(pod: PodAccess, port: number, o: ConnectOptions = {}): http.Agent {
  readPort(port);
  return new PodAgent(pod, port, o);
}

class PodAgent extends http.Agent {
  readonly #open: () => Promise<Duplex>;

  constructor(pod: PodAccess, port: number, o: ConnectOptions) {
    // Connections are not kept: an idle WebSocket would keep the program alive.
    super({ keepAlive: false });
    this.#open = async () => (await import("./connect.ts")).connect(pod, port, o);
  }

  override createConnection(
    _: http.ClientRequestArgs,
    onConnected: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#open().then(
      (stream) => onConnected(null, stream),
      // Beside an error the stream is not looked at.
      (error) => onConnected(error, undefined as never),
    );
    return undefined;
  }
}
