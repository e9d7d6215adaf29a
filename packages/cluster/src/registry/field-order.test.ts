import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { CONFIG_MAPS, call, DEFINITIONS, define, TABLE, WIDGETS, widget, widgetDefinition } from "../test-requests.ts";
import { byKeys, FieldOrder } from "./field-order.ts";
import { createMessageTable } from "./tables/index.ts";

const POD = "io.k8s.api.core.v1.Pod";
const PODS = "/api/v1/namespaces/default/pods";
const order = new FieldOrder(createMessageTable());
const keys = (value: unknown) => Object.keys(value as object);

describe("fields of built-in types", () => {
  it("come in the order of their structs, maps in that of their keys", () => {
    const pod = {
      spec: {
        restartPolicy: "Always",
        containers: [
          { image: "a", env: [{ value: "1", name: "A" }], name: "c", resources: { requests: {}, limits: {} } },
        ],
        volumes: [{ emptyDir: {}, name: "v" }],
      },
      metadata: { labels: { b: "1", a: "2" }, name: "p" },
      apiVersion: "v1",
      kind: "Pod",
    };
    expect(JSON.stringify(order.arrange(pod, POD))).toBe(
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"2","b":"1"}},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"a","env":[{"name":"A","value":"1"}],"resources":{"limits":{},"requests":{}}}],"restartPolicy":"Always"}}',
    );
    expect(keys(pod), "what was given is left as it is").toEqual(["spec", "metadata", "apiVersion", "kind"]);
  });

  it("are not touched where they are in order already", () => {
    const pod = order.arrange({ spec: { containers: [{ image: "a", name: "c" }] }, kind: "Pod" }, POD);
    expect(order.arrange(pod, POD)).toBe(pod);
  });

  it("that hold any JSON, or a schema in place of a truth value, are found, too", () => {
    const schema = {
      properties: { b: { type: "object", description: "x" }, a: { default: { z: 1, y: 2 }, type: "object" } },
      additionalProperties: { type: "string", description: "y" },
      type: "object",
    };
    const ref = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
    expect(JSON.stringify(order.arrange(schema, ref))).toBe(
      '{"type":"object","properties":{"a":{"type":"object","default":{"y":2,"z":1}},"b":{"description":"x","type":"object"}},"additionalProperties":{"description":"y","type":"string"}}',
    );
  });
});

describe("any other document", () => {
  it("has its keys in order all the way down, and keys with a meaning to JavaScript", () => {
    const text = '{"b":[{"y":1,"x":2}],"__proto__":{"z":1,"a":2},"a":null}';
    expect(JSON.stringify(byKeys(JSON.parse(text)))).toBe('{"__proto__":{"a":2,"z":1},"a":null,"b":[{"x":2,"y":1}]}');
  });
});

describe("answers", () => {
  it("have the fields of a pod in order, whoever set them", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const body = {
      metadata: { name: "p" },
      spec: { containers: [{ image: "a", name: "c" }] },
      kind: "Pod",
      apiVersion: "v1",
    };
    const made = await call(cluster, "POST", `${PODS}?dryRun=All`, { body });
    expect(keys(made.body)).toEqual(["kind", "apiVersion", "metadata", "spec", "status"]);
    expect(keys(made.body.spec).slice(0, 4)).toEqual([
      "volumes",
      "containers",
      "restartPolicy",
      "terminationGracePeriodSeconds",
    ]);
    await call(cluster, "POST", PODS, { body });
    const { body: read } = await call(cluster, "GET", `${PODS}/p`);
    expect(keys(read.metadata)).toEqual([
      ...["name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"],
    ]);
    expect(keys(read.spec.containers[0]).slice(0, 3)).toEqual(["name", "image", "resources"]);
  });

  it("have the keys of a custom object sorted, and its metadata as a struct where they go alone", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
    const made = await call(cluster, "POST", WIDGETS, { body: widget("w", { size: 1 }, { labels: { a: "b" } }) });
    expect(keys(made.body)).toEqual(["apiVersion", "kind", "metadata", "spec"]);
    expect(keys(made.body.metadata)).toEqual([
      ...["creationTimestamp", "generation", "labels", "managedFields", "name", "namespace", "resourceVersion", "uid"],
    ]);
    const { body: table } = await call(cluster, "GET", WIDGETS, { headers: { accept: TABLE } });
    expect(keys(table.rows[0].object.metadata).slice(0, 4)).toEqual(["name", "namespace", "uid", "resourceVersion"]);
    const definition = await call(cluster, "GET", `${DEFINITIONS}/widgets.example.com`);
    expect(keys(definition.body.spec)).toEqual(["group", "names", "scope", "versions", "conversion"]);
    await call(cluster, "POST", CONFIG_MAPS, { body: { metadata: { name: "m" }, data: { b: "1", a: "2" } } });
    expect(keys((await call(cluster, "GET", `${CONFIG_MAPS}/m`)).body.data)).toEqual(["a", "b"]);
  });
});
