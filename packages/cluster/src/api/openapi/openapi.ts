import { encodeOpenApi, encodeSwagger } from "../../protobuf/index.ts";
import type { BuiltinTables, Catalog, Endpoint, Subresource } from "../../registry/index.ts";
import { fingerprint } from "../documents/hash.ts";
import { KUBERNETES_VERSION } from "../documents/health.ts";
import type { ApiRequest, ApiResponse } from "../exchange.ts";
import { parseAccept } from "../media/negotiate.ts";
import { documentOperation, groupTitle, type Names, operationsOf, type Paths, tagOf } from "./openapi-operations.ts";
import { collectComponents, customComponents, customName, type OpenApiSchema } from "./openapi-schemas.ts";
import { writeSwagger } from "./openapi-v2.ts";
import { writePaths } from "./openapi-v3.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const INFO = { title: "Kubernetes", version: KUBERNETES_VERSION.replace(/^v(\d+\.\d+).*$/, "$1") };
/** How the documents of custom resources, made on the way, call themselves. */
const CUSTOM_INFO = { title: "Kubernetes CRD Swagger", version: "v0.1.0" };
const SECURITY = { BearerToken: { type: "apiKey", name: "authorization", in: "header" } };
const NO_CACHE = "no-cache, private";

/** The forms of the old document, by what clients call them; the first one also goes by `*`. */
const OLD_FORMS: Readonly<Record<string, string>> = {
  "application/json": "application/json",
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf":
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf":
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  "application/*": "application/json",
  "*/*": "application/json",
};

const NEW_PROTOBUF = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

/** The forms of the new documents. */
const NEW_FORMS: Readonly<Record<string, string>> = {
  "application/json": "application/json",
  "application/com.github.proto-openapi.spec.v3@v1.0+protobuf": NEW_PROTOBUF,
  [NEW_PROTOBUF]: NEW_PROTOBUF,
  "application/*": "application/json",
  "*/*": "application/json",
};

interface Document {
  readonly body: string;
  readonly hash: string;
}

/** The paths of a document and the components that they speak of. */
interface Content {
  readonly paths: Paths;
  readonly schemas: Record<string, OpenApiSchema>;
}

/**
 * OpenAPI: v3 with one document for each group version, and the old v2 with one for everything. `kubectl` reads v3
 * before it writes anything, to see whether the server checks fields itself, and for `explain`.
 */
export class OpenApi {
  readonly #catalog: Catalog;
  readonly #tables: () => BuiltinTables;
  readonly #documents = new Map<string, Document>();
  /** The old document in protocol buffers, of the text with this hash. */
  #encoded: { readonly hash: string; readonly body: Uint8Array } | undefined;
  #generation = -1;

  constructor(catalog: Catalog, tables: () => BuiltinTables) {
    this.#catalog = catalog;
    this.#tables = tables;
  }

  /** The answer for `/openapi/…`; undefined when there is no such document. */
  respond(request: ApiRequest, segments: readonly string[]): ApiResponse | undefined {
    const [, edition, ...rest] = segments;
    if (edition === "v2" && rest.length === 0) return this.#old(request);
    if (edition !== "v3") return undefined;
    return rest.length === 0 ? this.#index() : this.#document(request, rest.join("/"));
  }

  #index(): ApiResponse {
    const paths: Record<string, { serverRelativeURL: string }> = {};
    for (const path of this.#paths()) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.#tag(path)}` };
    }
    const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": NO_CACHE };
    return { type: "whole", status: 200, headers, body: JSON.stringify({ paths }) };
  }

  /** The names of all documents. */
  #paths(): string[] {
    const groups = this.#catalog.groups();
    const builtIn = new Set([...this.#catalog.all()].filter(({ custom }) => !custom).map(({ group }) => group));
    return [
      "api",
      "apis",
      "version",
      ...groups.filter(({ group }) => group !== "" && builtIn.has(group)).map(({ group }) => `apis/${group}`),
      ...groups.flatMap(({ group, versions }) => versions.map((version) => pathOf(group, version))),
    ].sort();
  }

  #document(request: ApiRequest, path: string): ApiResponse | undefined {
    if (!this.#paths().includes(path)) return undefined;
    const form = formOf(request, NEW_FORMS);
    if (form === undefined) return notAcceptable();
    const asked = request.query.get("hash");
    const tag = this.#tag(path);
    const headers = { "content-type": form, etag: `"${tag}"`, vary: "Accept" };
    if (asked !== null && asked !== "" && asked !== tag) {
      const location = `/openapi/v3/${path}?hash=${tag}`;
      return {
        type: "whole",
        status: 301,
        headers: { ...headers, location, "cache-control": NO_CACHE },
        body: "",
      };
    }
    const cached = { ...headers, "cache-control": asked ? "public, immutable" : NO_CACHE };
    if (request.headers["if-none-match"] === headers.etag) {
      return { type: "whole", status: 304, headers: cached, body: "" };
    }
    const { body } = this.#build(path, () => this.#newDocument(path));
    if (form !== NEW_PROTOBUF) return { type: "whole", status: 200, headers: cached, body };
    return { type: "whole", status: 200, headers: cached, body: encodeOpenApi(JSON.parse(body)) };
  }

  #old(request: ApiRequest): ApiResponse {
    const form = formOf(request, OLD_FORMS);
    if (form === undefined) return notAcceptable();
    const { body, hash } = this.#build("v2", () => this.#everything());
    const headers = {
      "content-type": form,
      etag: `"${hash}"`,
      "cache-control": NO_CACHE,
      vary: "Accept",
    };
    if (request.headers["if-none-match"] === headers.etag) return { type: "whole", status: 304, headers, body: "" };
    if (form === "application/json") return { type: "whole", status: 200, headers, body };
    if (this.#encoded?.hash !== hash) this.#encoded = { hash, body: encodeSwagger(JSON.parse(body)) };
    return { type: "whole", status: 200, headers, body: this.#encoded.body };
  }

  /** Changes whenever the document would, without building it: it is asked for by everybody who reads the index. */
  #tag(path: string): string {
    const [, group = "", version] = path.split("/");
    const endpoints = path.startsWith("api/")
      ? this.#catalog.inVersion("", group)
      : version === undefined
        ? []
        : this.#catalog.inVersion(group, version);
    const parts = endpoints.map(({ resource, version: own }) => [
      resource.plural,
      resource.kind,
      own.subresources.map((sub) => sub.name),
      Object.keys(own.selectable ?? {}),
      resource.custom ? own.codec.schema.schema : "",
    ]);
    return fingerprint(JSON.stringify([path, parts]));
  }

  #build(key: string, content: () => unknown): Document {
    if (this.#generation !== this.#catalog.generation) {
      this.#documents.clear();
      this.#generation = this.#catalog.generation;
    }
    let document = this.#documents.get(key);
    if (!document) {
      const body = JSON.stringify(content());
      document = { body, hash: fingerprint(body) };
      this.#documents.set(key, document);
    }
    return document;
  }

  #newDocument(path: string) {
    const [root, group = "", version] = path.split("/");
    const content =
      root === "api" && group !== ""
        ? this.#ofVersion("", group)
        : version !== undefined
          ? this.#ofVersion(group, version)
          : this.#ofRoot(root as string, group);
    const custom = version !== undefined && this.#catalog.inVersion(group, version).every((e) => e.resource.custom);
    return {
      openapi: "3.0.0",
      info: custom ? CUSTOM_INFO : INFO,
      paths: inOrder(writePaths(content.paths)),
      components: {
        schemas: inOrder(content.schemas),
        ...(custom ? {} : { securitySchemes: SECURITY }),
      },
    };
  }

  /** The documents about documents: which versions, groups and resources there are. */
  #ofRoot(root: string, group: string): Content {
    const [path, operation] =
      root === "version"
        ? ["/version/", documentOperation("getCodeVersion", "version", "io.k8s.apimachinery.pkg.version.Info", true)]
        : root === "api"
          ? ["/api/", documentOperation("getCoreAPIVersions", "core", `${META}.APIVersions`)]
          : group === ""
            ? ["/apis/", documentOperation("getAPIVersions", "apis", `${META}.APIGroupList`)]
            : [
                `/apis/${group}/`,
                documentOperation(`get${groupTitle(group)}APIGroup`, tagOf(group), `${META}.APIGroup`),
              ];
    return this.#withComponents({ [path as string]: { get: operation as ReturnType<typeof documentOperation> } }, []);
  }

  #ofVersion(group: string, version: string): Content {
    const endpoints = this.#catalog.inVersion(group, version);
    const paths: Paths = {};
    if (endpoints.some(({ resource }) => !resource.custom)) {
      const id = `get${groupTitle(group)}${version.slice(0, 1).toUpperCase()}${version.slice(1)}APIResources`;
      const list = documentOperation(id, tagOf(group, version), `${META}.APIResourceList`);
      paths[`/${pathOf(group, version)}/`] = { get: list };
    }
    for (const endpoint of endpoints) Object.assign(paths, operationsOf(endpoint, this.#names(endpoint)));
    return this.#withComponents(paths, endpoints, { group, version });
  }

  #names(endpoint: Endpoint): Names {
    const { resource, version } = endpoint;
    const { schemas } = this.#tables();
    const builtIn = (group: string, name: string, kind: string) => schemas.refOfKind(group, name, kind) ?? "";
    if (resource.custom) {
      const object = customName(endpoint, resource.kind);
      return {
        object,
        list: customName(endpoint, resource.listKind),
        subresource: (sub) => (sub.name === "scale" ? builtIn("autoscaling", "v1", "Scale") : object),
      };
    }
    return {
      object: builtIn(resource.group, version.version, resource.kind),
      list: builtIn(resource.group, version.version, resource.listKind),
      subresource: (sub: Subresource) => builtIn(sub.group, sub.version, sub.kind),
    };
  }

  /** Everything that the operations name, and what that refers to. */
  #withComponents(
    paths: Paths,
    endpoints: readonly Endpoint[],
    scope?: { readonly group: string; readonly version: string },
  ): Content {
    const tables = this.#tables();
    const schemas: Record<string, OpenApiSchema> = {};
    for (const endpoint of endpoints) {
      if (endpoint.resource.custom) customComponents(endpoint, tables, schemas, scope);
    }
    for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
      for (const content of [operation.body, ...Object.values(operation.responses)]) {
        if (content?.ref !== undefined) collectComponents(content.ref, tables, schemas, scope);
      }
    }
    return { paths, schemas };
  }

  #everything() {
    const all: Content = { paths: {}, schemas: {} };
    const scopeless: Endpoint[] = [];
    const add = ({ paths }: Content) => Object.assign(all.paths, paths);
    for (const path of this.#paths()) {
      const [root = "", group = "", version] = path.split("/");
      if (root === "api" && group !== "") add(this.#ofVersion("", group));
      else if (version === undefined) add(this.#ofRoot(root, group));
      else {
        add(this.#ofVersion(group, version));
        scopeless.push(...this.#catalog.inVersion(group, version));
      }
    }
    const { schemas } = this.#withComponents(all.paths, scopeless);
    return writeSwagger(inOrder(all.paths), inOrder(schemas), INFO);
  }
}

function notAcceptable(): ApiResponse {
  return { type: "whole", status: 406, headers: { vary: "Accept", "cache-control": NO_CACHE }, body: "" };
}

function inOrder<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The first of the forms that the client takes. */
function formOf(request: ApiRequest, forms: Readonly<Record<string, string>>): string | undefined {
  return parseAccept(request.headers.accept)
    .map(({ type }) => (Object.hasOwn(forms, type) ? forms[type] : undefined))
    .find((found) => found !== undefined);
}

function pathOf(group: string, version: string): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}
