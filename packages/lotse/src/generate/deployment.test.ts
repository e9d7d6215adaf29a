import { describe, expect, it } from "vitest";
import { deploymentManifest, networkPolicyManifest, terminationSeconds } from "./deployment.ts";

describe("the time that Kubernetes gives a deployed operator to stop", () => {
  it.each([
    ["is the usual one for the usual operator", 15_000, 30],
    ["is never shorter than the usual one", 1_000, 30],
    ["is longer than what the operator may take", 125_000, 130],
    ["is in whole seconds", 40_001, 46],
  ])("%s", (_what, stopMs, seconds) => {
    expect(terminationSeconds(stopMs)).toBe(seconds);
    const made = deploymentManifest({
      name: "op",
      namespace: "default",
      image: "op:1",
      serves: undefined,
      bringsDefinitions: false,
      stopMs,
    });
    expect(made).toMatchObject({ spec: { template: { spec: { terminationGracePeriodSeconds: seconds } } } });
  });
});

describe("a deployed operator", () => {
  const input = { name: "op", namespace: "ops", image: "op:1", serves: undefined, bringsDefinitions: false, stopMs: 1 };

  it("serves health to the kubelet, and answers questions inside its pod alone", () => {
    expect(deploymentManifest(input)).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                env: [
                  { name: "POD_NAME" },
                  { name: "POD_NAMESPACE" },
                  { name: "LOTSE_RUN_LIVENESS", value: "http://0.0.0.0:8080/healthz" },
                  { name: "LOTSE_RUN_EXPLAIN", value: "http://127.0.0.1:8081" },
                ],
                ports: [{ name: "health", containerPort: 8080 }],
              },
            ],
          },
        },
      },
    });
  });

  it("can be reached by a policy of the network at the port of health and metrics only, and reaches what it likes", () => {
    expect(networkPolicyManifest(input)).toEqual({
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: {
        name: "op",
        namespace: "ops",
        labels: { "app.kubernetes.io/name": "op", "app.kubernetes.io/managed-by": "lotse" },
      },
      spec: {
        podSelector: { matchLabels: { "app.kubernetes.io/name": "op" } },
        policyTypes: ["Ingress"],
        ingress: [{ ports: [{ port: 8080, protocol: "TCP" }] }],
      },
    });
  });
});
