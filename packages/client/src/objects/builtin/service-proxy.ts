/** HTTP to the pods behind a service by way of the API server. */
import { Readable } from "node:stream";
import { pathOf } from "../../kinds/index.ts";
import { ConfigError } from "../../meta/index.ts";
import { ApiError, type RawResponse, type RequestOptions } from "../../transport/index.ts";
import { Service } from "./service.ts";

/** A request to a service. */
export interface ProxyInit extends RequestOptions {
  /** Default `GET`. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text and bytes go as they are, anything else as JSON. */
  readonly body?: unknown;
  /** By number or name. Default: the only one. */
  readonly port?: number | string | undefined;
  /** How the API server talks to the pod. Default `http`. */
  readonly scheme?: "http" | "https" | undefined;
}

/** HTTP through the API server. */
export interface ServiceProxy {
  /** Like the global `fetch`: every answer of the service is a `Response`, also 404. */
  fetch(path: string, init?: ProxyInit): Promise<Response>;
}

export async function fetchThroughService(service: Service, path: string, init: ProxyInit = {}): Promise<Response> {
  const client = await service.connected();
  if (service.body.spec === undefined) await service.refresh();
  const { scheme, headers, method = "GET", port = onlyPort(service), ...request } = init;
  const [pathname = "", query = ""] = splitOnce(path.replace(/^\/+/, ""), "?");
  const collection = pathOf(Service.description, { namespace: service.namespace ?? client.namespace });
  const name = `${scheme === "https" ? "https:" : ""}${service.name}:${port}`;
  try {
    const response = await client.raw({
      ...request,
      method,
      path: `${collection}/${name}/proxy/${pathname}${query === "" ? "" : `?${query}`}`,
      ...(headers && { headers }),
      stream: true,
    });
    return responseOf(response);
  } catch (error) {
    if (error instanceof ApiError && !isOurs(error)) return new Response(error.message, { status: error.status });
    throw error;
  }
}

function onlyPort(service: Service): number | string {
  const ports = service.spec.ports ?? [];
  const [only] = ports;
  if (only && ports.length === 1) return only.name ?? only.port;
  throw new ConfigError(`Service ${service.name} has ${ports.length} ports: which one?`, {
    hint: `pass port: ${ports.map(({ name, port }) => name ?? port).join(" or ") || "…"}`,
  });
}

/** Whether the API server itself refused, and not the service behind it. */
function isOurs({ details, reason, status }: ApiError): boolean {
  return details.kind === "services" || details.name !== undefined || reason === "ServiceUnavailable" || status === 401;
}

function responseOf({ status, headers, body }: RawResponse): Response {
  const list = Object.entries(headers).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value ?? ""]).map((one): [string, string] => [key, one]),
  );
  // These have no body by definition, and a Response refuses one.
  const empty = status === 204 || status === 205 || status === 304;
  if (empty) body.destroy();
  return new Response(empty ? null : (Readable.toWeb(body) as ReadableStream<Uint8Array>), { status, headers: list });
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
