import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call, define, widgetDefinition } from "../../test-requests.ts";

const PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

function namedDefinition(kind: string, openAPIV3Schema: object) {
  const plural = `${kind.toLowerCase()}s`;
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

describe("OpenAPI", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
  });
  afterAll(() => cluster.stop());
  const get = (path: string, headers: Record<string, string> = {}) => call(cluster, "GET", path, { headers });

  it("has a document for the server, for each group and for each version", async () => {
    const paths = Object.keys((await get("/openapi/v3")).body.paths);
    for (const path of ["api", "apis", "version", "api/v1", "apis/apps", "apis/apps/v1", "apis/example.com/v1"]) {
      expect(paths).toContain(path);
    }
    expect(paths).not.toContain("apis/example.com");
    for (const path of ["api", "apis", "version", "apis/apps"]) {
      const { body } = await get(`/openapi/v3/${path}`);
      expect(Object.keys(body.paths)).toEqual([`/${path}/`]);
    }
  });

  it("sends whoever has an old address to the new one, and nothing to whoever has the document", async () => {
    const { body } = await get("/openapi/v3");
    const url = body.paths["apis/apps/v1"].serverRelativeURL as string;
    const moved = await get("/openapi/v3/apis/apps/v1?hash=0");
    expect(moved).toMatchObject({ status: 301, headers: { location: url } });
    const found = await get(url);
    expect(found).toMatchObject({ status: 200, headers: { "cache-control": "public, immutable" } });
    expect((await get(url, { "if-none-match": String(found.headers.etag) })).status).toBe(304);
    expect((await get("/openapi/v3/apis/none.io/v1")).status).toBe(404);
    expect((await get(url, { accept: "text/xml" })).status).toBe(406);
  });

  it("names operations, their options and their answers as clients generate code from them", async () => {
    const { paths } = (await get("/openapi/v3/api/v1")).body;
    const pods = paths["/api/v1/namespaces/{namespace}/pods"];
    expect(pods.get.operationId).toBe("listCoreV1NamespacedPod");
    expect(pods.delete.operationId).toBe("deleteCoreV1CollectionNamespacedPod");
    expect(pods.parameters.map((parameter: { name: string }) => parameter.name)).toEqual(["namespace", "pretty"]);
    const exec = paths["/api/v1/namespaces/{namespace}/pods/{name}/exec"];
    expect(exec.post).toMatchObject({
      operationId: "connectCoreV1PostNamespacedPodExec",
      "x-kubernetes-action": "connect",
      "x-kubernetes-group-version-kind": { group: "", version: "v1", kind: "PodExecOptions" },
    });
    expect(paths["/api/v1/watch/namespaces/{namespace}/pods/{name}"].get["x-kubernetes-action"]).toBe("watch");
    expect(paths["/api/v1/nodes/{name}/proxy/{path}"].options.operationId).toBe(
      "connectCoreV1OptionsNodeProxyWithPath",
    );
    const patch = paths["/api/v1/namespaces/{namespace}/pods/{name}"].patch;
    expect(Object.keys(patch.requestBody.content)).toContain("application/strategic-merge-patch+json");
  });

  it("describes custom resources with the fields that all objects have", async () => {
    const { paths, components, info } = (await get("/openapi/v3/apis/example.com/v1")).body;
    expect(info.title).toBe("Kubernetes CRD Swagger");
    const widget = components.schemas["com.example.v1.Widget"];
    expect(widget["x-kubernetes-group-version-kind"]).toEqual([
      { group: "example.com", kind: "Widget", version: "v1" },
    ]);
    expect(Object.keys(widget.properties)).toEqual(expect.arrayContaining(["apiVersion", "kind", "metadata", "spec"]));
    const { patch } = paths["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"];
    expect(patch.operationId).toBe("patchExampleComV1NamespacedWidget");
    expect(Object.keys(patch.requestBody.content)).not.toContain("application/strategic-merge-patch+json");
  });

  it("has everything in one old document, too", async () => {
    const old = await get("/openapi/v2");
    expect(old).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    const { swagger, paths, definitions } = old.body;
    expect(swagger).toBe("2.0");
    expect(paths["/apis/example.com/v1/widgets"].get.operationId).toBe("listExampleComV1WidgetForAllNamespaces");
    expect(definitions["com.example.v1.Widget"].properties.metadata).toMatchObject({
      $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    });
    expect(definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]).toEqual({
      type: "string",
      format: "int-or-string",
    });
    expect(JSON.stringify(old.body)).not.toContain("#/components/");
    expect((await get("/openapi/v2", { "if-none-match": String(old.headers.etag) })).status).toBe(304);
    expect((await get("/openapi/v2", { accept: PROTOBUF })).headers["content-type"]).toContain("protobuf");
    expect((await get("/openapi/v2", { accept: "text/xml" })).status).toBe(406);
  });

  it("says in the old form no more of a schema than its readers understand", async () => {
    const open = { "x-kubernetes-preserve-unknown-fields": true };
    const schemaOf = async (name: string, schema: object) => {
      await define(cluster, namedDefinition(name, schema));
      return (await get("/openapi/v2")).body.definitions[`com.example.v1.${name}`];
    };
    const gvk = (kind: string) => [{ group: "example.com", kind, version: "v1" }];
    expect(await schemaOf("Free", { type: "object", description: "Anything.", properties: {}, ...open })).toEqual({
      type: "object",
      "x-kubernetes-group-version-kind": gvk("Free"),
    });
    const spec = {
      type: "object",
      required: ["maybe", "name"],
      properties: {
        name: { type: "string" },
        maybe: { type: "object", nullable: true, properties: { a: { type: "string" } } },
        any: { type: "object", description: "Any.", properties: { a: { type: "string" } }, ...open },
        inner: { type: "object", "x-kubernetes-embedded-resource": true, ...open },
      },
    };
    const strict = await schemaOf("Strict", { type: "object", properties: { spec } });
    expect(strict.properties.spec).toEqual({
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string" },
        maybe: {},
        any: { description: "Any.", ...open },
        inner: { "x-kubernetes-embedded-resource": true, ...open },
      },
    });
  });

  it("explains the fields that all objects have", async () => {
    const { schemas } = (await get("/openapi/v3/apis/example.com/v1")).body.components;
    const { apiVersion, kind, metadata } = schemas["com.example.v1.Widget"].properties;
    expect(apiVersion.description).toMatch(/^APIVersion defines/);
    expect(kind.description).toMatch(/^Kind is/);
    expect(metadata.description).toMatch(/^Standard object's metadata/);
    const meta = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"].properties;
    expect(meta.creationTimestamp.description).toMatch(/^CreationTimestamp is a timestamp/);
    expect(Object.keys(meta).filter((field) => !meta[field].description)).toEqual([]);
  });

  it("changes with the definitions", async () => {
    const hashOf = async () => (await get("/openapi/v3")).body.paths["apis/example.com/v1"].serverRelativeURL;
    const etagOf = async () => (await get("/openapi/v2")).headers.etag;
    const [hash, etag] = [await hashOf(), await etagOf()];
    await call(cluster, "PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", {
      type: "application/json-patch+json",
      body: [
        {
          op: "add",
          path: "/spec/versions/0/schema/openAPIV3Schema/properties/extra",
          value: { type: "string" },
        },
      ],
    });
    expect(await hashOf()).not.toBe(hash);
    expect(await etagOf()).not.toBe(etag);
  });
});
