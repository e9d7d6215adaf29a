import type { Json, Script } from "../script.ts";
import { asSets, withoutProse } from "../views.ts";
import { apply, get, patch, post, put, remove, table, tables } from "./requests.ts";

const all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
type Fields = { readonly [key: string]: Json };

const names = (kind: string): Fields => ({ plural: `${kind.toLowerCase()}s`, kind });

/** A CustomResourceDefinition in a group of its own, of one version unless told. */
export function definition(group: string, kind: string, schema: Json, more: Fields = {}, spec: Fields = {}): Json {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.toLowerCase()}s.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: names(kind),
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
      ...spec,
    },
  };
}

const group = "def.diff.io";
const object = { type: "object" };
const withSpec = (spec: Json): Json => ({ type: "object", properties: { spec } });

/** Schemas that are not structural, each with what it does wrong. */
const badSchemas: Readonly<Record<string, Json>> = {
  "without a type": { properties: { spec: object } },
  "that is a string": { type: "string" },
  "with a field without a type": withSpec({ properties: { a: {} } }),
  "with an unknown type": withSpec({ type: "thing" }),
  "with unique items": withSpec({ type: "array", uniqueItems: true, items: { type: "string" } }),
  "with a list without items": withSpec({ type: "array" }),
  "with a type inside anyOf": withSpec({ type: "object", anyOf: [{ type: "object" }] }),
  "with a property only inside anyOf": withSpec({ type: "object", anyOf: [{ properties: { a: { minimum: 1 } } }] }),
  "with a default inside allOf": withSpec({
    type: "object",
    properties: { a: { type: "string" } },
    allOf: [{ properties: { a: { default: "x" } } }],
  }),
  "with both kinds of properties": withSpec({
    type: "object",
    properties: { a: { type: "string" } },
    additionalProperties: { type: "string" },
  }),
  "with additionalProperties false": withSpec({ type: "object", additionalProperties: false }),
  "with a reference": withSpec({ $ref: "#/definitions/x" }),
  "with metadata": {
    type: "object",
    properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
  },
  "with a bad default": withSpec({ type: "integer", default: "x" }),
  "with an unpruned default": withSpec({ type: "object", properties: { a: { type: "string" } }, default: { b: "x" } }),
  "with a null default": withSpec({ type: "string", default: null }),
  "with list keys of nothing": withSpec({ type: "array", "x-kubernetes-list-type": "map", items: object }),
  "with list keys that are missing": withSpec({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: object,
  }),
  "with list keys that are optional": withSpec({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: { type: "object", properties: { k: { type: "string" } } },
  }),
  "with an unknown list type": withSpec({ type: "array", "x-kubernetes-list-type": "bag", items: object }),
  "with a set of objects": withSpec({ type: "array", "x-kubernetes-list-type": "set", items: object }),
  "with a list type on an object": withSpec({ type: "object", "x-kubernetes-list-type": "set" }),
  "with a bad pattern": withSpec({ type: "string", pattern: "(" }),
  "with an integer and a string": withSpec({ type: "integer", "x-kubernetes-int-or-string": true }),
  "with preserved fields turned off": withSpec({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
  "with an embedded string": withSpec({ type: "string", "x-kubernetes-embedded-resource": true }),
  "with an empty embedded resource": withSpec({ type: "object", "x-kubernetes-embedded-resource": true }),
  "with a rule that does not compile": withSpec({
    type: "object",
    properties: { a: { type: "integer" } },
    "x-kubernetes-validations": [{ rule: "self.b > 1" }],
  }),
  "with a rule that is no truth": withSpec({
    type: "object",
    properties: { a: { type: "integer" } },
    "x-kubernetes-validations": [{ rule: "self.a" }],
  }),
  "with a rule that does not parse": withSpec({ type: "object", "x-kubernetes-validations": [{ rule: "self. > 1" }] }),
  "with an empty rule": withSpec({ type: "object", "x-kubernetes-validations": [{ rule: "" }] }),
  "with a bad reason of a rule": withSpec({
    type: "object",
    "x-kubernetes-validations": [{ rule: "true", reason: "Mood" }],
  }),
  "with a message of several lines": withSpec({
    type: "object",
    "x-kubernetes-validations": [{ rule: "true", message: "a\nb" }],
  }),
  "with a rule that may cost too much": withSpec({
    type: "array",
    items: { type: "array", items: { type: "string" } },
    "x-kubernetes-validations": [{ rule: "self.all(a, a.all(b, self.all(c, c.all(d, d != b))))" }],
  }),
  "with an unknown format": withSpec({ type: "string", format: "poem" }),
  "with a read-only field": withSpec({ type: "string", readOnly: true }),
  "with a nullable root": { type: "object", nullable: true },
};

/** Changes to a good definition that are errors. */
const badDefinitions: Readonly<Record<string, Json>> = {
  "without a schema": definition(group, "Bad", object, { schema: {} }),
  "with another name": { ...(definition(group, "Bad", object) as Fields), metadata: { name: "x.y.z" } },
  "with a group without a dot": definition("nodot", "Bad", object),
  "without versions": definition(group, "Bad", object, {}, { versions: [] }),
  "without a storage version": definition(group, "Bad", object, { storage: false }),
  "with two storage versions": definition(
    group,
    "Bad",
    object,
    {},
    {
      versions: ["v1", "v2"].map((name) => ({
        name,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: object },
      })),
    },
  ),
  "with a version twice": definition(
    group,
    "Bad",
    object,
    {},
    {
      versions: [true, false].map((storage) => ({
        name: "v1",
        served: true,
        storage,
        schema: { openAPIV3Schema: object },
      })),
    },
  ),
  "with a bad version name": definition(group, "Bad", object, { name: "V_1" }),
  "with a bad scope": definition(group, "Bad", object, {}, { scope: "Galaxy" }),
  "without a scope": definition(group, "Bad", object, {}, { scope: "" }),
  "without names": definition(group, "Bad", object, {}, { names: {} }),
  "with bad names": definition(
    group,
    "Bad",
    object,
    {},
    { names: { plural: "bads", kind: "bad_kind", singular: "Bad", shortNames: ["B"], categories: ["C D"] } },
  ),
  "with the list kind of the kind": definition(
    group,
    "Bad",
    object,
    {},
    { names: { plural: "bads", kind: "Bad", listKind: "Bad" } },
  ),
  "with a bad conversion": definition(group, "Bad", object, {}, { conversion: { strategy: "Magic" } }),
  "with a webhook without client": definition(group, "Bad", object, {}, { conversion: { strategy: "Webhook" } }),
  "with preserveUnknownFields": definition(group, "Bad", object, {}, { preserveUnknownFields: true }),
  "with a column without a path": definition(group, "Bad", object, {
    additionalPrinterColumns: [{ name: "A", type: "string" }],
  }),
  "with a column of an unknown type": definition(group, "Bad", object, {
    additionalPrinterColumns: [{ name: "A", type: "thing", jsonPath: ".spec.a" }],
  }),
  "with a column with a bad path": definition(group, "Bad", object, {
    additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: "spec[" }],
  }),
  "with a scale without paths": definition(group, "Bad", object, { subresources: { scale: {} } }),
  "with a scale with bad paths": definition(group, "Bad", object, {
    subresources: { scale: { specReplicasPath: "spec.replicas", statusReplicasPath: ".spec.replicas" } },
  }),
  "with selectable fields that are not there": definition(group, "Bad", object, {
    selectableFields: [{ jsonPath: ".spec.none" }],
  }),
  "with a protected group": definition("diff.k8s.io", "Bad", object),
  "with unknown fields": definition(group, "Bad", withSpec({ type: "object", bogus: 1 }), { extra: true }),
};

const good = definition(group, "Gadget", withSpec({ type: "object", properties: { a: { type: "string" } } }));
const gadget = `${all}/gadgets.${group}`;
const established = { status: 200, path: "status.conditions.1.status", is: "True" };

/** CustomResourceDefinitions: what is refused, what becomes of the good ones. */
export const definitions: Script = {
  title: "CustomResourceDefinitions",
  namespace: "diff-definitions",
  steps: [
    ...Object.entries(badDefinitions).map(([what, body]) =>
      post(`creates one ${what}`, all, body, { query: { dryRun: "All" } }),
    ),
    ...Object.entries(badSchemas).map(([what, schema]) =>
      post(`creates a schema ${what}`, all, definition(group, "Bad", schema), { query: { dryRun: "All" } }),
    ),
    post("creates strictly with unknown fields", all, badDefinitions["with unknown fields"] as Json, {
      query: { dryRun: "All", fieldValidation: "Strict" },
    }),
    post("creates", all, good),
    get(
      "waits until it is established",
      gadget,
      {},
      { until: established, capture: { rv: "metadata.resourceVersion" } },
    ),
    post("creates one that exists", all, good),
    table("reads as a table", gadget),
    get(
      "lists as a table",
      all,
      { fieldSelector: `metadata.name=gadgets.${group}` },
      { accept: tables, view: withoutProse },
    ),
    get("is in discovery", `/apis/${group}/v1`, {}, { until: { status: 200 } }),
    get("has a group in discovery", `/apis/${group}`, {}, { until: { status: 200 } }),
    put("replaces without a version", gadget, good),
    patch("merge", "changes the scope", gadget, { spec: { scope: "Cluster" } }),
    patch("merge", "changes the plural", gadget, { spec: { names: { plural: "others" } } }),
    patch("merge", "changes the kind", gadget, { spec: { names: { kind: "Other" } } }),
    patch("merge", "adds short names", gadget, { spec: { names: { shortNames: ["gd"], categories: ["all"] } } }),
    get(
      "waits for the short names",
      gadget,
      {},
      { until: { status: 200, path: "status.acceptedNames.shortNames", is: ["gd"] } },
    ),
    patch("json", "changes the schema", gadget, [
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b",
        value: { type: "integer" },
      },
    ]),
    patch("json", "breaks the schema", gadget, [
      { op: "add", path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b", value: {} },
    ]),
    patch("strategic", "merges strategically", gadget, { metadata: { labels: { a: "b" } } }),
    apply("m", "applies", gadget, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `gadgets.${group}`, annotations: { x: "y" } },
    }),
    patch("merge", "changes the status of the main resource", gadget, { status: { storedVersions: ["v9"] } }),
    patch(
      "merge",
      "stores another version in the status",
      `${gadget}/status`,
      { status: { storedVersions: ["v9"] } },
      { query: { dryRun: "All" } },
    ),
    patch("json", "adds a version", gadget, [
      {
        op: "add",
        path: "/spec/versions/-",
        value: { name: "v2", served: true, storage: false, schema: { openAPIV3Schema: object } },
      },
    ]),
    patch("json", "stores the other version", gadget, [
      { op: "replace", path: "/spec/versions/0/storage", value: false },
      { op: "replace", path: "/spec/versions/1/storage", value: true },
    ]),
    get(
      "waits for the stored versions",
      gadget,
      {},
      { until: { status: 200, path: "status.storedVersions", is: ["v1", "v2"] } },
    ),
    patch("json", "drops a stored version", gadget, [{ op: "remove", path: "/spec/versions/0" }]),
    patch("merge", "forgets a stored version", `${gadget}/status`, { status: { storedVersions: ["v2"] } }),
    patch("json", "drops the forgotten version", gadget, [{ op: "remove", path: "/spec/versions/0" }]),
    post(
      "creates one whose names are taken",
      all,
      definition(group, "Gizmo", object, {}, { names: { plural: "gizmos", kind: "Gadget", shortNames: ["gd"] } }),
    ),
    get(
      "waits until its names are refused",
      `${all}/gizmos.${group}`,
      {},
      { until: { status: 200, path: "status.conditions.0.status", is: "False" } },
    ),
    remove("deletes the refused one", `${all}/gizmos.${group}`),
    post("creates a protected one", all, definition("diff.k8s.io", "Guarded", object)),
    post("creates one that is not to be approved", all, {
      ...(definition("diff.k8s.io", "Guarded", object) as Fields),
      metadata: {
        name: "guardeds.diff.k8s.io",
        annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
      },
    }),
    get(
      "waits until it is told so",
      `${all}/guardeds.diff.k8s.io`,
      {},
      // Controllers of the real server say them side by side, in no certain order.
      { until: { status: 200, path: "status.conditions.length", is: 3 }, view: asSets },
    ),
    post("creates an approved one", all, {
      ...(definition("diff.k8s.io", "Approved", object) as Fields),
      metadata: {
        name: "approveds.diff.k8s.io",
        annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1" },
      },
    }),
    remove("deletes", gadget),
    get("waits for the end", gadget, {}, { until: { status: 404 } }),
    get("is no longer served", `/apis/${group}/v2/namespaces/{{ns}}/gadgets`, {}, { until: { status: 404 } }),
  ],
};
