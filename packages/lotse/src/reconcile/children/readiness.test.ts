import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { readinessOf } from "./readiness.ts";

type Case = [apiVersion: string, kind: string, rest: object, text: string];

const condition = (type: string, status = "True", more: object = {}) => ({ conditions: [{ type, status, ...more }] });
const observed = (generation: number, observedGeneration: number) => ({
  metadata: { generation },
  status: { observedGeneration },
});

/** One line for people: whether it is ready, whether it failed, and why. */
function tell(apiVersion: string, kind: string, rest: object): string {
  const { ready, failed, message } = readinessOf({ apiVersion, kind, ...rest } as KubeBody);
  return `${ready ? "ready" : failed ? "failed" : "not ready"}: ${message}`;
}

describe("readiness", () => {
  it.each<Case>([
    ["v1", "ConfigMap", {}, "ready: it is there"],
    ["v1", "ConfigMap", { metadata: { deletionTimestamp: "now" } }, "not ready: it is being deleted"],
    ["example.com/v1", "Thing", {}, "ready: it is there"],
    ["example.com/v1", "Thing", observed(2, 1), "not ready: generation 2 has not been observed yet"],
    ["example.com/v1", "Thing", observed(2, 2), "ready: it is there"],
    ["example.com/v1", "Thing", { status: condition("Ready") }, "ready: it is ready"],
    ["example.com/v1", "Thing", { status: condition("Ready", "True", { message: "fine" }) }, "ready: fine"],
    ["example.com/v1", "Thing", { status: condition("Ready", "False", { reason: "Waiting" }) }, "not ready: Waiting"],
    [
      "example.com/v1",
      "Thing",
      { status: condition("Ready", "Unknown", { message: "who knows" }) },
      "not ready: who knows",
    ],
    ["example.com/v1", "Thing", { status: condition("Stalled", "True", { message: "broken" }) }, "failed: broken"],
    ["example.com/v1", "Thing", { status: condition("Reconciling", "True", { reason: "Busy" }) }, "not ready: Busy"],
    ["example.com/v1", "Thing", { status: { conditions: "none" } }, "ready: it is there"],
    // Not the built-in kind of this name.
    ["example.com/v1", "Pod", {}, "ready: it is there"],
    ["apps/v1", "Deployment", {}, "not ready: 0 of 1 updated"],
    ["apps/v1", "Deployment", { spec: { replicas: 0 } }, "ready: it is there"],
    [
      "apps/v1",
      "Deployment",
      { spec: { replicas: 2 }, status: { replicas: 3, updatedReplicas: 2, availableReplicas: 2 } },
      "not ready: old replicas are still there",
    ],
    [
      "apps/v1",
      "Deployment",
      { spec: { replicas: 2 }, status: { replicas: 2, updatedReplicas: 2, availableReplicas: 1 } },
      "not ready: 1 of 2 available",
    ],
    [
      "apps/v1",
      "Deployment",
      { spec: { replicas: 1 }, status: { replicas: 2, updatedReplicas: 2, availableReplicas: 2 } },
      "not ready: 2 updated, 1 wanted",
    ],
    [
      "apps/v1",
      "Deployment",
      { spec: { replicas: 2 }, status: { replicas: 2, updatedReplicas: 2, availableReplicas: 2 } },
      "ready: it is there",
    ],
    [
      "apps/v1",
      "Deployment",
      { status: condition("Progressing", "False", { reason: "ProgressDeadlineExceeded" }) },
      "failed: its progress deadline is over",
    ],
    [
      "apps/v1",
      "ReplicaSet",
      { spec: { replicas: 3 }, status: { availableReplicas: 1 } },
      "not ready: 1 of 3 available",
    ],
    ["apps/v1", "ReplicaSet", { spec: { replicas: 3 }, status: { availableReplicas: 3 } }, "ready: it is there"],
    ["apps/v1", "StatefulSet", { spec: { replicas: 2 }, status: { readyReplicas: 1 } }, "not ready: 1 of 2 ready"],
    [
      "apps/v1",
      "StatefulSet",
      { spec: { replicas: 2 }, status: { readyReplicas: 2, updatedReplicas: 1 } },
      "not ready: 1 of 2 updated",
    ],
    ["apps/v1", "StatefulSet", { spec: { replicas: 2 }, status: { readyReplicas: 2 } }, "ready: it is there"],
    ["apps/v1", "DaemonSet", {}, "not ready: it has not been observed yet"],
    [
      "apps/v1",
      "DaemonSet",
      { status: { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 } },
      "not ready: 1 of 2 available",
    ],
    ["apps/v1", "DaemonSet", { status: { observedGeneration: 1 } }, "ready: it is there"],
    ["batch/v1", "Job", {}, "not ready: it is not complete"],
    ["batch/v1", "Job", { status: condition("Complete") }, "ready: it is complete"],
    [
      "batch/v1",
      "Job",
      { status: condition("Failed", "True", { message: "too often" }) },
      "failed: it failed: too often",
    ],
    ["v1", "Pod", { status: { phase: "Running" } }, "not ready: it is not ready"],
    ["v1", "Pod", { status: { phase: "Running", ...condition("Ready") } }, "ready: it is ready"],
    ["v1", "Pod", { status: { phase: "Succeeded" } }, "ready: it has succeeded"],
    ["v1", "Pod", { status: { phase: "Failed" } }, "failed: it has failed"],
    ["v1", "PersistentVolumeClaim", { status: { phase: "Pending" } }, "not ready: it is not bound"],
    ["v1", "PersistentVolumeClaim", { status: { phase: "Bound" } }, "ready: it is bound"],
    ["v1", "Service", { spec: { type: "ClusterIP" } }, "ready: it is there"],
    ["v1", "Service", { spec: { type: "LoadBalancer" } }, "not ready: it has no address yet"],
    [
      "v1",
      "Service",
      { spec: { type: "LoadBalancer" }, status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } },
      "ready: it has an address",
    ],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, "not ready: it is not established"],
    [
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinition",
      { status: condition("Established") },
      "ready: it is established",
    ],
  ])("of %s %s %j is %s", (apiVersion, kind, rest, text) => {
    expect(tell(apiVersion, kind, rest)).toBe(text);
  });
});
