import { request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Cluster } from "./cluster.ts";

/** A stranger who knows where a cluster listens, and nothing else unless told. */
export interface Visit {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  /** A client certificate. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** What the visitor gets to see; 101 means that the connection is theirs now. */
export interface Reception {
  readonly status: number;
  /** The message of a Status, else the whole body. */
  readonly told: string;
}

/** Sends one request without any credentials of its own. */
export function visit(cluster: Cluster, path: string, options: Visit = {}): Promise<Reception> {
  const { method = "GET", headers = {}, body, cert, key } = options;
  const secure = cluster.caPem !== "";
  const send = secure ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send({
      host: "127.0.0.1",
      port: cluster.port,
      agent: false,
      method,
      path,
      headers,
      // The certificate is that of the cluster, whatever name the visitor calls it by.
      ...(secure ? { ca: cluster.caPem, cert, key, servername: "localhost" } : {}),
    });
    request.on("error", reject);
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, told: "" });
    });
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, told: messageOf(text) }));
    });
    request.end(body);
  });
}

/** The headers that open a WebSocket. */
export const WEBSOCKET: OutgoingHttpHeaders = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  "sec-websocket-protocol": "v5.channel.k8s.io",
};

function messageOf(text: string): string {
  try {
    const { kind, message } = JSON.parse(text);
    return kind === "Status" ? message : text;
  } catch {
    return text;
  }
}
