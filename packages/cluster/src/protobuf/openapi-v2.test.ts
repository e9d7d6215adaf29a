import { describe, expect, it } from "vitest";
import { encodeSwagger } from "./openapi-v2.ts";
import { at, decode } from "./test-protobuf.ts";

describe("Swagger in protocol buffers", () => {
  const pod = {
    description: "Möwe",
    type: "object",
    required: ["a", "b"],
    maxLength: 300,
    minimum: 0.5,
    properties: { labels: { additionalProperties: { type: "string" } }, open: { additionalProperties: true } },
    items: { $ref: "#/definitions/x" },
    "x-kubernetes-group-version-kind": [{ group: "", kind: "Pod", version: "v1" }],
  };
  const bytes = encodeSwagger({
    swagger: "2.0",
    info: { title: "Kubernetes", version: "1.36" },
    paths: {
      "/api/": {
        get: {
          tags: ["core"],
          operationId: "getIt",
          parameters: [{ name: "q", in: "query", type: "string", uniqueItems: true }],
          responses: { "200": { description: "OK", schema: { $ref: "#/definitions/x" } } },
          "x-kubernetes-action": "get",
        },
        parameters: [{ name: "body", in: "body", required: true, schema: { type: "object" } }],
      },
    },
    definitions: { "io.k8s.Pod": pod },
    security: [{ BearerToken: [] }],
    securityDefinitions: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
  });

  it.each<[string, number[], unknown]>([
    ["the version", [1], "2.0"],
    ["the title", [2, 1], "Kubernetes"],
    ["a path", [8, 2, 1], "/api/"],
    ["an operation", [8, 2, 2, 2, 5], "getIt"],
    ["what an operation does", [8, 2, 2, 2, 13, 2, 2], '"get"'],
    ["a parameter of a query", [8, 2, 2, 2, 8, 1, 2, 3, 4], "q"],
    ["a parameter that is a body", [8, 2, 2, 9, 1, 1, 5, 22, 1], "object"],
    ["the status of an answer", [8, 2, 2, 2, 9, 1, 1], "200"],
    ["what an answer refers to", [8, 2, 2, 2, 9, 1, 2, 1, 2, 1, 1], "#/definitions/x"],
    ["the name of a definition", [9, 1, 1], "io.k8s.Pod"],
    ["a description", [9, 1, 2, 4], "Möwe"],
    ["a type", [9, 1, 2, 22, 1], "object"],
    ["a count that takes two bytes", [9, 1, 2, 11], 300],
    ["a number", [9, 1, 2, 9], 0.5],
    ["the type of items", [9, 1, 2, 23, 1, 1], "#/definitions/x"],
    ["a property", [9, 1, 2, 25, 1, 1], "labels"],
    ["the type of all further properties", [9, 1, 2, 25, 1, 2, 21, 1, 22, 1], "string"],
    ["an extension as YAML", [9, 1, 2, 31, 2, 2], '[{"group":"","kind":"Pod","version":"v1"}]'],
    ["how to identify oneself", [13, 1, 2, 2, 2], "authorization"],
    ["that one must", [12, 1, 1], "BearerToken"],
  ])("has %s", (_what, path, value) => {
    expect(at(bytes, ...path)).toBe(value);
  });

  it("has every value of a list, and truth values", () => {
    const schema = decode(bytes.slice()).find(([field]) => field === 9)?.[1] as Uint8Array;
    const fields = decode(decode(decode(schema)[0]?.[1] as Uint8Array)[1]?.[1] as Uint8Array);
    expect(
      fields.filter(([field]) => field === 19).map(([, value]) => new TextDecoder().decode(value as Uint8Array)),
    ).toEqual(["a", "b"]);
    const properties = decode(fields.find(([field]) => field === 25)?.[1] as Uint8Array);
    expect(at(properties[1]?.[1] as Uint8Array, 2, 21, 2)).toBe(1);
  });
});
