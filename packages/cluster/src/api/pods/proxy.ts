/** `…/pods/NAME/proxy/…` and `…/services/NAME/proxy/…`: HTTP to the programs in pods by way of the API server. */
import { matchesLabels } from "@lotse/client/meta";
import {
  type ApiObject,
  badRequest,
  fromStore,
  listAt,
  notFound,
  objectAt,
  readSelector,
  StatusError,
  storeKey,
} from "../../registry/index.ts";
import type { ApiRequest, ApiResponse, Headers, StreamSink } from "../exchange.ts";
import type { ResourceCall } from "../resources/resource-call.ts";
import { askPod, handedOn, type PodAnswer } from "./pod-http.ts";
import { nodeOf } from "./pod-streams.ts";

/** What a proxied request is for. */
interface Place {
  readonly pod: ApiObject;
  readonly port: number;
}

/** `/api/v1/namespaces/NS/RESOURCE/NAME/proxy` has so many parts, the empty one before the first slash included. */
const PARTS_BEFORE = 8;

/** Headers that are for the API server, and not for the pod or node behind it. */
const FOR_THE_SERVER = /^(authorization|expect|host|content-length|impersonate-.*)$/;

/** Passes a request on to a pod, a service or a node, and its answer back. */
export async function handleProxy(call: ResourceCall): Promise<ApiResponse> {
  const { request, target } = call;
  const { scheme, name, port } = splitId(target.name as string, target.endpoint.resource.singular);
  const place =
    target.endpoint.resource.plural === "pods" ? podPlace(call, name, port) : servicePlace(call, name, port);
  const parts = request.path.split("/");
  const prefix = parts.slice(0, PARTS_BEFORE).join("/");
  const rest = parts.slice(PARTS_BEFORE);
  const query = request.query.size === 0 ? "" : `?${request.query}`;
  // Relative links of a page need a folder to start from.
  if (rest.length === 0 && (request.method === "GET" || request.method === "HEAD")) {
    return { type: "whole", status: 301, headers: { location: `${prefix}/${query}` }, body: "" };
  }
  if (scheme === "https") throw unreachable("this cluster does not speak TLS with pods");
  const path = `/${rest.join("/")}`;
  const body = await request.body();
  const address = `${objectAt(place.pod, "status").podIP}:${place.port}`;
  try {
    const connection = await nodeOf(call, place.pod).connect(place.pod, place.port);
    try {
      const answer = await askPod(connection, {
        method: request.method,
        target: `${path}${query}`,
        headers: { ...requestHeaders(request), "x-forwarded-uri": `${prefix}${path}` },
        body,
      });
      const headers = withOwnLocation(answer.headers, prefix, [address, request.host]);
      const start = (sink: StreamSink) => copy(answer, sink, () => connection.close());
      return { type: "stream", status: answer.status, headers, start };
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw unreachable(error instanceof Error ? error.message : String(error));
  }
}

/** `name`, `name:port` or `scheme:name:port`. */
function splitId(id: string, what: string): { scheme: string; name: string; port: string } {
  const parts = id.split(":");
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  const valid = parts.length <= 3 && name !== "" && ["", "http", "https"].includes(scheme);
  if (!valid) throw badRequest(`invalid ${what} request ${JSON.stringify(id)}`);
  return { scheme, name, port };
}

function find({ backend, target }: ResourceCall, plural: "pods" | "services", name: string): ApiObject {
  const entry = backend.store.get(plural, storeKey(target.namespace, name));
  if (!entry) throw notFound({ group: "", plural }, name);
  return fromStore(entry.object);
}

function podPlace(call: ResourceCall, name: string, port: string): Place {
  const pod = find(call, "pods", name);
  if (!objectAt(pod, "status").podIP) throw badRequest("address not allowed");
  const declared = listAt(pod, "spec", "containers").flatMap((container) => listAt(container, "ports"));
  if (port === "") return { pod, port: Number(declared[0]?.containerPort ?? 80) };
  if (!/^\d+$/.test(port)) throw unreachable(`address ${port}: unknown port`);
  return { pod, port: Number(port) };
}

/** A ready pod behind the service, and the port in it that one of the service's ports leads to. */
function servicePlace(call: ResourceCall, name: string, asked: string): Place {
  const service = find(call, "services", name);
  const ports = listAt(service, "spec", "ports");
  const isNumber = /^\d+$/.test(asked);
  const port = ports.find((one) => (isNumber ? one.port === Number(asked) : (one.name ?? "") === asked));
  if (!port && isNumber) {
    throw unavailable(`no service port ${asked} found for service ${JSON.stringify(name)}`);
  }
  const ready = readyPods(call, service);
  if (ready.length === 0) throw noEndpoints(name);
  const wanted = port?.targetPort ?? port?.port;
  const places = ready.flatMap((pod): Place[] => {
    const number = typeof wanted === "string" ? containerPort(pod, wanted) : wanted;
    return typeof number === "number" ? [{ pod, port: number }] : [];
  });
  const place = places[Math.floor(call.backend.random() * places.length)];
  if (!place) throw noEndpoints(call.target.name as string);
  return place;
}

const noEndpoints = (id: string): StatusError =>
  unavailable(`no endpoints available for service ${JSON.stringify(id)}`);

function containerPort(pod: ApiObject, name: string): number | undefined {
  const declared = listAt(pod, "spec", "containers").flatMap((container) => listAt(container, "ports"));
  const port = declared.find((one) => one.name === name)?.containerPort;
  return typeof port === "number" ? port : undefined;
}

/** By the selector; a service without one has the pods that its EndpointSlices name. */
function readyPods({ backend, target }: ResourceCall, service: ApiObject): ApiObject[] {
  const { selector } = objectAt(service, "spec");
  const inNamespace = (table: string) =>
    backend.store.list(table, `${target.namespace}/`).map((entry) => fromStore(entry.object));
  const wanted = readSelector({ matchLabels: selector ?? {} });
  const chosen =
    selector === undefined
      ? namedBy(inNamespace("endpointslices.discovery.k8s.io"), service.metadata.name)
      : (pod: ApiObject) => wanted !== undefined && matchesLabels(wanted, pod.metadata.labels);
  return inNamespace("pods").filter((pod) => isReady(pod) && chosen(pod));
}

function namedBy(slices: readonly ApiObject[], service: string): (pod: ApiObject) => boolean {
  const own = slices.filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service);
  const names = new Set(
    own.flatMap((slice) => listAt(slice, "endpoints")).map((one) => objectAt(one, "targetRef").name),
  );
  return (pod) => names.has(pod.metadata.name);
}

function isReady(pod: ApiObject): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  return listAt(pod, "status", "conditions").some(({ type, status }) => type === "Ready" && status === "True");
}

function requestHeaders({ headers, host }: ApiRequest): Record<string, string> {
  const own = handedOn(headers, headers.connection ?? "").filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !FOR_THE_SERVER.test(entry[0]),
  );
  return { host, ...Object.fromEntries(own) };
}

/** A redirect to the program's own host leads back through the proxy. */
function withOwnLocation(headers: Headers, prefix: string, hosts: readonly string[]): Headers {
  const { location } = headers;
  if (typeof location !== "string") return headers;
  const [, host, path = ""] = /^(?:https?:\/\/([^/?#]*))?(\/.*)?$/.exec(location) ?? [];
  const elsewhere = (host !== undefined && !hosts.includes(host)) || path === "" || path.startsWith(prefix);
  return elsewhere ? headers : { ...headers, location: `${prefix}${path}` };
}

/** Hands the answer on; a program that breaks off breaks off the answer, too. */
function copy({ body }: PodAnswer, sink: StreamSink, close: () => void): () => void {
  let over = false;
  const stop = () => {
    over = true;
    close();
  };
  const run = async () => {
    try {
      for await (const chunk of body) {
        if (over) return;
        sink.write(chunk);
        await sink.drained?.();
      }
      sink.end();
    } catch {
      sink.reset();
    } finally {
      close();
    }
  };
  void run();
  return stop;
}

function unavailable(message: string): StatusError {
  return new StatusError({ code: 503, reason: "ServiceUnavailable", message });
}

const unreachable = (why: string): StatusError => unavailable(`error trying to reach service: ${why}`);
