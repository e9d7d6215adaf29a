import { describe, expect, it } from "vitest";
import { normalForm } from "./normal-form.ts";
import { lens, map } from "./test-builders.ts";

describe("what of an object is compared", () => {
  it("is what somebody wants or says, without versions, names, bookkeeping and what is empty", () => {
    const body = map({ a: "1" }, "kubectl", {
      generation: 3,
      labels: { "kubernetes.io/metadata.name": "one" },
      annotations: { own: "x", "boxes.lotse.dev/state": "{}" },
      finalizers: ["boxes.lotse.dev/finalizer", "others/finalizer"],
      ownerReferences: [{ apiVersion: "v1", kind: "Box", name: "b", uid: "u", controller: true }],
    });
    expect(normalForm(body, lens(["boxes.lotse.dev/finalizer"]))).toEqual({
      metadata: {
        annotations: { own: "x" },
        finalizers: ["others/finalizer"],
        ownerReferences: [{ kind: "Box", name: "b", uid: "u" }],
      },
      data: { a: "1" },
    });
  });

  it("has no times of conditions, and an observed generation only where it is out of date", () => {
    const status = (observedGeneration: number) => ({
      ...map({}, "x", { generation: 2 }),
      status: {
        observedGeneration,
        conditions: [{ type: "Ready", status: "True", lastTransitionTime: "now", observedGeneration }],
      },
    });
    expect(normalForm(status(2), lens()).status).toEqual({ conditions: [{ type: "Ready", status: "True" }] });
    expect(normalForm(status(1), lens()).status).toMatchObject({ observedGeneration: 1 });
  });

  it("has the names that the version that works has given, as words of a text alone", () => {
    const own = lens();
    own.aliases.add("one-abcde", "one-12345");
    own.aliases.add(undefined, "x");
    const body = map({ child: "made one-abcde.", other: "one-abcdef" });
    expect(normalForm(body, own).data).toEqual({ child: "made one-12345.", other: "one-abcdef" });
  });
});
