import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Cluster } from "./cluster.ts";

/** What a real client sees of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly warnings: string[];
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** What a request sends besides its path. */
export interface CallOptions {
  readonly type?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** The media type of a JSON merge patch. */
export const MERGE = "application/merge-patch+json";
/** The media type of a JSON patch. */
export const JSON_PATCH = "application/json-patch+json";
/** The media type of a strategic merge patch. */
export const STRATEGIC = "application/strategic-merge-patch+json";
/** The media type of a server-side apply. */
export const APPLY = "application/apply-patch+yaml";
/** What `kubectl get` accepts. */
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** Sends one request through the network, as any client would. */
export function call(cluster: Cluster, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = open(cluster, method, path, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          warnings: response.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === "warning"),
          text,
          body: parse(text),
        });
      });
    });
    request.on("error", reject);
  });
}

function open(
  cluster: Cluster,
  method: string,
  path: string,
  { type, body, headers }: CallOptions,
  onResponse: Parameters<typeof httpRequest>[2],
) {
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const send = cluster.caPem === "" ? httpRequest : httpsRequest;
  const options = {
    host: "127.0.0.1",
    port: cluster.port,
    method,
    path,
    ...(cluster.caPem === "" ? {} : { ca: cluster.caPem }),
    headers: {
      authorization: `Bearer ${cluster.token}`,
      accept: "application/json",
      "user-agent": "suite/1.0",
      ...(text === undefined
        ? {}
        : { "content-type": type ?? "application/json", "content-length": String(Buffer.byteLength(text)) }),
      ...headers,
    },
  };
  const request = send(options, onResponse);
  request.end(text);
  return request;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A watch that is being read. */
export interface TestWatch {
  /** The next event; rejects when the stream ends without one. */
  // biome-ignore lint/suspicious/noExplicitAny: events carry objects of every kind
  next(): Promise<any>;
  /** Resolves when the server has ended the stream cleanly. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a watch and resolves when the server has accepted it. */
export function openWatch(cluster: Cluster, path: string, headers: Record<string, string> = {}): Promise<TestWatch> {
  return new Promise((resolve, reject) => {
    const request = open(cluster, "GET", path, { headers }, (response) => {
      const events: unknown[] = [];
      const readers: { resolve: (event: unknown) => void; reject: (error: Error) => void }[] = [];
      let buffered = "";
      let over = false;
      const ended = new Promise<void>((done) => {
        response.on("end", () => {
          over = true;
          for (const reader of readers) reader.reject(new Error("the watch ended"));
          done();
        });
      });
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        buffered += chunk;
        for (let end = buffered.indexOf("\n"); end >= 0; end = buffered.indexOf("\n")) {
          const event = JSON.parse(buffered.slice(0, end));
          buffered = buffered.slice(end + 1);
          const reader = readers.shift();
          if (reader) reader.resolve(event);
          else events.push(event);
        }
      });
      resolve({
        next: () =>
          new Promise((onEvent, onEnd) => {
            if (events.length > 0) onEvent(events.shift());
            else if (over) onEnd(new Error("the watch ended"));
            else readers.push({ resolve: onEvent, reject: onEnd });
          }),
        ended,
        close: () => request.destroy(),
      });
    });
    request.on("error", reject);
  });
}

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A definition of `widgets.example.com`; its parts can be replaced. */
export function widgetDefinition(spec: Record<string, unknown> = {}, version: Record<string, unknown> = {}): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  properties: {
                    size: { type: "integer", minimum: 1 },
                    mode: { type: "string", enum: ["A", "B"], default: "A" },
                    replicas: { type: "integer" },
                  },
                },
                status: { type: "object", properties: { phase: { type: "string" }, replicas: { type: "integer" } } },
              },
            },
          },
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          ...version,
        },
      ],
      ...spec,
    },
  };
}

/** Creates a CustomResourceDefinition. */
export async function define(cluster: Cluster, definition: object): Promise<Answer> {
  return call(cluster, "POST", CRDS, { body: definition });
}

/** An object of the custom kind that many tests define. */
export const widget = (name: string, spec: unknown = { size: 1 }, metadata: Record<string, unknown> = {}): object => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});

/** Where widgets of the default namespace are. */
export const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
/** Where ConfigMaps of the default namespace are. */
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** Where CustomResourceDefinitions are. */
export const DEFINITIONS: string = CRDS;
