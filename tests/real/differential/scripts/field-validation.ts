import type { Script } from "../script.ts";
import { configMap, post, put } from "./requests.ts";

const all = "/api/v1/namespaces/{{ns}}/configmaps";
const services = "/api/v1/namespaces/{{ns}}/services";
const modes = ["Strict", "Warn", "Ignore"] as const;
const twice =
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice","name":"twice"},"data":{"a":"1","a":"2"}}';
const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "svc", bogus: {} },
  spec: { clusterIP: "None", ports: [{ port: 80, prt: 81 }], typ: "x" },
};

/** Unknown and duplicate fields, and the warnings about them. */
export const fieldValidation: Script = {
  title: "field validation",
  namespace: "diff-fields",
  steps: [
    ...modes.flatMap((fieldValidation) => [
      post(
        `creates with unknown fields: ${fieldValidation}`,
        all,
        configMap("unknown", { bogus: 1, spec: { x: 1 } }, { foo: "x" }),
        { query: { fieldValidation, dryRun: "All" } },
      ),
      post(`creates with duplicate fields: ${fieldValidation}`, all, twice, {
        query: { fieldValidation, dryRun: "All" },
      }),
      post(`creates with unknown fields deep down: ${fieldValidation}`, services, service, {
        query: { fieldValidation, dryRun: "All" },
      }),
      post(
        `creates with fields of another case: ${fieldValidation}`,
        all,
        { apiVersion: "v1", kind: "ConfigMap", Metadata: { name: "case" }, metadata: { Name: "case", name: "c" } },
        { query: { fieldValidation, dryRun: "All" } },
      ),
    ]),
    post("creates with unknown fields by default", all, configMap("default", { bogus: 1 })),
    put("replaces with unknown fields by default", `${all}/default`, configMap("default", { bogus: 1 })),
    put("replaces with unknown fields strictly", `${all}/default`, configMap("default", { bogus: 1 }), {
      query: { fieldValidation: "Strict" },
    }),
    post("creates from YAML", all, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: b\n", {
      contentType: "application/yaml",
    }),
    post(
      "creates from YAML with duplicates",
      all,
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml2\ndata:\n  a: b\n  a: c\n",
      { contentType: "application/yaml" },
    ),
    post(
      "creates from YAML with duplicates strictly",
      all,
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml3\ndata:\n  a: b\n  a: c\n",
      { contentType: "application/yaml", query: { fieldValidation: "Strict" } },
    ),
    post(
      "creates from YAML with unknown fields strictly",
      all,
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml4\nbogus: 1\n",
      { contentType: "application/yaml", query: { fieldValidation: "Strict" } },
    ),
    post("creates from broken YAML", all, "a: b: c", { contentType: "application/yaml" }),
    post(
      "creates with duplicate owners",
      all,
      configMap(
        "owners",
        {},
        {
          ownerReferences: [1, 2].map(() => ({
            apiVersion: "v1",
            kind: "Namespace",
            name: "n",
            uid: "11111111-1111-4111-8111-111111111111",
          })),
        },
      ),
      { query: { dryRun: "All" } },
    ),
    post("creates with a very large body", all, configMap("large", { data: { a: "x".repeat(3 * 1024 * 1024) } })),
    post("creates with too much data", all, configMap("large", { data: { a: "x".repeat(1024 * 1024 + 1) } }), {
      view: (body) => JSON.stringify(body).replaceAll(/x{100,}/g, "<many x>"),
    }),
  ],
};
