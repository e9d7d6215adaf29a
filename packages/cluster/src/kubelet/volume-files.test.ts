import { describe, expect, it } from "vitest";
import type { ApiObject } from "../registry/index.ts";
import { containerEnvironment, resourceOf } from "./environment.ts";
import { type FileSources, mountedFiles, volumeFiles } from "./volume-files.ts";

const data = (name: string, values: Record<string, string>) =>
  ({ metadata: { name }, data: values }) as unknown as ApiObject;

const sources: FileSources = {
  addresses: { podIp: "10.1.1.1", hostIp: "10.0.0.1" },
  node: { cpu: "8", memory: "32Gi" },
  find: (plural, _, name) =>
    name === "none" ? undefined : data(name, plural === "secrets" ? { key: btoa("secret") } : { a: "1", b: "2" }),
  token: (_, audience) => `token for ${audience}`,
};

const container = { name: "c", resources: { limits: { cpu: "1250m", memory: "64Mi" }, requests: { cpu: "250m" } } };

const pod = (spec: object): ApiObject =>
  ({
    metadata: { name: "p", namespace: "default", labels: { app: "x" } },
    spec: { containers: [container], ...spec },
  }) as unknown as ApiObject;

const told = (files: ReturnType<typeof volumeFiles>) =>
  Object.fromEntries(
    [...files].map(([path, { bytes, mode }]) => [path, [new TextDecoder().decode(bytes), mode.toString(8)]]),
  );

describe("the files of a volume", () => {
  it("have the permissions of their volume, or their own", () => {
    const configMap = {
      name: "m",
      defaultMode: 0o400,
      items: [
        { key: "a", path: "x/a" },
        { key: "b", path: "b", mode: 0o600 },
      ],
    };
    expect(told(volumeFiles(pod({}), { configMap }, sources))).toEqual({ "x/a": ["1", "400"], b: ["2", "600"] });
    const grouped = pod({ securityContext: { fsGroup: 1001 } });
    expect(told(volumeFiles(grouped, { secret: { secretName: "s", defaultMode: 0o400 } }, sources))).toEqual({
      key: ["secret", "440"],
    });
  });

  it("come from several sources, some of which may be missing", () => {
    const projected = {
      defaultMode: 0o444,
      sources: [
        { configMap: { name: "none", optional: true } },
        { secret: { name: "s" } },
        { serviceAccountToken: { path: "token", audience: "me" } },
        { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
        { downwardAPI: { items: [{ path: "cpu", resourceFieldRef: { containerName: "c", resource: "limits.cpu" } }] } },
      ],
    };
    expect(told(volumeFiles(pod({}), { projected }, sources))).toEqual({
      key: ["secret", "444"],
      token: ["token for me", "444"],
      labels: ['app="x"', "444"],
      cpu: ["2", "444"],
    });
    expect(() => volumeFiles(pod({}), { configMap: { name: "none" } }, sources)).toThrow('configmap "none" not found');
  });

  it("are where the container mounts them, or a part of them", () => {
    const volumes = [
      {
        name: "v",
        configMap: {
          name: "m",
          items: [
            { key: "a", path: "d/a" },
            { key: "b", path: "b" },
          ],
        },
      },
    ];
    const volumeMounts = [
      { name: "v", mountPath: "/etc/v/" },
      { name: "v", mountPath: "/one", subPath: "b" },
      { name: "v", mountPath: "/part", subPathExpr: "$(PART)" },
    ];
    const files = mountedFiles(pod({ volumes }), { ...container, volumeMounts }, { PART: "d" }, sources);
    expect([...files.keys()].sort()).toEqual(["/etc/v/b", "/etc/v/d/a", "/one", "/part/a"]);
  });
});

describe("amounts that a container is told", () => {
  const amount = (resource: string, divisor?: string) => resourceOf(container, { resource, divisor }, sources.node);

  it("count how often the divisor fits, rounded up", () => {
    expect([amount("limits.cpu"), amount("limits.cpu", "1m"), amount("requests.cpu")]).toEqual(["2", "1250", "1"]);
    expect([amount("limits.memory"), amount("limits.memory", "1Mi")]).toEqual(["67108864", "64"]);
  });

  it("are the node's where the container has no limit", () => {
    const from = (resource: string) => ({ name: resource, valueFrom: { resourceFieldRef: { resource } } });
    const bare = { name: "bare", env: [from("limits.cpu"), from("requests.memory")] };
    expect(containerEnvironment(pod({}), bare, sources.addresses, {}, sources.find, sources.node)).toEqual({
      "limits.cpu": "8",
      "requests.memory": "0",
    });
  });
});
