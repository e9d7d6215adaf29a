import { ConfigMap, Deployment, type KindDescription, Secret } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { shows } from "./compare.ts";
import { asStored, sameIn } from "./stored.ts";

const CUSTOM = { ...ConfigMap.description, group: "example.com", kind: "Thing" } as KindDescription;

describe("a manifest as the server stores it", () => {
  it("has the texts of a Secret in base64, over what is there in base64 already", () => {
    const manifest = {
      apiVersion: "v1",
      kind: "Secret",
      data: { a: "eA==", b: "eQ==" },
      stringData: { a: "ä", c: "" },
    };
    expect(asStored(manifest)).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      data: { a: "w6Q=", b: "eQ==", c: "" },
    });
  });

  it("is the manifest itself where there is nothing to do", () => {
    for (const manifest of [
      { apiVersion: "v1", kind: "Secret", data: { a: "eA==" } },
      { apiVersion: "example.com/v1", kind: "Secret", stringData: { a: "x" } },
      { apiVersion: "v1", kind: "ConfigMap", data: { a: "x" } },
    ]) {
      expect(asStored(manifest)).toBe(manifest);
    }
  });

  it("leaves what is no text to the server", () => {
    const manifest = { apiVersion: "v1", kind: "Secret", stringData: { a: 1 } };
    expect(asStored(manifest)).toEqual({ apiVersion: "v1", kind: "Secret", data: { a: 1 } });
  });
});

describe("amounts", () => {
  const resources = (cpu: unknown, memory: unknown) => ({
    spec: { containers: [{ resources: { requests: { cpu, memory } } }] },
  });

  it.each([
    [resources("500m", "1Gi"), resources("0.5", "1024Mi"), true],
    [resources("1", "1Gi"), resources(1, 1073741824), true],
    [resources("501m", "1Gi"), resources("0.5", "1Gi"), false],
    [resources("much", "1Gi"), resources("0.5", "1Gi"), false],
    [resources(true, "1Gi"), resources("1", "1Gi"), false],
    [{ spec: { hard: { pods: "1k" } } }, { spec: { hard: { pods: "1000" } } }, true],
    [{ spec: { capacity: { storage: "1Gi" } } }, { spec: { capacity: { storage: "1024Mi" } } }, true],
    [
      { spec: { volumes: [{ emptyDir: { sizeLimit: "1Gi" } }] } },
      { spec: { volumes: [{ emptyDir: { sizeLimit: "1024Mi" } }] } },
      true,
    ],
    [{ spec: { target: { averageValue: "500m" } } }, { spec: { target: { averageValue: "0.5" } } }, true],
    [{ data: { sizeLimit: "1Gi" } }, { data: { sizeLimit: "1024Mi" } }, false],
    [{ metadata: { labels: { cpu: "1" } } }, { metadata: { labels: { cpu: "1000m" } } }, false],
    [{ spec: { env: [{ value: "1" }] } }, { spec: { env: [{ value: "1000m" }] } }, false],
  ])("%j for %j: %s", (live, wanted, same) => {
    expect(shows(live, wanted, sameIn(Deployment.description))).toBe(same);
    expect(shows(live, wanted, sameIn(Secret.description))).toBe(same);
  });

  it("of other kinds are texts, for the server keeps them as they are", () => {
    expect(shows(resources("500m", "1Gi"), resources("0.5", "1Gi"), sameIn(CUSTOM))).toBe(false);
  });
});
