import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call } from "../test-requests.ts";
import { encodeOpenApi } from "./openapi-v3.ts";
import { at, decode } from "./test-protobuf.ts";

const REF = "#/components/schemas/x";

describe("OpenAPI 3 in protocol buffers", () => {
  const pod = {
    description: "Möwe",
    type: "object",
    required: ["a"],
    maxLength: 300,
    properties: {
      metadata: { allOf: [{ $ref: REF }], default: {} },
      size: { type: "integer", default: 3 },
      on: { type: "boolean", default: true },
      mode: { type: "string", default: "fast", enum: ["fast"] },
      labels: { additionalProperties: { type: "string" } },
      list: { items: { $ref: REF } },
      never: { not: { type: "string" } },
    },
    "x-kubernetes-list-type": "map",
  };
  const bytes = encodeOpenApi({
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "1.36" },
    paths: {
      "/api/v1/pods": {
        get: {
          operationId: "listPods",
          parameters: [{ name: "limit", in: "query", schema: { type: "integer" } }],
          requestBody: { content: { "*/*": { schema: { $ref: REF } } }, required: true },
          responses: { "200": { description: "OK", content: { "application/json": { schema: { $ref: REF } } } } },
          "x-kubernetes-action": "list",
        },
        parameters: [{ name: "pretty", in: "query" }],
      },
    },
    components: {
      schemas: { "io.k8s.Pod": pod },
      securitySchemes: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
    },
  });
  const operation = [4, 1, 2, 4] as const;
  const schema = [5, 1, 1, 2, 1] as const;

  it.each<[string, readonly number[], unknown]>([
    ["the version", [1], "3.0.0"],
    ["the title", [2, 1], "Kubernetes"],
    ["what it is the title of", [2, 6], "1.36"],
    ["a path", [4, 1, 1], "/api/v1/pods"],
    ["an operation", [...operation, 5], "listPods"],
    ["a parameter", [...operation, 6, 1, 1], "limit"],
    ["its type", [...operation, 6, 1, 10, 1, 25], "integer"],
    ["what is sent", [...operation, 7, 1, 2, 1, 1], "*/*"],
    ["what is answered", [...operation, 8, 2, 1], "200"],
    ["a reference", [...operation, 8, 2, 2, 1, 3, 1, 2, 1, 2, 1], REF],
    ["what an operation does", [...operation, 13, 2, 2], '"list"'],
    ["what all operations of a path are asked", [4, 1, 2, 13, 1, 1], "pretty"],
    ["the name of a schema", [5, 1, 1, 1], "io.k8s.Pod"],
    ["a description", [...schema, 34], "Möwe"],
    ["a count that takes two bytes", [...schema, 15], 300],
    ["a required field", [...schema, 23], "a"],
    ["a property", [...schema, 31, 1, 1], "metadata"],
    ["an extension", [...schema, 36, 2, 2], '"map"'],
    ["how to identify oneself", [5, 7, 1, 2, 1, 3], "authorization"],
  ])("has %s", (_what, path, value) => {
    expect(at(bytes, ...path)).toBe(value);
  });

  it("has what every property is made of", () => {
    let inner: Uint8Array = bytes;
    for (const field of [...schema, 31]) {
      inner = decode(inner).find(([number]) => number === field)?.[1] as Uint8Array;
    }
    const properties = decode(inner).map(([, entry]) => entry as Uint8Array);
    const of = (index: number, ...path: number[]) => at(properties[index] as Uint8Array, 2, 1, ...path);
    expect(of(0, 26, 2, 1)).toBe(REF);
    expect(of(0, 33)).toBe("");
    expect([of(1, 33, 1), of(2, 33, 2), of(3, 33, 3)]).toEqual([3, 1, "fast"]);
    expect(of(3, 24, 2)).toBe('"fast"');
    expect(of(4, 32, 1, 1, 25)).toBe("string");
    expect(of(5, 30, 1, 2, 1)).toBe(REF);
    expect(of(6, 29, 25)).toBe("string");
  });
});

it("is what clients get that ask for it by either of its names", async () => {
  await using cluster = await Cluster.start({ tls: false });
  for (const name of ["spec.v3@v1.0", "spec.v3.v1.0"]) {
    const accept = `application/com.github.proto-openapi.${name}+protobuf`;
    const answer = await call(cluster, "GET", "/openapi/v3/apis/apps/v1", { headers: { accept } });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/com.github.proto-openapi.spec.v3.v1.0+protobuf");
    expect(answer.headers.vary).toBe("Accept");
  }
});
