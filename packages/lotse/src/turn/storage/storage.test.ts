import type { KubeBody } from "@lotse/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonical, digestOf, type Essence, essenceOf } from "../essence.ts";
import { withAnnotations, withStatus } from "../fields.ts";
import { recordAnnotation } from "../record.ts";
import { thing } from "../test-builders.ts";
import { kopf } from "./kopf.ts";
import type { KopfOptions } from "./kopf-places.ts";
import { annotationStorage, statusStorage } from "./own.ts";
import type { RecordStorage } from "./storage.ts";
import { bodies, HANDLERS, json, type Remembered, runs, storageContract } from "./test-contract.ts";

const reason = fc.constantFrom("create", "update", "resume", "delete");

/** Anything that the engine can remember. */
const anything = fc.record({
  body: bodies,
  record: fc.record(
    {
      uid: fc.constant("u1"),
      handled: fc.string(),
      base: fc.string(),
      open: fc.record(
        { reason, digest: fc.string(), essence: fc.string(), only: fc.subarray([...HANDLERS]) },
        { requiredKeys: ["reason", "digest"] },
      ),
      runs,
      failed: fc.dictionary(
        fc.constantFrom(...HANDLERS),
        fc.record({ reason, saw: fc.string(), message: fc.string() }),
      ),
    },
    { requiredKeys: ["uid"] },
  ),
}) as fc.Arbitrary<Remembered>;

/** What Kopf's form has a place for: see the comment of its module. */
const inKopfsForm = (storage: RecordStorage) =>
  fc
    .record({
      body: bodies,
      base: fc.option(json, { nil: undefined }),
      reason: fc.option(reason, { nil: undefined }),
      runs,
    })
    .filter(({ base, reason }) => base !== undefined || reason === "create" || reason === "delete")
    .map(({ body, base, reason, runs }): Remembered => {
      const handled = base === undefined ? undefined : packed({ spec: base });
      // A handler of ours that has finished may not have seen what is there now.
      const begun = reason === "create" && Object.values(runs).every(({ outcome }) => outcome === undefined);
      const opened = handled ?? packed(begun ? storage.clear(essenceOf(body)) : {});
      return {
        // A deletion mark stays; the contract writes one record after another on the same body.
        body: { ...body, metadata: { ...body.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
        record: {
          uid: "u1",
          ...(handled && { handled: handled.digest, base: handled.essence }),
          ...(reason !== undefined && { open: { reason: reason as "create", ...opened }, runs }),
        },
      };
    });

function packed(essence: Essence): { digest: string; essence: string } {
  return { digest: digestOf(essence), essence: `j${canonical(essence)}` };
}

storageContract("statusStorage", () => ({
  storage: statusStorage("shop"),
  other: statusStorage("depot"),
  remembered: anything,
  damage: (body) => withStatus(body, ["lotse", "shop"], { handled: 1 }),
  copied: "foreign",
}));

storageContract("annotationStorage", () => ({
  storage: annotationStorage("shop"),
  other: annotationStorage("depot"),
  remembered: anything,
  damage: (body) => withAnnotations(body, { [recordAnnotation("shop")]: "{" }),
  copied: "foreign",
}));

describe("a record in an annotation", () => {
  const storage = annotationStorage("shop");
  const record = { uid: "u1", handled: "mine" };
  const theirs = JSON.stringify({ uid: "u2", handled: "theirs" });
  const annotationsOf = (body: KubeBody) => body.metadata?.annotations;

  it("lies under one key for everybody who reads objects", () => {
    expect(annotationsOf(storage.write(thing(), record, []))).toEqual({
      "shop.lotse.dev/state": JSON.stringify(record),
    });
  });

  it("is laid beside a copy of another object's, which is neither believed nor overwritten", () => {
    const copied = thing({}, { annotations: { "shop.lotse.dev/state": theirs } });
    expect(storage.read(copied, [])).toEqual({ type: "foreign" });
    const written = storage.write(copied, record, []);
    expect(annotationsOf(written)).toEqual({
      "shop.lotse.dev/state": theirs,
      "shop.lotse.dev/state-u1": JSON.stringify(record),
    });
    expect(storage.read(written, [])).toEqual({ type: "found", record });
  });

  it("has the uid in its key from the start where an owner may copy its own annotations", () => {
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "u2", controller: true }];
    const owned = storage.write(thing({}, { ownerReferences }), record, []);
    expect(annotationsOf(owned)).toEqual({ "shop.lotse.dev/state-u1": JSON.stringify(record) });
    const copied = withAnnotations(owned, { "shop.lotse.dev/state": theirs });
    expect(storage.read(copied, [])).toEqual({ type: "found", record });
    expect(storage.write(copied, record, [])).toEqual(copied);
  });

  it("is taken off under both keys", () => {
    const both = thing(
      {},
      { annotations: { "shop.lotse.dev/state": theirs, "shop.lotse.dev/state-u1": "x", mine: "y" } },
    );
    expect(annotationsOf(storage.write(both, undefined, []))).toEqual({ mine: "y" });
  });
});

// Kopf keeps no uid: what came to an object by a copy counts for it, there and here.
const variants: [string, KopfOptions, (body: KubeBody) => KubeBody][] = [
  ["kopf()", {}, (body) => withAnnotations(body, { "kopf.zalando.org/last-handled-configuration": "{" })],
  [
    "kopf() with an own prefix in annotations alone",
    { prefix: "shop.example.com", progress: "annotations", verbose: true, v1: false },
    (body) => withAnnotations(body, { "shop.example.com/last-handled-configuration": "[1]" }),
  ],
  [
    "kopf() with its progress in the status",
    { progress: "status" },
    (body) => withAnnotations(body, { "kopf.zalando.org/last-handled-configuration": "7" }),
  ],
  [
    "kopf() with everything in the status",
    { progress: "status", diffBase: "status", statusName: "shop" },
    (body) => withStatus(body, ["shop", "last-handled-configuration"], "{{"),
  ],
];
for (const [name, options, damage] of variants) {
  storageContract(name, () => {
    const storage = kopf(options);
    return {
      storage,
      other: kopf({
        prefix: "depot.example.com",
        statusName: "depot",
        ...(options.progress && { progress: options.progress }),
      }),
      remembered: inKopfsForm(storage),
      damage,
      copied: "found",
    };
  });
}

describe("Lotse's own storages", () => {
  it("write what has always been written", () => {
    const record = { uid: "u1", handled: "abc" };
    expect(statusStorage("shop").write(thing(), record, [])).toEqual({
      ...thing(),
      status: { lotse: { shop: record } },
    });
    expect(annotationStorage("shop").write(thing(), record, [])).toEqual(
      thing({}, { annotations: { "shop.lotse.dev/state": JSON.stringify(record) } }),
    );
  });

  it("go by their place, and keep essences only where handlers ask for them", () => {
    expect(statusStorage("shop")).toMatchObject({ place: "status", finalizer: "shop.lotse.dev/finalizer" });
    expect(annotationStorage("shop")).toMatchObject({ place: "annotation", finalizer: "shop.lotse.dev/finalizer" });
    expect(statusStorage("shop").needsEssence).toBeUndefined();
  });

  it("keep records out of an essence that has a status", () => {
    const essence = { spec: {}, status: { phase: "Ready", lotse: { shop: {}, depot: {} } } };
    expect(statusStorage("shop").clear(essence)).toEqual({ spec: {}, status: { phase: "Ready" } });
    expect(annotationStorage("shop").clear({ status: { lotse: {} } })).toEqual({});
  });
});
