import { describe, expect, it } from "vitest";
import { apiVersionOf, describeKind, type KindDescription, pathOf } from "./description.ts";
import { findKinds, nearestNames } from "./names.ts";

const kinds: KindDescription[] = [
  describeKind({ group: "", version: "v1", kind: "Pod", shortNames: ["po"] }),
  describeKind({ group: "", version: "v1", kind: "Event", shortNames: ["ev"] }),
  describeKind({ group: "", version: "v1", kind: "Node", namespaced: false, shortNames: ["no"] }),
  describeKind({ group: "apps", version: "v1", kind: "Deployment", shortNames: ["deploy"] }),
  describeKind({ group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler", shortNames: ["hpa"] }),
  describeKind({ group: "autoscaling", version: "v1", kind: "HorizontalPodAutoscaler", shortNames: ["hpa"] }),
  describeKind({ group: "events.k8s.io", version: "v1", kind: "Event", shortNames: ["ev"] }),
  describeKind({ group: "metrics.k8s.io", version: "v1beta1", kind: "PodMetrics", plural: "pods", singular: "" }),
  describeKind({ group: "v1.example.com", version: "v1", kind: "Odd" }),
  describeKind({ group: "example.com", version: "v1", kind: "Po", shortNames: [] }),
];

const first = (text: string) => {
  const found = findKinds(kinds, text)[0];
  return found && `${apiVersionOf(found)} ${found.kind}`;
};

describe("findKinds", () => {
  it.each([
    ["deploy", "apps/v1 Deployment"],
    ["deployment", "apps/v1 Deployment"],
    ["deployments", "apps/v1 Deployment"],
    ["Deployment", "apps/v1 Deployment"],
    ["DEPLOYMENTS", "apps/v1 Deployment"],
    ["deployments.apps", "apps/v1 Deployment"],
    ["deployment.v1.apps", "apps/v1 Deployment"],
    ["deploy.v1.apps", "apps/v1 Deployment"],
    ["deployments.apps/v1", "apps/v1 Deployment"],
    ["apps/v1/deployments", "apps/v1 Deployment"],
    ["apps/v1/Deployment", "apps/v1 Deployment"],
    ["v1/pods", "v1 Pod"],
    ["pods.v1", "v1 Pod"],
    ["pods.v1.", "v1 Pod"],
    ["pods.metrics.k8s.io", "metrics.k8s.io/v1beta1 PodMetrics"],
    ["hpa", "autoscaling/v2 HorizontalPodAutoscaler"],
    ["hpa.v1.autoscaling", "autoscaling/v1 HorizontalPodAutoscaler"],
    ["odds.v1.example.com", "v1.example.com/v1 Odd"],
  ])("reads %s as %s", (text, expected) => {
    expect(first(text)).toBe(expected);
  });

  it("prefers the core group, and gives the others after it", () => {
    expect(findKinds(kinds, "events").map(apiVersionOf)).toEqual(["v1", "events.k8s.io/v1"]);
  });

  it("prefers a full name to a short one", () => {
    expect(first("po")).toBe("example.com/v1 Po");
  });

  it.each(["", "deployments.batch", "apps/v2/deployments", "a/b/c/d", "deployments.v2.apps"])(
    "finds nothing for %j",
    (text) => {
      expect(findKinds(kinds, text)).toEqual([]);
    },
  );
});

describe("nearestNames", () => {
  it.each([
    ["deploymnet", ["deployments.apps"]],
    ["nod", ["nodes", "pods"]],
    ["Evnts", ["events", "events.events.k8s.io"]],
    ["hpx", ["horizontalpodautoscalers.autoscaling"]],
    ["certificates", []],
  ])("suggests for %s %j", (text, expected) => {
    expect(nearestNames(kinds, text)).toEqual(expected);
  });
});

describe("pathOf", () => {
  it.each(["", ".", "..", "a/b", "%2e%2e"])("refuses %j, which would lead to something else", (name) => {
    const pod = describeKind({ group: "", version: "v1", kind: "Pod" });
    expect(() => pathOf(pod, { namespace: "a", name })).toThrow(`${JSON.stringify(name)} cannot be the name of a Pod`);
    expect(() => pathOf(pod, { namespace: name, name: "b" })).toThrow("cannot be the name of a namespace");
  });

  const [pod, , node, deployment] = kinds as [KindDescription, KindDescription, KindDescription, KindDescription];

  it("builds the paths of collections, objects and subresources", () => {
    expect(pathOf(pod)).toBe("/api/v1/pods");
    expect(pathOf(pod, { namespace: "*" })).toBe("/api/v1/pods");
    expect(pathOf(pod, { namespace: "a", name: "b", subresource: "log" })).toBe("/api/v1/namespaces/a/pods/b/log");
    expect(pathOf(deployment, { namespace: "a" })).toBe("/apis/apps/v1/namespaces/a/deployments");
    expect(pathOf(node, { namespace: "ignored", name: "n" })).toBe("/api/v1/nodes/n");
  });

  it("lets no name break out of its place", () => {
    expect(pathOf(pod, { namespace: "a b", name: "x?y" })).toBe("/api/v1/namespaces/a%20b/pods/x%3Fy");
  });
});

describe("describeKind", () => {
  it.each([
    ["Policy", "policies"],
    ["Ingress", "ingresses"],
    ["Gateway", "gateways"],
    ["Box", "boxes"],
    ["Mesh", "meshes"],
    ["Widget", "widgets"],
  ])("derives from %s the plural %s", (kind, plural) => {
    expect(describeKind({ group: "g", version: "v1", kind })).toMatchObject({
      plural,
      singular: kind.toLowerCase(),
      namespaced: true,
    });
  });
});
