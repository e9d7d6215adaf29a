import type { Json, Script } from "../script.ts";
import { definition } from "./definitions.ts";
import { apply, get, patch, post } from "./requests.ts";

type Fields = { readonly [key: string]: Json };
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "versions.diff.io";
const at = (version: string) => `/apis/${group}/${version}/namespaces/{{ns}}/boats`;
const autoscalers = (version: string) => `/apis/autoscaling/${version}/namespaces/{{ns}}/horizontalpodautoscalers`;

const schema: Json = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "string" },
        c: { type: "integer", default: 3 },
        replicas: { type: "integer" },
        list: { type: "array", items: { type: "string" } },
      },
    },
    status: { type: "object", properties: { phase: { type: "string" }, replicas: { type: "integer" } } },
  },
};
const version = (name: string, more: Fields = {}): Json => ({
  name,
  served: true,
  storage: name === "v2",
  schema: { openAPIV3Schema: schema },
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  selectableFields: [{ jsonPath: ".spec.a" }, { jsonPath: ".spec.c" }],
  ...more,
});
const boat = (name: string, of: string, more: Fields): Json => ({
  apiVersion: `${group}/${of}`,
  kind: "Boat",
  metadata: { name },
  ...more,
});
const hpa = (of: string, spec: Fields): Json => ({
  apiVersion: `autoscaling/${of}`,
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "h" },
  spec,
});
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };

/** One object in several versions: who owns what in which, and what each can select. */
export const versions: Script = {
  title: "versions",
  namespace: "diff-versions",
  steps: [
    post(
      "defines",
      crds,
      definition(group, "Boat", {}, {}, { versions: [version("v2"), version("v1"), version("v1beta1")] }),
    ),
    get("waits until it is served", at("v2"), {}, { until: { status: 200 } }),
    get("waits until its old version is served", at("v1"), {}, { until: { status: 200 } }),
    get("asks for its group", `/apis/${group}`, {}, { until: { status: 200 } }),
    apply("m1", "applies in the old version", `${at("v1")}/x`, boat("x", "v1", { spec: { a: "1", list: ["l"] } })),
    apply("m2", "applies in the new version", `${at("v2")}/x`, boat("x", "v2", { spec: { b: "2" } })),
    apply("m2", "conflicts over versions", `${at("v2")}/x`, boat("x", "v2", { spec: { a: "2", b: "2" } })),
    apply("m1", "applies the same in the new version", `${at("v2")}/x`, boat("x", "v2", { spec: { a: "1" } })),
    apply("m1", "applies less in the new version", `${at("v2")}/x`, boat("x", "v2", { spec: {} })),
    patch(
      "merge",
      "updates in the old version",
      `${at("v1")}/x`,
      { spec: { a: "u" } },
      { query: { fieldManager: "u" } },
    ),
    patch(
      "merge",
      "updates in the new version",
      `${at("v2")}/x`,
      { spec: { a: "v" } },
      { query: { fieldManager: "u" } },
    ),
    get("reads in the third version", `${at("v1beta1")}/x`),
    apply("m3", "applies the status", `${at("v1")}/x/status`, boat("x", "v1", { status: { phase: "Good" } })),
    patch("merge", "scales", `${at("v1")}/x/scale`, { spec: { replicas: 2 } }, { query: { fieldManager: "s" } }),
    apply("m4", "applies replicas over the scale", `${at("v2")}/x`, boat("x", "v2", { spec: { replicas: 3 } })),
    apply("m4", "forces replicas over the scale", `${at("v2")}/x`, boat("x", "v2", { spec: { replicas: 3 } }), {
      query: { force: "true" },
    }),
    patch("merge", "scales again", `${at("v2")}/x/scale`, { spec: { replicas: 4 } }, { query: { fieldManager: "s" } }),
    get("reads who owns what", `${at("v2")}/x`),
    post("creates another", at("v2"), boat("y", "v2", { spec: { a: "1", c: 5 } })),
    post("creates a third", at("v2"), boat("z", "v2", { spec: {} })),
    ...[
      "spec.a=1",
      "spec.a!=1",
      "spec.c=5",
      "spec.c=3",
      "spec.a=",
      "spec.a=1,spec.c=5",
      "spec.b=2",
      "status.phase=Good",
    ].map((fieldSelector) => get(`selects by ${fieldSelector}`, at("v2"), { fieldSelector })),
    get(
      "watches a selection",
      at("v2"),
      { watch: "1", fieldSelector: "spec.a=w", sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan" },
      {
        watch: {
          events: 2,
          during: [
            patch("merge", "enters the selection", `${at("v2")}/z`, { spec: { a: "w" } }),
            patch("merge", "leaves the selection", `${at("v2")}/z`, { spec: { a: "q" } }),
          ],
        },
      },
    ),
    patch("json", "stops serving a version", `${crds}/boats.${group}`, [
      { op: "replace", path: "/spec/versions/1/served", value: false },
    ]),
    get("waits until it is no longer served", at("v1"), {}, { until: { status: 404 } }),
    apply(
      "m5",
      "applies beside managers of a version that is gone",
      `${at("v2")}/x`,
      boat("x", "v2", { spec: { b: "2" } }),
    ),

    apply(
      "h1",
      "applies an autoscaler",
      `${autoscalers("v2")}/h`,
      hpa("v2", { maxReplicas: 3, scaleTargetRef: target }),
    ),
    get("reads it in its old version", `${autoscalers("v1")}/h`),
    apply(
      "h2",
      "applies it in its old version",
      `${autoscalers("v1")}/h`,
      hpa("v1", { maxReplicas: 3, scaleTargetRef: target, targetCPUUtilizationPercentage: 50 }),
    ),
    get("reads it in its new version", `${autoscalers("v2")}/h`),
    apply(
      "h2",
      "conflicts in its old version",
      `${autoscalers("v1")}/h`,
      hpa("v1", { maxReplicas: 4, scaleTargetRef: target }),
    ),
  ],
};
