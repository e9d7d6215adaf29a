/** One small request to an identity provider, through the environment's proxy where there is one. */
import { Buffer } from "node:buffer";
import * as http from "node:http";
import * as https from "node:https";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { openTunnel, proxyOf } from "./proxy.ts";

/** What came back; `json` is undefined when it was none. */
export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

interface Question {
  /** Sent as a form; without it the request is a GET. */
  readonly form?: Record<string, string> | undefined;
  readonly authorization?: string | undefined;
  readonly ca?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PATIENCE_MS = 30_000;
/** Far more than any configuration or token has. */
const LONGEST_ANSWER = 1_000_000;

/** One request to an identity provider, through the proxies of the environment. */
export async function ask(address: string, { form, authorization, ca, env }: Question): Promise<Answer> {
  const url = new URL(address);
  const secure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port || (secure ? 443 : 80));
  const proxy = await proxyOf(address, env);
  const tunnel = proxy === undefined ? undefined : await openTunnel(proxy, { host, port });
  const trust = ca === undefined ? {} : { ca };
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request({
      host,
      port,
      path: `${url.pathname}${url.search}`,
      method: body === undefined ? "GET" : "POST",
      headers: {
        accept: "application/json",
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined
          ? {}
          : { "content-type": "application/x-www-form-urlencoded", "content-length": Buffer.byteLength(body) }),
      },
      timeout: PATIENCE_MS,
      ...trust,
      // Only without an agent the connection may be brought along.
      ...(tunnel
        ? {
            createConnection: () =>
              secure ? connect({ socket: tunnel, host, servername: isIP(host) ? "" : host, ...trust }) : tunnel,
          }
        : { agent: false }),
    });
    request.on("timeout", () => request.destroy(new Error("it does not answer")));
    request.on("error", reject);
    request.once("response", (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > LONGEST_ANSWER) response.destroy(new Error("its answer is too long"));
      });
      response.once("end", () => {
        resolve({ status: response.statusCode ?? 0, json: parse(Buffer.concat(chunks).toString("utf8")) });
      });
    });
    request.end(body);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
