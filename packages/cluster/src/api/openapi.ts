import type { BuiltinTables, Catalog, Endpoint } from "../registry/index.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { fingerprint } from "./hash.ts";
import { collectComponents, customComponents, type OpenApiSchema } from "./openapi-schemas.ts";

const IMMUTABLE_SECONDS = 31_536_000;

interface Document {
  readonly body: string;
  readonly hash: string;
}

/**
 * OpenAPI v3, one document for each group version. `kubectl` reads these before it writes anything, to see whether the
 * server checks fields itself, and for `explain`.
 */
export class OpenApi {
  readonly #catalog: Catalog;
  readonly #tables: () => BuiltinTables;
  readonly #documents = new Map<string, Document>();
  #generation = -1;

  constructor(catalog: Catalog, tables: () => BuiltinTables) {
    this.#catalog = catalog;
    this.#tables = tables;
  }

  /** The answer for `/openapi/v3` and below; undefined when there is no such document. */
  respond(request: ApiRequest, segments: readonly string[]): ApiResponse | undefined {
    const [, , root, ...rest] = segments;
    if (root === undefined) return this.#index(request);
    if (root === "api" && rest.length === 1) return this.#document(request, "", rest[0] as string);
    if (root === "apis" && rest.length === 2) return this.#document(request, rest[0] as string, rest[1] as string);
    return undefined;
  }

  #index(request: ApiRequest): ApiResponse {
    const paths: Record<string, { serverRelativeURL: string }> = {};
    for (const { group, versions } of this.#catalog.groups()) {
      for (const version of versions) {
        const path = pathOf(group, version);
        paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.#tag(group, version)}` };
      }
    }
    const body = JSON.stringify({ paths });
    const etag = `"${fingerprint(body)}"`;
    const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache, private", etag };
    if (request.headers["if-none-match"] === etag) return { type: "whole", status: 304, headers, body: "" };
    return { type: "whole", status: 200, headers, body };
  }

  #document(request: ApiRequest, group: string, version: string): ApiResponse | undefined {
    if (!this.#catalog.hasVersion(group, version)) return undefined;
    const asked = request.query.get("hash");
    const tag = this.#tag(group, version);
    if (asked !== null && asked !== "" && asked !== tag) {
      const location = `/openapi/v3/${pathOf(group, version)}?hash=${tag}`;
      return { type: "whole", status: 301, headers: { location }, body: "" };
    }
    const { body, hash } = this.#build(group, version);
    const headers = {
      "content-type": "application/json",
      etag: `"${hash}"`,
      vary: "Accept",
      "cache-control": asked ? `public, immutable, max-age=${IMMUTABLE_SECONDS}` : "no-cache, private",
    };
    if (request.headers["if-none-match"] === headers.etag) return { type: "whole", status: 304, headers, body: "" };
    return { type: "whole", status: 200, headers, body };
  }

  /** Changes whenever the document would, without building it: it is asked for by everybody who reads the index. */
  #tag(group: string, version: string): string {
    const parts = this.#catalog
      .inVersion(group, version)
      .map(({ resource, version: own }) => [
        resource.plural,
        resource.kind,
        own.subresources.map((sub) => sub.name),
        resource.custom ? own.codec.schema.schema : "",
      ]);
    return fingerprint(JSON.stringify(parts));
  }

  #build(group: string, version: string): Document {
    if (this.#generation !== this.#catalog.generation) {
      this.#documents.clear();
      this.#generation = this.#catalog.generation;
    }
    const key = pathOf(group, version);
    let document = this.#documents.get(key);
    if (!document) {
      const body = JSON.stringify(this.#content(group, version));
      document = { body, hash: fingerprint(body) };
      this.#documents.set(key, document);
    }
    return document;
  }

  #content(group: string, version: string) {
    const endpoints = this.#catalog.inVersion(group, version);
    const schemas: Record<string, OpenApiSchema> = {};
    const paths: Record<string, unknown> = {};
    const tables = this.#tables();
    for (const endpoint of endpoints) {
      if (endpoint.resource.custom) Object.assign(schemas, customComponents(endpoint, tables));
      else {
        const { kind, listKind } = endpoint.resource;
        const names = [kind, listKind, ...endpoint.version.subresources.map((sub) => sub.kind)];
        for (const name of names) {
          const ref = tables.schemas.refOfKind(group, version, name);
          if (ref !== undefined) collectComponents(ref, tables, schemas);
        }
      }
      Object.assign(paths, pathsOf(endpoint));
    }
    const ordered = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
    return {
      openapi: "3.0.0",
      info: { title: "Kubernetes", version: "v1.36.3" },
      paths,
      components: { schemas: ordered },
    };
  }
}

function pathOf(group: string, version: string): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

const parameter = (name: string, description: string, type = "string") => ({
  name,
  in: "query",
  description,
  schema: { type, uniqueItems: true },
});

const WRITE_PARAMETERS = [
  parameter("dryRun", "When present, indicates that modifications should not be persisted."),
  parameter("fieldManager", "The name of the program or person that makes these changes."),
  parameter("fieldValidation", "How to treat unknown and duplicate fields: Ignore, Warn or Strict."),
];
const FORCE = parameter("force", "Take over fields that others manage; only for apply patches.", "boolean");

const ACTIONS: Record<string, string> = { create: "post", update: "put", patch: "patch", get: "get", list: "list" };

/** The paths of a resource with what can be done there: enough for clients to find kinds and options by. */
function pathsOf(endpoint: Endpoint): Record<string, unknown> {
  const { resource, version } = endpoint;
  const root = `/${pathOf(resource.group, version.version)}`;
  const base = resource.namespaced ? `${root}/namespaces/{namespace}/${resource.plural}` : `${root}/${resource.plural}`;
  const gvk = { group: resource.group, version: version.version, kind: resource.kind };
  const operation = (verb: string, kind: Record<string, string> = gvk) => ({
    operationId: `${verb}${resource.namespaced ? "Namespaced" : ""}${resource.kind}`,
    "x-kubernetes-action": ACTIONS[verb] ?? verb,
    "x-kubernetes-group-version-kind": kind,
    ...(verb === "create" || verb === "update" ? { parameters: WRITE_PARAMETERS } : {}),
    ...(verb === "patch" ? { parameters: [...WRITE_PARAMETERS, FORCE] } : {}),
    responses: { "200": { description: "OK" } },
  });
  const has = (verb: string) => version.verbs.includes(verb);
  const collection = {
    ...(has("list") ? { get: operation("list") } : {}),
    ...(has("create") ? { post: operation("create") } : {}),
    ...(has("deletecollection") ? { delete: operation("deletecollection") } : {}),
  };
  const item = {
    ...(has("get") ? { get: operation("get") } : {}),
    ...(has("update") ? { put: operation("update") } : {}),
    ...(has("patch") ? { patch: operation("patch") } : {}),
    ...(has("delete") ? { delete: operation("delete") } : {}),
  };
  const paths: Record<string, unknown> = { [base]: collection };
  if (Object.keys(item).length > 0) paths[`${base}/{name}`] = item;
  if (resource.namespaced && has("list")) paths[`${root}/${resource.plural}`] = { get: operation("list") };
  for (const sub of version.subresources) {
    const kind = { group: sub.group, version: sub.version, kind: sub.kind };
    const methods: Record<string, unknown> = {};
    for (const [verb, method] of Object.entries({ get: "get", update: "put", patch: "patch", create: "post" })) {
      if (sub.verbs.includes(verb)) methods[method] = operation(verb, kind);
    }
    paths[`${base}/{name}/${sub.name}`] = methods;
  }
  return paths;
}
