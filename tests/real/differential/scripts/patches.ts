import type { Script } from "../script.ts";
import { apply, configMap, get, patch, post } from "./requests.ts";

const all = "/api/v1/namespaces/{{ns}}/configmaps";
const one = `${all}/one`;
const pods = "/api/v1/namespaces/{{ns}}/pods";
const zeroUid = "11111111-1111-4111-8111-111111111111";

/** JSON, merge and strategic merge patches. */
export const patches: Script = {
  title: "patches",
  namespace: "diff-patches",
  steps: [
    post("creates", all, configMap("one", { data: { a: "1", b: "2" } }), {
      capture: { rv: "metadata.resourceVersion", uid: "metadata.uid" },
    }),
    patch("merge", "merges", one, { data: { a: "x", b: null, c: "3" } }),
    patch("merge", "merges nothing", one, {}),
    patch("merge", "merges what is there already", one, { data: { a: "x" } }),
    patch("merge", "merges into one that is not there", `${all}/absent`, { data: { a: "x" } }),
    patch("merge", "merges with a stale version", one, { metadata: { resourceVersion: "{{rv}}" }, data: { a: "y" } }),
    patch("merge", "merges with another uid", one, { metadata: { uid: zeroUid } }),
    patch("merge", "merges with the right uid", one, { metadata: { uid: "{{uid}}", labels: { l: "1" } } }),
    patch("merge", "merges with another name", one, { metadata: { name: "two" } }),
    patch("merge", "merges with another namespace", one, { metadata: { namespace: "default" } }),
    patch("merge", "merges with another kind", one, { kind: "Secret" }),
    patch("merge", "merges with another kind that it could be", one, { kind: "Secret", data: null }),
    patch("merge", "merges with another apiVersion", one, { apiVersion: "v2" }),
    patch("merge", "merges a wrong type", one, { data: { a: 5 } }),
    patch("merge", "merges a list", one, []),
    patch("merge", "merges a string", one, '"x"'),
    patch("merge", "merges broken JSON", one, "{"),
    patch("merge", "merges an empty body", one, ""),
    patch("merge", "merges null", one, "null"),
    patch("merge", "merges an unknown field", one, { bogus: 1 }),
    patch(
      "merge",
      "merges an unknown field strictly",
      one,
      { bogus: 1, metadata: { foo: "x" } },
      { query: { fieldValidation: "Strict" } },
    ),
    patch("merge", "merges an unknown field silently", one, { bogus: 1 }, { query: { fieldValidation: "Ignore" } }),
    patch("merge", "merges a field twice", one, '{"data":{"a":"1","a":"2"}}'),
    patch("merge", "merges a field twice strictly", one, '{"data":{"a":"1","a":"2"}}', {
      query: { fieldValidation: "Strict" },
    }),
    patch("merge", "merges with force", one, { data: { a: "z" } }, { query: { force: "true" } }),
    patch("merge", "merges bad labels", one, { metadata: { labels: { "a b": "c" } } }),
    patch("merge", "merges dry", one, { data: { dry: "1" } }, { query: { dryRun: "All" } }),
    patch("merge", "merges as YAML", one, "data:\n  a: b\n", { contentType: "application/merge-patch+yaml" }),
    patch("merge", "merges by another manager", one, { data: { a: "other" } }, { query: { fieldManager: "other" } }),
    patch("merge", "merges away data", one, { data: null }),
    patch("merge", "merges away metadata", one, { metadata: null }),

    patch("json", "patches by JSON", one, [
      { op: "add", path: "/data", value: { a: "1" } },
      { op: "add", path: "/data/b", value: "2" },
    ]),
    patch("json", "patches with tests, copies and moves", one, [
      { op: "test", path: "/data/a", value: "1" },
      { op: "copy", from: "/data/a", path: "/data/c" },
      { op: "move", from: "/data/b", path: "/data/d" },
      { op: "replace", path: "/data/a", value: "9" },
    ]),
    patch("json", "patches nothing", one, []),
    patch("json", "patches with a failed test", one, [{ op: "test", path: "/data/a", value: "0" }]),
    patch("json", "removes what is not there", one, [{ op: "remove", path: "/data/absent" }]),
    patch("json", "replaces what is not there", one, [{ op: "replace", path: "/data/absent", value: "x" }], {
      query: { dryRun: "All" },
    }),
    patch("json", "adds below what is not there", one, [{ op: "add", path: "/nothing/here", value: "x" }]),
    patch("json", "tests the version", one, [{ op: "test", path: "/metadata/resourceVersion", value: "{{rv}}" }]),
    patch("json", "adds the stale version", one, [
      { op: "add", path: "/metadata/resourceVersion", value: "{{rv}}" },
      { op: "add", path: "/data/v", value: "1" },
    ]),
    patch("json", "patches with an unknown operation", one, [{ op: "frobnicate", path: "/data/a" }]),
    patch("json", "patches without a path", one, [{ op: "add", value: 1 }]),
    patch("json", "patches with an object", one, { op: "add" }),
    patch("json", "patches with broken JSON", one, "["),
    patch("json", "patches a wrong type", one, [{ op: "add", path: "/data/n", value: 5 }]),
    patch("json", "patches an escaped path", one, [
      { op: "add", path: "/metadata/annotations", value: {} },
      { op: "add", path: "/metadata/annotations/a.io~1b", value: "1" },
    ]),
    patch("json", "appends to a list", one, [
      { op: "add", path: "/metadata/finalizers", value: ["a.io/a"] },
      { op: "add", path: "/metadata/finalizers/-", value: "a.io/b" },
      { op: "add", path: "/metadata/finalizers/0", value: "a.io/c" },
    ]),
    patch("json", "adds beyond a list", one, [{ op: "add", path: "/metadata/finalizers/9", value: "a.io/z" }]),
    patch("json", "clears a list", one, [{ op: "replace", path: "/metadata/finalizers", value: [] }]),
    patch("json", "removes the whole document", one, [{ op: "remove", path: "" }]),
    patch("json", "patches an unknown field strictly", one, [{ op: "add", path: "/bogus", value: 1 }], {
      query: { fieldValidation: "Strict" },
    }),
    patch("json", "patches an unknown field", one, [{ op: "add", path: "/bogus", value: 1 }]),

    patch("strategic", "merges strategically", one, { data: { a: "s" }, metadata: { labels: { s: "1" } } }),
    patch("strategic", "replaces a map strategically", one, { data: { $patch: "replace", only: "this" } }),
    patch("strategic", "deletes a map strategically", one, { data: { $patch: "delete" } }),
    patch("strategic", "merges finalizers strategically", one, { metadata: { finalizers: ["a.io/a", "a.io/b"] } }),
    patch("strategic", "merges more finalizers strategically", one, { metadata: { finalizers: ["a.io/b", "a.io/c"] } }),
    patch("strategic", "deletes from finalizers", one, {
      metadata: { "$deleteFromPrimitiveList/finalizers": ["a.io/a", "a.io/b", "a.io/c"] },
    }),
    patch("strategic", "merges with a bad directive", one, { data: { $patch: "explode" } }),
    patch("strategic", "merges strategically broken JSON", one, "{"),
    patch("strategic", "merges strategically a list", one, []),
    patch("strategic", "merges strategically with a stale version", one, {
      metadata: { resourceVersion: "{{rv}}" },
      data: { a: "y" },
    }),
    patch(
      "strategic",
      "merges strategically an unknown field strictly",
      one,
      { bogus: 1 },
      { query: { fieldValidation: "Strict" } },
    ),
    patch("strategic", "merges strategically a wrong type", one, { data: "x" }),
    patch("strategic", "merges strategically a list where a map belongs", one, { data: ["x"] }),
    patch("strategic", "merges strategically a number where a text belongs", one, { data: { a: 5 } }),
    patch("strategic", "merges strategically a text where a flag belongs", one, { immutable: "x" }),
    patch("strategic", "merges strategically a fraction where a number belongs", one, {
      metadata: { deletionGracePeriodSeconds: 1.5 },
    }),
    patch("strategic", "merges strategically a text where a number belongs", one, { metadata: { generation: "x" } }),
    post(
      "creates an owned one",
      all,
      configMap(
        "owned",
        {},
        { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "one", uid: "{{uid}}" }] },
      ),
    ),
    patch("strategic", "merges owners", `${all}/owned`, {
      metadata: {
        ownerReferences: [{ uid: "{{uid}}", apiVersion: "v1", kind: "ConfigMap", name: "one", controller: true }],
      },
    }),
    patch("strategic", "merges an owner without its key", `${all}/owned`, {
      metadata: { ownerReferences: [{ name: "x" }] },
    }),
    patch("strategic", "deletes an owner", `${all}/owned`, {
      metadata: { ownerReferences: [{ uid: "{{uid}}", $patch: "delete" }] },
    }),

    post("creates a pod", pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: {
        automountServiceAccountToken: false,
        containers: [
          { name: "a", image: "a:1" },
          { name: "b", image: "b" },
        ],
      },
    }),
    patch("strategic", "merges a container", `${pods}/p`, { spec: { containers: [{ name: "b", image: "b:2" }] } }),
    patch("strategic", "merges a container without its key", `${pods}/p`, { spec: { containers: [{ image: "b:3" }] } }),
    patch("strategic", "orders containers wrongly", `${pods}/p`, {
      spec: { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "b", image: "b:4" }] },
    }),
    patch("merge", "patches with an unknown media type", one, {}, { contentType: "application/x-patch" }),
    patch("merge", "patches with plain JSON", one, {}, { contentType: "application/json" }),
    patch("merge", "patches without a media type", one, {}, { contentType: "" }),
    patch("merge", "patches a collection", all, {}),
    patch("merge", "patches with a bad dryRun", one, {}, { query: { dryRun: "x" } }),
    patch(
      "merge",
      "patches with a media type with parameters",
      one,
      { data: { p: "1" } },
      { contentType: "application/merge-patch+json; charset=utf-8" },
    ),
    apply("m", "applies what is only a patch", one, { data: { x: "1" } }),
    get("reads what all patches left", one),
  ],
};
