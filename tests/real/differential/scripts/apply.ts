import type { Script } from "../script.ts";
import { apply, configMap, get, patch, post, put } from "./requests.ts";

const all = "/api/v1/namespaces/{{ns}}/configmaps";
const one = `${all}/one`;
const services = "/api/v1/namespaces/{{ns}}/services";
const zeroUid = "11111111-1111-4111-8111-111111111111";

/** Server-side apply and who owns what. */
export const serverSideApply: Script = {
  title: "server-side apply",
  namespace: "diff-apply",
  steps: [
    apply("m1", "creates by applying", one, configMap("one", { data: { a: "1", b: "2" } }, { labels: { l: "1" } })),
    apply("m1", "applies the same again", one, configMap("one", { data: { a: "1", b: "2" } }, { labels: { l: "1" } })),
    apply("m2", "shares a field", one, configMap("one", { data: { a: "1" } })),
    apply("m2", "conflicts on one field", one, configMap("one", { data: { a: "1", b: "x" } })),
    apply(
      "m2",
      "conflicts on several fields",
      one,
      configMap("one", { data: { a: "x", b: "x" } }, { labels: { l: "2" } }),
    ),
    apply("m2", "forces", one, configMap("one", { data: { b: "forced" } }), { query: { force: "true" } }),
    apply("m1", "gives up a field that another owns", one, configMap("one", { data: { a: "1" } })),
    apply("m1", "gives up its last fields", one, configMap("one")),
    patch("merge", "updates a field of an applier", one, { data: { b: "updated" } }, { query: { fieldManager: "up" } }),
    apply("m2", "conflicts with an updater", one, configMap("one", { data: { b: "again" } })),
    apply("m3", "conflicts with several managers", one, configMap("one", { data: { b: "third", c: "c" } })),
    apply("m3", "applies with a stale version", one, configMap("one", { data: { c: "c" } }, { resourceVersion: "1" })),
    apply("m3", "applies with another uid", one, configMap("one", { data: { c: "c" } }, { uid: zeroUid })),
    apply(
      "m3",
      "applies with a uid to one that is not there",
      `${all}/absent`,
      configMap("absent", {}, { uid: zeroUid }),
    ),
    apply(
      "m3",
      "applies with a version to one that is not there",
      `${all}/absent`,
      configMap("absent", {}, { resourceVersion: "1" }),
    ),
    patch("apply", "applies without a manager", one, configMap("one")),
    apply("m3", "applies without kind", one, { metadata: { name: "one" } }),
    apply("m3", "applies without apiVersion", one, { kind: "ConfigMap", metadata: { name: "one" } }),
    apply("m3", "applies another kind", one, { apiVersion: "v1", kind: "Secret", metadata: { name: "one" } }),
    apply("m3", "applies another name", one, configMap("two")),
    apply("m3", "applies without a name", one, { apiVersion: "v1", kind: "ConfigMap", data: { c: "c" } }),
    apply("m3", "applies another namespace", one, configMap("one", {}, { namespace: "default" })),
    apply("m3", "applies managedFields", one, configMap("one", {}, { managedFields: [{ manager: "x" }] })),
    apply("m3", "applies an unknown field", one, configMap("one", { bogus: "x" })),
    apply("m3", "applies an unknown field in metadata", one, configMap("one", {}, { bogus: "x" })),
    apply("m3", "applies an unknown field silently", one, configMap("one", { bogus: "x" }), {
      query: { fieldValidation: "Ignore" },
    }),
    apply("m3", "applies an unknown field strictly", one, configMap("one", { bogus: "x" }), {
      query: { fieldValidation: "Strict" },
    }),
    apply(
      "m3",
      "applies a field twice",
      one,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"c":"1","c":"2"}}',
      { query: { fieldValidation: "Strict" } },
    ),
    apply("m3", "applies a wrong type", one, configMap("one", { data: { c: 1 } })),
    apply("m3", "applies a list for a map", one, configMap("one", { data: ["c"] })),
    apply("m3", "applies broken YAML", one, "a: b: c"),
    apply("m3", "applies an empty body", one, ""),
    apply("m3", "applies a bad name", `${all}/Bad_Name`, configMap("Bad_Name")),
    apply("m3", "applies YAML", one, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  yaml: 'yes'\n"),
    apply("m3", "applies dry", one, configMap("one", { data: { dry: "1" } }), { query: { dryRun: "All" } }),
    apply("m3", "creates dry by applying", `${all}/dry`, configMap("dry", { data: { dry: "1" } }), {
      query: { dryRun: "All" },
    }),
    apply("m3", "applies null", one, configMap("one", { data: { n: null } })),
    apply("m3", "applies an empty map", one, configMap("one", { data: {} })),
    apply("m3", "applies with a bad force", one, configMap("one"), { query: { force: "x" } }),
    apply("m3", "applies finalizers", one, configMap("one", {}, { finalizers: ["a.io/a", "a.io/b"] })),
    apply("m3", "applies fewer finalizers", one, configMap("one", {}, { finalizers: ["a.io/b"] })),
    apply("m3", "applies a finalizer twice", one, configMap("one", {}, { finalizers: ["a.io/b", "a.io/b"] })),
    apply(
      "m3",
      "applies an owner",
      one,
      configMap("one", {}, { ownerReferences: [{ apiVersion: "v1", kind: "Namespace", name: "n", uid: zeroUid }] }),
      { query: { dryRun: "All" } },
    ),
    apply(
      "m3",
      "applies an owner without uid",
      one,
      configMap("one", {}, { ownerReferences: [{ apiVersion: "v1", kind: "Namespace", name: "n" }] }),
    ),
    apply("m3", "gives up the finalizers", one, configMap("one")),
    put("replaces beside appliers", one, configMap("one", { data: { b: "put" } }), {
      query: { fieldManager: "putter" },
    }),
    patch("json", "clears managedFields", one, [{ op: "replace", path: "/metadata/managedFields", value: [{}] }]),
    apply("m4", "applies to one without managers", one, configMap("one", { data: { c: "4" } })),
    patch("merge", "sets bad managedFields", one, {
      metadata: { managedFields: [{ manager: "x", operation: "Nonsense" }] },
    }),
    post(
      "creates with managedFields",
      all,
      configMap(
        "fields",
        { data: { a: "1" } },
        {
          managedFields: [
            {
              manager: "x",
              operation: "Update",
              apiVersion: "v1",
              time: "2001-01-01T00:00:00Z",
              fieldsType: "FieldsV1",
              fieldsV1: { "f:data": { "f:a": {} } },
            },
          ],
        },
      ),
    ),
    apply(
      "kubectl",
      "applies over a last-applied annotation",
      `${all}/last`,
      configMap(
        "last",
        { data: { a: "1" } },
        { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } },
      ),
    ),

    apply("s1", "creates a service by applying", `${services}/svc`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "svc" },
      spec: {
        clusterIP: "None",
        selector: { app: "x" },
        ports: [
          { port: 80, name: "http" },
          { port: 53, protocol: "UDP", name: "dns" },
        ],
      },
    }),
    apply("s2", "adds a port to a service", `${services}/svc`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "svc" },
      spec: { ports: [{ port: 443, name: "https" }] },
    }),
    apply("s2", "conflicts in a port", `${services}/svc`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "svc" },
      spec: { ports: [{ port: 80, name: "web" }] },
    }),
    apply("s2", "conflicts in an atomic map", `${services}/svc`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "svc" },
      spec: { selector: { app: "y" } },
    }),
    apply("s2", "applies a port twice", `${services}/svc`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "svc" },
      spec: {
        ports: [
          { port: 1, name: "a" },
          { port: 1, name: "b" },
        ],
      },
    }),
    apply("s2", "applies a port without its key", `${services}/svc`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "svc" },
      spec: { ports: [{ name: "a" }] },
    }),
    apply("s1", "removes ports by applying", `${services}/svc`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "svc" },
      spec: { clusterIP: "None", ports: [{ port: 80, name: "http" }] },
    }),
    get("reads what all managers left", one),
  ],
};
