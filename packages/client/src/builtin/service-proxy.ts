/** HTTP to the pods behind a service by way of the API server. */
import { Readable } from "node:stream";
import { type corev1, pathOf } from "../kinds/index.ts";
import { ConfigError, isObject } from "../meta/index.ts";
import { apiErrorFrom, isStatus, parseAnswer, type RawResponse, type RequestOptions } from "../transport/index.ts";
import type { PodGroup } from "./pod-group.ts";

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
  /**
   * Like the global `fetch`: every answer of the service is a `Response`, also 404 and 500. Redirects are not followed.
   * An ApiError when the API server itself refuses, such as when no pod is ready behind the service.
   */
  fetch(path: string, init?: ProxyInit): Promise<Response>;
}

/** One request to a port of the service, by way of the API server's proxy. */
export async function fetchThroughService(
  service: PodGroup<corev1.Service>,
  path: string,
  init: ProxyInit = {},
): Promise<Response> {
  const client = await service.connected();
  if (service.body.spec === undefined) await service.refresh();
  const { scheme, headers, method = "GET", port = onlyPort(service), ...request } = init;
  const collection = pathOf(service.description, { namespace: service.namespace ?? client.namespace });
  const name = `${scheme === "https" ? "https:" : ""}${service.name}:${port}`;
  const about = { method, path: `${collection}/${name}/proxy/${path.replace(/^\/+/, "")}` };
  const response = await client.raw({
    ...request,
    ...about,
    headers: { accept: "*/*", ...headers },
    stream: true,
    anyStatus: true,
  });
  if (response.status < 400 || !isJson(response)) return responseOf(response, () => Readable.toWeb(response.body));
  const text = Buffer.from(await response.text());
  const said = parseAnswer(text);
  if (isOwn(said)) throw apiErrorFrom(response.status, said, about);
  return responseOf(response, () => text);
}

function onlyPort(service: PodGroup<corev1.Service>): number | string {
  const ports = service.spec.ports ?? [];
  const [only] = ports;
  if (only && ports.length === 1) return only.name ?? only.port;
  throw new ConfigError(`Service ${service.name} has ${ports.length} ports: which one?`, {
    hint: `pass port: ${ports.map(({ name, port }) => name ?? port).join(" or ") || "…"}`,
  });
}

const isJson = ({ headers }: RawResponse): boolean => /^application\/json\b/.test(headers["content-type"] ?? "");

/** What the API server says of itself: about the service or its endpoints, or that it reached no pod. */
function isOwn(said: unknown): boolean {
  if (!isStatus(said)) return false;
  const kind = isObject(said.details) ? said.details.kind : undefined;
  return kind === "services" || kind === "endpoints" || said.reason === "ServiceUnavailable";
}

function responseOf({ status, headers, body }: RawResponse, content: () => unknown): Response {
  const list = Object.entries(headers).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value ?? ""]).map((one): [string, string] => [key, one]),
  );
  // These have no body by definition, and a Response refuses one.
  const empty = status === 204 || status === 205 || status === 304;
  if (empty) body.destroy();
  return new Response(empty ? null : (content() as ReadableStream<Uint8Array>), { status, headers: list });
}
