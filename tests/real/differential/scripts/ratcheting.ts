import type { Json, Script, Step } from "../script.ts";
import { headersOnly } from "../views.ts";
import { patch, post, put } from "./requests.ts";

type Fields = { readonly [key: string]: Json };

const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ALL = "/apis/ratchet.example.com/v1/namespaces/{{ns}}/gauges";
const text = { type: "string" };
const number = { type: "integer" };

const definition = (spec: Fields, more: Fields = {}): Json => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gauges.ratchet.example.com" },
  spec: {
    group: "ratchet.example.com",
    scope: "Namespaced",
    names: { plural: "gauges", kind: "Gauge" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", ...more, properties: spec },
              status: { type: "object", properties: { phase: text } },
            },
          },
        },
      },
    ],
  },
});

const named = { type: "object", properties: { name: text, size: number }, required: ["name"] };
const loose: Fields = {
  mode: text,
  size: number,
  note: text,
  other: text,
  plain: { type: "array", items: text },
  set: { type: "array", "x-kubernetes-list-type": "set", items: text },
  map: { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], items: named },
  nested: { type: "object", properties: { a: text, b: text } },
  table: { type: "object", additionalProperties: number },
};
const tight: Fields = {
  mode: { ...text, enum: ["A", "B"] },
  size: { ...number, maximum: 10 },
  note: { ...text, pattern: "^[a-z]+$" },
  other: { ...text, maxLength: 3, "x-kubernetes-validations": [{ rule: "self.startsWith('x')" }] },
  plain: { type: "array", maxItems: 4, items: { ...text, maxLength: 2 } },
  set: { type: "array", "x-kubernetes-list-type": "set", items: { ...text, maxLength: 2 } },
  map: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: {
      ...named,
      properties: {
        name: text,
        size: { ...number, maximum: 10, "x-kubernetes-validations": [{ rule: "self != 11" }] },
      },
      "x-kubernetes-validations": [{ rule: "self.size < 10", message: "too large" }],
    },
  },
  nested: {
    type: "object",
    required: ["c"],
    properties: { a: text, b: text, c: text },
    "x-kubernetes-validations": [
      { rule: "self.a != self.b", message: "alike" },
      { rule: "self.a == oldSelf.a", message: "a stays" },
    ],
  },
  table: { type: "object", additionalProperties: { ...number, minimum: 5 } },
};

const wrong: Fields = {
  mode: "C",
  size: 11,
  note: "LOUD",
  other: "long text",
  plain: ["long", "text"],
  set: ["long", "text"],
  map: [
    { name: "a", size: 11 },
    { name: "b", size: 12 },
  ],
  nested: { a: "1", b: "1" },
  table: { one: 1, two: 2 },
};

const gauge = (spec: Fields): Json => ({
  apiVersion: "ratchet.example.com/v1",
  kind: "Gauge",
  metadata: { name: "g" },
  spec,
});
const change = (name: string, spec: Fields): Step =>
  patch("merge", name, `${ALL}/g`, { spec }, { query: { dryRun: "All" } });

/** Rules are checked in the order of Go maps. */
const inAnyOrder = (steps: readonly Step[]): Step[] => steps.map((step) => ({ ...step, anyOrder: true }));

/** Schemas that become stricter than the objects that are there: what does not change is forgiven. */
export const ratcheting: Script = {
  title: "ratcheting",
  namespace: "ratcheting",
  steps: inAnyOrder([
    post("defines a loose kind", CRD, definition(loose), { view: headersOnly }),
    { name: "waits for the kind", path: ALL, until: { status: 200 }, view: headersOnly },
    post("makes an object", ALL, gauge(wrong)),
    patch(
      "merge",
      "makes the kind strict",
      `${CRD}/gauges.ratchet.example.com`,
      {
        spec: (definition({ ...tight, more: text }, { maxProperties: 12 }) as { spec: Json }).spec,
      },
      { view: headersOnly },
    ),
    {
      name: "waits until it is strict",
      method: "POST",
      path: ALL,
      query: { dryRun: "All" },
      body: { ...(gauge({ mode: "C" }) as Fields), metadata: { name: "probe" } },
      until: { status: 422 },
      view: headersOnly,
    },
    post("makes another one", ALL, { ...(gauge(wrong) as Fields), metadata: { name: "h" } }),
    patch("merge", "labels it", `${ALL}/g`, { metadata: { labels: { a: "b" } } }),
    change("adds something right", { more: "x" }),
    change("changes the mode to a right one", { mode: "A" }),
    change("changes the mode to a wrong one", { mode: "D" }),
    change("changes the size to a wrong one", { size: 12 }),
    change("changes the note", { note: "LOUDER" }),
    change("changes the other one", { other: "still long" }),
    change("turns a plain list around", { plain: ["text", "long"] }),
    change("adds to a plain list", { plain: ["long", "text", "x"] }),
    change("turns a set around", { set: ["text", "long"] }),
    change("adds to a set", { set: ["long", "text", "x"] }),
    change("turns a map around", {
      map: [
        { name: "b", size: 12 },
        { name: "a", size: 11 },
      ],
    }),
    change("changes an item of a map", {
      map: [
        { name: "a", size: 11 },
        { name: "b", size: 13 },
      ],
    }),
    change("puts an item of a map right", {
      map: [
        { name: "a", size: 11 },
        { name: "b", size: 3 },
      ],
    }),
    change("adds a wrong item to a map", {
      map: [
        { name: "a", size: 11 },
        { name: "b", size: 12 },
        { name: "c", size: 11 },
      ],
    }),
    change("changes b in the nested one", { nested: { b: "2" } }),
    change("changes a in the nested one", { nested: { a: "2" } }),
    change("adds what the nested one must have", { nested: { c: "3" } }),
    change("adds a small number to the table", { table: { three: 3 } }),
    change("adds a large number to the table", { table: { five: 5 } }),
    change("changes a small number in the table", { table: { one: 2 } }),
    change("removes a wrong one", { note: null }),
    patch("merge", "tells the status", `${ALL}/g/status`, { status: { phase: "ok" } }),
    put("replaces it by itself without a version", `${ALL}/g`, gauge(wrong)),
    {
      name: "applies something right",
      method: "PATCH",
      path: `${ALL}/g`,
      query: { fieldManager: "m", dryRun: "All" },
      contentType: "application/apply-patch+yaml",
      body: gauge({ more: "y" }),
    },
  ]),
};
