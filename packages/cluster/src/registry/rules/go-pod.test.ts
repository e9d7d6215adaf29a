import { describe, expect, it } from "vitest";
import { goPodSpec, goPodTemplate } from "./go-pod.ts";
import { diffOf } from "./line-diff.ts";

const spec = { containers: [{ name: "c", image: "i:1" }], hostNetwork: true, nodeName: "n1" };

describe("a pod as the server prints it", () => {
  it("has every field under its own name, and what is absent as nothing", () => {
    expect(goPodSpec(spec)).toMatchObject({
      Volumes: null,
      Containers: [{ Name: "c", Image: "i:1", Command: null, Resources: { Limits: null }, TTY: false }],
      DNSPolicy: "",
      NodeName: "n1",
      SecurityContext: { HostNetwork: true, HostPID: false, RunAsUser: null },
    });
    expect(Object.keys(goPodSpec(spec)).slice(0, 3)).toEqual(["Volumes", "InitContainers", "Containers"]);
  });

  it("has the metadata of a template beside its spec", () => {
    expect(Object.keys(goPodTemplate({ metadata: { labels: { a: "b" } }, spec }))).toEqual(["labels", "Spec"]);
  });

  it("differs from another line by line, with three lines around", () => {
    // The words of kube-apiserver 1.36.3 for a pod whose node was changed.
    const moved = { ...spec, nodeName: "n3" };
    expect(diffOf(goPodSpec(spec), goPodSpec(moved))).toMatch(
      /^@@ -\d+,7 \+\d+,7 @@\n {2}"NodeSelector": null,\n {2}"ServiceAccountName": "",\n {2}"AutomountServiceAccountToken": null,\n- "NodeName": "n1",\n\+ "NodeName": "n3",\n {2}"SecurityContext": \{\n {3}"HostNetwork": true,\n {3}"HostPID": false,\n$/,
    );
  });
});

describe("the difference of two values", () => {
  it("is empty when there is none", () => {
    expect(diffOf({ a: 1 }, { a: 1 })).toBe("");
  });

  it("has changes that are far from each other apart", () => {
    const before = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i]));
    const told = diffOf(before, { ...before, k0: "x", k19: "y" });
    expect(told.match(/^@@ .* @@$/gm)).toEqual(["@@ -1,5 +1,5 @@", "@@ -18,5 +18,5 @@"]);
  });

  it("tells what came, and what went", () => {
    expect(diffOf(["a"], ["a", "b"])).toBe('@@ -1,3 +1,4 @@\n [\n- "a"\n+ "a",\n+ "b"\n ]\n');
  });
});
