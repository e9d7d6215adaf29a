import type { Json, Script } from "../script.ts";
import { withoutProseOfName } from "../views.ts";
import { definition } from "./definitions.ts";
import { apply, get, partial, patch, post, put, remove, tables } from "./requests.ts";

type Fields = { readonly [key: string]: Json };
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "cr.diff.io";
const all = `/apis/${group}/v1/namespaces/{{ns}}/widgets`;
const older = `/apis/${group}/v1beta1/namespaces/{{ns}}/widgets`;
const one = `${all}/one`;

const schema: Json = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 9 },
        mode: { type: "string", enum: ["A", "B"], default: "A" },
        name: { type: "string", maxLength: 5, pattern: "^[a-z]+$" },
        short: { type: "string", minLength: 2 },
        at: { type: "string", format: "date-time" },
        ip: { type: "string", format: "ipv4" },
        ratio: { type: "number", exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
        on: { type: "boolean" },
        port: { "x-kubernetes-int-or-string": true },
        items: { type: "array", maxItems: 3, minItems: 1, items: { type: "string" } },
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        pairs: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k"],
          items: {
            type: "object",
            required: ["k"],
            properties: { k: { type: "string" }, v: { type: "string" }, w: { type: "string", default: "w" } },
          },
        },
        labels: { type: "object", maxProperties: 2, additionalProperties: { type: "string" } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        nested: { type: "object", default: {}, properties: { deep: { type: "string", default: "d" } } },
        nul: { type: "string", nullable: true, default: "n" },
        nonnul: { type: "string", default: "x" },
        replicas: { type: "integer" },
        immut: {
          type: "string",
          maxLength: 9,
          "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "may not change" }],
        },
        low: { type: "integer" },
        high: { type: "integer" },
        choice: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          oneOf: [{ required: ["a"] }, { required: ["b"] }],
        },
        embedded: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
      "x-kubernetes-validations": [
        {
          rule: "!has(self.low) || !has(self.high) || self.low <= self.high",
          message: "low is above high",
        },
        { rule: "!has(self.low) || self.low != 5", reason: "FieldValueForbidden", fieldPath: ".low" },
      ],
    },
    status: {
      type: "object",
      properties: {
        phase: { type: "string", enum: ["Good", "Bad"] },
        replicas: { type: "integer" },
        selector: { type: "string" },
      },
    },
  },
};

const version = (name: string, more: Fields): Json => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: schema },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  selectableFields: [{ jsonPath: ".spec.mode" }],
  additionalPrinterColumns: [
    { name: "Size", type: "integer", jsonPath: ".spec.size", description: "how large" },
    { name: "Mode", type: "string", jsonPath: ".spec.mode", priority: 1 },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Items", type: "string", jsonPath: ".spec.items" },
    { name: "On", type: "boolean", jsonPath: ".spec.on" },
    { name: "Ratio", type: "number", jsonPath: ".spec.ratio" },
    { name: "At", type: "date", jsonPath: ".spec.at" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  ...more,
});

const widget = (name: string, spec: Fields = {}, more: Fields = {}, meta: Fields = {}): Json => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name, ...meta },
  spec: { size: 1, ...spec },
  ...more,
});

/** Specs that the schema refuses, or that it changes. */
const specs: Readonly<Record<string, Fields>> = {
  "a size that is too small": { size: 0 },
  "a size that is too large": { size: 10 },
  "a size that is a text": { size: "1" },
  "a size with a fraction": { size: 1.5 },
  "a size with an empty fraction": { size: 2.0 },
  "a mode of its own": { mode: "C" },
  "a name that is too long": { name: "abcdefg" },
  "a name that does not match": { name: "A1" },
  "a name that is both": { name: "ABCDEFG" },
  "a text that is too short": { short: "a" },
  "a bad time": { at: "zz" },
  "a good time": { at: "2026-01-02T03:04:05Z" },
  "a bad address": { ip: "1.2.3" },
  "a bad ratio": { ratio: 0 },
  "a ratio that is no multiple": { ratio: 0.7 },
  "a text for a truth": { on: "yes" },
  "a bad port": { port: true },
  "a text for a port": { port: "80%" },
  "too many items": { items: ["a", "b", "c", "d"] },
  "too few items": { items: [] },
  "items of the wrong type": { items: [1] },
  "an object for a list": { items: {} },
  "a text for an object": { nested: "x" },
  "a set with duplicates": { set: ["a", "b", "a"] },
  "pairs with duplicates": { pairs: [{ k: "1" }, { k: "1", v: "x" }] },
  "pairs without a key": { pairs: [{ v: "x" }] },
  "too many properties": { labels: { a: "1", b: "2", c: "3" } },
  "a property of the wrong type": { labels: { a: 1 } },
  "unknown fields": { bogus: 1, nested: { more: 2 }, free: { any: { thing: [1] } } },
  "null fields": { nul: null, nonnul: null, mode: null, name: null, size: 3 },
  "a null for a required field": { size: null },
  "low above high": { low: 3, high: 2 },
  "a forbidden low": { low: 5 },
  "several errors": { size: 0, mode: "C", on: 1 },
  "an error and a rule": { size: 0, low: 3, high: 2 },
  "no choice": { choice: {} },
  "both choices": { choice: { a: "1", b: "2" } },
  "an embedded object without kind": { embedded: { a: 1 } },
  "an embedded object": { embedded: { apiVersion: "v1", kind: "X", metadata: { name: "n", bogus: 1 }, a: 1 } },
  "a large number": { size: 1e20 },
};

/** Custom resources through all that a schema can do. */
export const customResources: Script = {
  title: "custom resources",
  namespace: "diff-custom",
  steps: [
    post(
      "defines",
      crds,
      definition(
        group,
        "Widget",
        {},
        {},
        {
          names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
          versions: [
            version("v1", {}),
            version("v1beta1", { deprecated: true }),
            version("v1alpha1", { deprecated: true, deprecationWarning: "use v1" }),
            version("v2", { served: false }),
          ],
        },
      ),
    ),
    get(
      "waits until it is established",
      `${crds}/widgets.${group}`,
      {},
      { until: { status: 200, path: "status.conditions.1.status", is: "True" } },
    ),
    get("waits until it is served", all, {}, { until: { status: 200 } }),
    get("waits until it is in discovery", `/apis/${group}/v1`, {}, { until: { status: 200 } }),
    get("asks for its group", `/apis/${group}`, {}, { until: { status: 200 } }),
    get("asks for its old version", `/apis/${group}/v1alpha1`, {}, { until: { status: 200 } }),
    get("asks for a version that is not served", `/apis/${group}/v2/namespaces/{{ns}}/widgets`),

    post("creates", all, widget("one"), { capture: { rv: "metadata.resourceVersion" } }),
    ...Object.entries(specs).map(([what, spec]) =>
      post(`creates with ${what}`, all, widget("dry", spec), { query: { dryRun: "All" }, anyOrder: true }),
    ),
    ...["Strict", "Ignore"].map((fieldValidation) =>
      post(
        `creates with unknown fields: ${fieldValidation}`,
        all,
        widget("dry", { bogus: 1, nested: { more: 2 } }, { extra: 1 }, { foo: "x" }),
        { query: { dryRun: "All", fieldValidation } },
      ),
    ),
    post(
      "creates with duplicates",
      all,
      `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"dup"},"spec":{"size":1,"size":2}}`,
      { query: { dryRun: "All" } },
    ),
    post(
      "creates with duplicates strictly",
      all,
      `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"dup"},"spec":{"size":1,"size":2}}`,
      { query: { dryRun: "All", fieldValidation: "Strict" } },
    ),
    post("creates without spec", all, { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "empty" } }),
    post("creates with spec null", all, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { name: "empty2" },
      spec: null,
    }),
    post("creates with a text as spec", all, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { name: "text" },
      spec: "x",
    }),
    post("creates with status", all, widget("withstatus", {}, { status: { phase: "Good" } })),
    post("creates with a bad status", all, widget("badstatus", {}, { status: { phase: "Ugly" } })),
    post("creates without kind", all, { apiVersion: `${group}/v1`, metadata: { name: "x" } }),
    post("creates without apiVersion", all, { kind: "Widget", metadata: { name: "x" } }),
    post("creates with another kind", all, { apiVersion: `${group}/v1`, kind: "Other", metadata: { name: "x" } }),
    post("creates with another version", all, {
      apiVersion: `${group}/v1beta1`,
      kind: "Widget",
      metadata: { name: "x" },
      spec: { size: 1 },
    }),
    post("creates with another group", all, { apiVersion: "v1", kind: "Widget", metadata: { name: "x" } }),
    post("creates with a bad name", all, widget("Bad_Name")),
    post("creates without a name", all, { apiVersion: `${group}/v1`, kind: "Widget", metadata: {}, spec: { size: 1 } }),
    post("creates with labels of the wrong type", all, widget("labels", {}, {}, { labels: { a: 1 } })),
    post("creates with metadata of the wrong type", all, { apiVersion: `${group}/v1`, kind: "Widget", metadata: "x" }),
    post("creates with a generation", all, widget("generation", {}, {}, { generation: 7 })),
    post("creates by generateName", all, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { generateName: "gen-" },
      spec: { size: 1 },
    }),
    post("creates with broken JSON", all, "{"),
    post("creates with a list", all, []),
    post("creates one that exists", all, widget("one")),
    post(
      "creates from YAML",
      all,
      `apiVersion: ${group}/v1\nkind: Widget\nmetadata:\n  name: yaml\nspec:\n  size: 4\n`,
      { contentType: "application/yaml" },
    ),
    post("creates in an old version", older, {
      apiVersion: `${group}/v1beta1`,
      kind: "Widget",
      metadata: { name: "old" },
      spec: { size: 2 },
    }),
    get("reads an old one in the new version", `${all}/old`),
    get("reads in a version with a warning", `/apis/${group}/v1alpha1/namespaces/{{ns}}/widgets/old`),
    get("reads", one),
    get("reads one that is not there", `${all}/absent`),
    get("lists", all, { fieldSelector: "metadata.name=one" }),
    get("lists an old version", older, { fieldSelector: "metadata.name=one" }),
    get("lists all namespaces", `/apis/${group}/v1/widgets`, { fieldSelector: "metadata.name=one" }),
    get("selects by a field of its own", all, { fieldSelector: "spec.mode=A,metadata.name=one" }),
    get("selects by a field that it has not", all, { fieldSelector: "spec.size=1" }),

    put("replaces without a version", one, widget("one", { size: 2 })),
    put(
      "replaces",
      one,
      widget("one", { size: 2, replicas: 3 }, { status: { phase: "Good" } }, { resourceVersion: "{{rv}}" }),
      { capture: { rv2: "metadata.resourceVersion" } },
    ),
    put("replaces with a stale version", one, widget("one", { size: 3 }, {}, { resourceVersion: "{{rv}}" })),
    put("replaces by the same", one, widget("one", { size: 2, replicas: 3 }, {}, { resourceVersion: "{{rv2}}" })),
    put("replaces one that is not there", `${all}/absent`, widget("absent")),
    put(
      "replaces one that is not there with a version",
      `${all}/absent`,
      widget("absent", {}, {}, { resourceVersion: "1" }),
    ),
    put("replaces with another name", one, widget("two", {}, {}, { resourceVersion: "{{rv2}}" })),
    put("replaces with another version in the body", one, {
      apiVersion: `${group}/v1beta1`,
      kind: "Widget",
      metadata: { name: "one", resourceVersion: "{{rv2}}" },
      spec: { size: 1 },
    }),
    patch("merge", "merges a label", one, { metadata: { labels: { a: "b" } } }),
    patch("merge", "merges spec", one, { spec: { size: 4, free: { a: { b: [1] } } } }),
    patch("merge", "merges nothing", one, { spec: { size: 4 } }),
    patch("merge", "merges a default away", one, { spec: { mode: null } }),
    patch("merge", "merges an invalid value", one, { spec: { size: 100 } }),
    patch("merge", "merges a wrong type", one, { spec: { size: "x" } }),
    patch("merge", "merges an unknown field", one, { spec: { bogus: 1 } }),
    patch(
      "merge",
      "merges an unknown field strictly",
      one,
      { spec: { bogus: 1 } },
      { query: { fieldValidation: "Strict" } },
    ),
    patch("merge", "merges status into the main resource", one, { status: { phase: "Good" } }),
    patch("merge", "sets what may not change", one, { spec: { immut: "a" } }),
    patch("merge", "changes what may not change", one, { spec: { immut: "b" } }),
    patch("merge", "removes what may not change", one, { spec: { immut: null } }),
    patch("merge", "merges a stale version", one, { metadata: { resourceVersion: "{{rv}}" }, spec: { size: 5 } }),
    patch("merge", "merges a generation", one, { metadata: { generation: 99 } }),
    patch("json", "patches by JSON", one, [{ op: "replace", path: "/spec/size", value: 6 }]),
    patch("json", "fails a JSON patch", one, [{ op: "test", path: "/spec/size", value: 1 }]),
    patch("strategic", "merges strategically", one, { spec: { size: 7 } }),
    patch("merge", "patches with an unknown media type", one, {}, { contentType: "application/x-patch" }),

    get("reads the status", `${one}/status`),
    patch("merge", "patches the status", `${one}/status`, {
      status: { phase: "Good", replicas: 2, selector: "a=b" },
      spec: { size: 9 },
      metadata: { labels: { ignored: "yes" } },
    }),
    patch("merge", "patches the status badly", `${one}/status`, { status: { phase: "Ugly" } }),
    patch("merge", "patches the status by nothing", `${one}/status`, { status: { phase: "Good" } }),
    patch("merge", "patches the status with unknown fields", `${one}/status`, { status: { bogus: 1 } }),
    put("replaces the status without a version", `${one}/status`, widget("one", {}, { status: { phase: "Bad" } })),
    patch(
      "json",
      "patches the status by JSON",
      `${one}/status`,
      [{ op: "replace", path: "/status/phase", value: "Bad" }],
      { capture: { rv3: "metadata.resourceVersion" } },
    ),
    put(
      "replaces the status",
      `${one}/status`,
      widget(
        "one",
        { size: 8 },
        { status: { phase: "Good", replicas: 1 } },
        { resourceVersion: "{{rv3}}", labels: { lost: "yes" } },
      ),
    ),
    apply("sm", "applies the status", `${one}/status`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { name: "one" },
      status: { selector: "x=y" },
    }),
    post("posts a status", `${one}/status`, widget("one")),
    remove("deletes a status", `${one}/status`),
    get("reads the status of one that is not there", `${all}/absent/status`),

    get("reads the scale", `${one}/scale`, {}, { capture: { srv: "metadata.resourceVersion" } }),
    patch("merge", "patches the scale", `${one}/scale`, { spec: { replicas: 5 } }),
    put("replaces the scale", `${one}/scale`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "one" },
      spec: { replicas: 6 },
    }),
    put("replaces the scale with a stale version", `${one}/scale`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "one", resourceVersion: "{{srv}}" },
      spec: { replicas: 7 },
    }),
    put("replaces the scale by a negative", `${one}/scale`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "one" },
      spec: { replicas: -1 },
    }),
    put(
      "replaces the scale without a media type",
      `${one}/scale`,
      { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "one" }, spec: { replicas: 4 } },
      { contentType: "" },
    ),
    put("replaces the scale by another kind", `${one}/scale`, widget("one")),
    get("reads after scaling", one),
    get("reads the scale of one without replicas", `${all}/old/scale`),
    patch("merge", "patches the scale of one without replicas", `${all}/old/scale`, { spec: { replicas: 2 } }),
    get("reads the scale of one that is not there", `${all}/absent/scale`),
    get(
      "reads the scale as a table",
      `${one}/scale`,
      {},
      { accept: tables, view: (body) => (body as { kind: Json }).kind },
    ),

    get("lists as a table", all, { fieldSelector: "metadata.name=one" }, { accept: tables, view: withoutProseOfName }),
    get(
      "lists as a table with objects",
      all,
      { fieldSelector: "metadata.name=one", includeObject: "Object" },
      { accept: tables, view: withoutProseOfName },
    ),
    get("reads as a table", `${all}/old`, {}, { accept: tables, view: withoutProseOfName }),
    get("reads as a partial object", one, {}, { accept: partial }),
    get(
      "reads as YAML",
      one,
      {},
      {
        accept: "application/yaml",
        view: (body) =>
          String(body)
            .split("\n")
            .filter((line) => /^\S/.test(line))
            .sort(),
      },
    ),

    apply(
      "a1",
      "creates by applying",
      `${all}/applied`,
      widget("applied", {
        pairs: [{ k: "1", v: "a" }],
        set: ["x"],
        items: ["i"],
        labels: { a: "1" },
        free: { a: { b: "c" } },
      }),
    ),
    apply("a2", "applies beside another", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      spec: { size: 1, pairs: [{ k: "2" }], set: ["y"], labels: { b: "2" } },
    }),
    apply("a2", "conflicts", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      spec: { size: 2, pairs: [{ k: "1", v: "b" }], items: ["j"], free: { a: { b: "d" } } },
    }),
    apply(
      "a2",
      "forces",
      `${all}/applied`,
      { apiVersion: `${group}/v1`, kind: "Widget", spec: { size: 2, items: ["j"] } },
      { query: { force: "true" } },
    ),
    apply("a1", "takes fields away", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      spec: { size: 2, items: ["j"] },
    }),
    apply("a1", "applies an unknown field", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      spec: { size: 2, bogus: 1 },
    }),
    apply("a1", "applies a wrong type", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      spec: { size: "x" },
    }),
    apply(
      "a1",
      "applies an invalid value",
      `${all}/applied`,
      { apiVersion: `${group}/v1`, kind: "Widget", spec: { size: 99 } },
      { query: { force: "true" } },
    ),
    apply("a1", "applies a duplicate pair", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      spec: { size: 2, pairs: [{ k: "1" }, { k: "1" }] },
    }),
    apply("a1", "applies a pair without its key", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      spec: { size: 2, pairs: [{ v: "1" }] },
    }),
    apply("a1", "applies status to the main resource", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      spec: { size: 2 },
      status: { phase: "Good" },
    }),
    apply("a1", "applies another kind", `${all}/applied`, {
      apiVersion: `${group}/v1`,
      kind: "Other",
      spec: { size: 2 },
    }),
    apply("a3", "applies in an old version", `${older}/applied`, {
      apiVersion: `${group}/v1beta1`,
      kind: "Widget",
      spec: { size: 2, on: true },
    }),

    post("creates with a finalizer", all, widget("held", {}, {}, { finalizers: ["a.io/x"] })),
    remove("deletes with a finalizer", `${all}/held`),
    patch("merge", "releases", `${all}/held`, { metadata: { finalizers: [] } }),
    remove("deletes", one),
    remove("deletes one that is not there", one),
    remove("deletes a collection", all, undefined, { query: { fieldSelector: "metadata.name=old" } }),
    get(
      "watches",
      all,
      { watch: "1", fieldSelector: "metadata.name=applied" },
      {
        watch: {
          events: 2,
          during: [patch("merge", "changes what is watched", `${all}/applied`, { spec: { size: 3 } })],
        },
      },
    ),
    get(
      "watches as a table",
      all,
      { watch: "1", fieldSelector: "metadata.name=applied" },
      { accept: tables, view: withoutProseOfName, watch: { events: 1 } },
    ),
    get(
      "watches with initial events",
      all,
      {
        watch: "1",
        fieldSelector: "metadata.name=applied",
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: "true",
      },
      { watch: { events: 2 } },
    ),
    get(
      "asks for its OpenAPI document",
      `/openapi/v3/apis/${group}/v1`,
      {},
      {
        until: { status: 200 },
        view: (body) => {
          const document = body as { paths: object; components: { schemas: object } };
          return {
            paths: Object.keys(document.paths).sort(),
            schemas: Object.keys(document.components.schemas).sort(),
          };
        },
      },
    ),
    post("creates one that stays", all, widget("stays", {}, {}, { finalizers: ["a.io/x"] })),
    remove("deletes the definition", `${crds}/widgets.${group}`),
    get(
      "waits until it is terminating",
      `${crds}/widgets.${group}`,
      {},
      {
        until: { status: 200, path: "status.conditions.2.reason", is: "InstanceDeletionInProgress" },
        view: (body) =>
          ((body as { status: { conditions: Json[] } }).status.conditions as Fields[]).map(
            ({ type, status, reason }) => ({ type, status, reason }) as Json,
          ),
      },
    ),
    post("creates while it is terminating", all, widget("late")),
    patch(
      "merge",
      "lets the last one go",
      `${all}/stays`,
      { metadata: { finalizers: null } },
      { view: (body) => (body as { kind: Json }).kind },
    ),
    get("waits until the definition is gone", `${crds}/widgets.${group}`, {}, { until: { status: 404 } }),
    get("asks for what is no longer served", all, {}, { until: { status: 404 } }),
  ],
};
