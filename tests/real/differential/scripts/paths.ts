import type { Script } from "../script.ts";
import { configMap, get, post, put, remove } from "./requests.ts";
import { headersOnly } from "../views.ts";

const all = "/api/v1/namespaces/{{ns}}/configmaps";

/** Paths, methods and media types that nobody serves. */
export const paths: Script = {
  title: "paths and methods",
  namespace: "diff-paths",
  steps: [
    post("creates", all, configMap("one")),
    ...[
      "/nothing", "/apix", "/api/v2", "/api/v2/pods", "/apis/none.io", "/apis/none.io/v1", "/apis/none.io/v1/things", "/apis/apps/v9", "/apis/apps/v9/deployments",
      "/api/v1/nothings", "/api/v1/namespaces/{{ns}}/nothings", "/api/v1/namespaces/{{ns}}/nothings/x", "/apis/apps/v1/nothings", `${all}/one/nothing`, `${all}/one/status`,
      "/api/v1/namespaces/{{ns}}/configmaps/one/a/b", "/api/v1/nodes/none/status", "/openapi/v3/apis/none/v1", "/openapi", "/openapi/v4", "/version/x", "/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/ping",
      "/readyz/nothing", "/api//v1", "/apis/apps/", "/api/", "/.well-known/nothing", "/watch", "/api/v1/watch",
      "/api/v1/namespaces/nowhere", "/api/v1/namespaces/nowhere/configmaps/x", "/api/v1/configmaps/one",
      "/apis/apps/v1/namespaces/{{ns}}/configmaps", "/apis/v1/configmaps", "/api/v1/namespaces/{{ns}}/deployments", "/api/v1/namespaces/{{ns}}/nodes",
    ].map((path) => get(`asks for ${path}`, path)),
    ...["POST", "PUT", "PATCH", "DELETE", "OPTIONS"].flatMap((method) =>
      ["/version", "/api", "/apis", "/apis/apps", "/apis/apps/v1"].map((path) => ({ name: `${method} ${path}`, method, path })),
    ),
    ...[all, `${all}/one`].map((path) => ({ name: `OPTIONS ${path}`, method: "OPTIONS", path })),
    { name: "POST with no body", method: "POST", path: all },
    { name: "PUT with no body", method: "PUT", path: `${all}/one` },
    { name: "PATCH with no body", method: "PATCH", path: `${all}/one` },
    post("posts to a namespace's name", "/api/v1/namespaces/{{ns}}", { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } }),
    put("puts to all namespaces", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } }),
    remove("deletes all namespaces", "/api/v1/namespaces"),
    post("posts to a status", "/api/v1/namespaces/{{ns}}/status", { apiVersion: "v1", kind: "Namespace", metadata: { name: "{{ns}}" } }),
    remove("deletes a status", "/api/v1/namespaces/{{ns}}/status"),
    post("posts an unknown kind", "/api/v1/namespaces/{{ns}}/nothings", {}),
    post("posts CBOR", all, "xx", { contentType: "application/cbor" }),
    post("posts text", all, "xx", { contentType: "text/plain" }),
    post("posts a form", all, "a=b", { contentType: "application/x-www-form-urlencoded" }),
    post("posts no media type", all, configMap("untyped"), { contentType: "" }),
    post("posts a bad media type", all, configMap("untyped2"), { contentType: ";;;" }),
    post("posts JSON with a charset", all, configMap("charset"), { contentType: "application/json; charset=utf-8" }),
    post("posts broken protobuf", all, "k8s\u0000xxxx", { contentType: "application/vnd.kubernetes.protobuf" }),
    post("posts no protobuf", all, "nonsense", { contentType: "application/vnd.kubernetes.protobuf" }),
    get("asks with a bad token", all, {}, { headers: { authorization: "Bearer nonsense" } }),
    get("lists with slashes in a row", "/api/v1/namespaces//configmaps", {}, { view: (body) => (body as { kind: string }).kind }),
    get("asks with basic credentials", all, {}, { headers: { authorization: "Basic YTpi" } }),
    get("gets with a media type", `${all}/one`, {}, { headers: { "content-type": "application/json" } }),
    get("gets pretty", `${all}/one`, { pretty: "true" }),
    get("gets the root paths with a bad accept", "/api/v1", {}, { accept: "text/xml" }),
    get("gets a version with a bad accept", "/version", {}, { accept: "text/xml", view: headersOnly }),
    get("asks the root", "/", {}, { view: (body) => (body as { paths: string[] }).paths.filter((path) => /^\/(api|apis|version|openapi\/v3|livez|readyz|healthz)$/.test(path)) }),
    get("asks for the keys of service accounts", "/openid/v1/jwks", {}, { view: headersOnly }),
    get("asks for the issuer", "/.well-known/openid-configuration", {}, { view: headersOnly }),
  ],
};
