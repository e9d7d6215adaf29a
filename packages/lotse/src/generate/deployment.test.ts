import { describe, expect, it } from "vitest";
import { deploymentManifest, terminationSeconds } from "./deployment.ts";

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
