import { expect, test } from "vitest";
import { Mask } from "./mask.ts";

const UID = "11111111-2222-3333-4444-555555555555";
const NEXT = "11111111-2222-3333-4444-666666666666";
const owner = (uid: string) => ({
  apiVersion: "example.com/v1",
  kind: "Shop",
  metadata: { name: "one", namespace: "default", uid },
});

test("a uid stands for its object, and for a former one when that is gone", () => {
  const mask = new Mask();
  mask.created("shops.example.com", owner(UID));
  expect(mask.text(`shop ${UID}`)).toBe("shop <uid of shops.example.com default one>");
  mask.deleted(UID);
  mask.created("shops.example.com", owner(NEXT));
  expect(mask.value({ old: UID, now: NEXT })).toEqual({
    old: "<uid of a former shops.example.com default one>",
    now: "<uid of shops.example.com default one>",
  });
  expect(mask.text("99999999-2222-3333-4444-555555555555")).toBe("<uuid>");
});

test("generated names are the same in each run, wherever they stand", () => {
  const mask = new Mask();
  mask.created("configmaps", { metadata: { name: "rate-x7k2p", generateName: "rate-", uid: UID } });
  expect(mask.value({ status: { child: "rate-x7k2p" }, text: "made rate-x7k2p now" })).toEqual({
    status: { child: "rate-*" },
    text: "made rate-* now",
  });
});

test("times, versions, addresses and the framework's own notes are left out", () => {
  const masked = new Mask().object({
    apiVersion: "example.com/v1",
    kind: "Shop",
    metadata: {
      name: "one",
      uid: UID,
      resourceVersion: "7",
      generation: 3,
      annotations: { "shops.lotse.dev/state": "{}", color: "blue" },
      finalizers: ["shops.lotse.dev/finalizer", "example.com/keep"],
    },
    status: {
      lotse: { shops: {} },
      seenAt: "2026-01-01T00:00:00Z",
      address: "10.0.0.7",
      observedGeneration: 3,
      conditions: [
        { type: "Ready", status: "True" },
        { type: "Open", status: "True", observedGeneration: 2 },
        { type: "Reconciling", status: "True" },
      ],
    },
  } as never);
  expect(masked).toEqual({
    apiVersion: "example.com/v1",
    kind: "Shop",
    metadata: { annotations: { color: "blue" }, finalizers: ["example.com/keep"] },
    status: {
      address: "<address>",
      observedGeneration: "<newest>",
      conditions: [
        { type: "Open", status: "True", observedGeneration: "<behind>" },
        { type: "Ready", status: "True" },
      ],
    },
  });
});
