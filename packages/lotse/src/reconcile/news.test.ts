import type { KubeBody } from "@lotse/client";
import { applyMergePatch, deepClone, type JsonObject } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Contribution } from "../turn/index.ts";
import { newsFor } from "./news.ts";

const SAW: KubeBody = {
  metadata: { name: "one", uid: "u", resourceVersion: "1", generation: 1, labels: { team: "a" } },
  spec: { size: 1 },
  status: { v: 1, conditions: [{ type: "Ready", status: "True", reason: "Up", message: "", lastTransitionTime: "t" }] },
} as KubeBody;

const part = (handler: string, more: Partial<Contribution>): Contribution => ({
  handler,
  type: "change",
  changes: undefined,
  transforms: [],
  conditions: undefined,
  ...more,
});
const wants = (handler: string, changes: JsonObject, type: Contribution["type"] = "change") =>
  part(handler, { changes, type });

/** What the server answers when it keeps everything as it was wanted. */
function answer(by: readonly Contribution[], more: JsonObject = {}): KubeBody {
  let body: KubeBody = { ...SAW, metadata: { ...SAW.metadata, resourceVersion: "2" } };
  for (const { changes } of by) if (changes) body = applyMergePatch(body, changes);
  body = deepClone(body);
  for (const { transforms } of by) for (const transform of transforms) transform(body);
  return applyMergePatch(body, more);
}

const news = (by: readonly Contribution[], more: JsonObject = {}) => newsFor("look", SAW, answer(by, more), by);

describe("what a reconciler has not seen of a write", () => {
  it.each<[what: string, by: Contribution[], more?: JsonObject]>([
    ["its own changes", [wants("look", { status: { v: 2 } })]],
    ["those of its cleanup", [wants("look/onDelete", { status: { v: 2 } })]],
    ["the record", [], { status: { lotse: { op: { digest: "x" } } } }],
    ["finalizers", [], { metadata: { finalizers: ["op.lotse.dev/finalizer"] } }],
    ["what the framework says of it", [wants("look", { status: { v: 2 } })], { status: { observedGeneration: 2 } }],
    ["what somebody wants that is so already", [wants("other", { status: { v: 1 }, spec: { size: 1 } })]],
    ["what somebody takes away that is not there", [wants("other", { status: { gone: null } })]],
    ["what the server did not keep", [wants("other", { status: { odd: 1 } })], { status: { odd: null } }],
    [
      "what the server made of its own changes",
      [wants("look", { spec: { cpu: "0.5" } }), wants("other", { status: { v: 1 } })],
      { spec: { cpu: "500m" } },
    ],
    [
      "a field in which it had the last word",
      [wants("other", { status: { v: 2 } }), wants("look", { status: { v: 3 } })],
    ],
    [
      "a condition of which it speaks itself",
      [
        part("look", { conditions: { set: [{ type: "Ready", status: false, reason: "Own" }], remove: [] } }),
        part("other", { conditions: { set: [{ type: "Ready", status: false, reason: "Own" }], remove: [] } }),
      ],
      { status: { conditions: [] } },
    ],
  ])("is not %s", (_, by, more) => {
    expect(news(by, more)).toBeUndefined();
  });

  it.each<[what: string, by: Contribution[], fields: string[], more?: JsonObject]>([
    ["a status field of a handler", [wants("other", { status: { v: 2 } })], ["status.v"]],
    ["a result", [wants("other", { status: { other: { id: 7 } } })], ["status.other.id"]],
    ["a label", [wants("other", { metadata: { labels: { team: "b" } } })], ["metadata.labels.team"]],
    ["an annotation", [wants("other", { metadata: { annotations: { a: "b" } } })], ["metadata.annotations.a"]],
    ["the spec", [wants("other", { spec: { size: 2 } })], ["spec.size"]],
    ["what somebody took away", [wants("other", { status: { v: null } })], ["status.v"]],
    [
      "what a transformation did",
      [
        part("other", {
          transforms: [(body) => Object.assign(body.spec as object, { size: 3 })],
        }),
      ],
      ["spec.size"],
    ],
    [
      "a field in which somebody else had the last word",
      [wants("look", { status: { v: 3 } }), wants("other", { status: { v: 2 } })],
      ["status.v"],
    ],
    [
      "what it wanted itself and somebody else took back",
      [wants("look", { status: { w: 3 } }), wants("other", { status: { w: null } })],
      ["status.w"],
    ],
    [
      "the others' part of a write that it has a part in",
      [wants("look", { status: { own: 1 } }), wants("other", { status: { v: 2 } })],
      ["status.v"],
    ],
    [
      "a condition of a handler",
      [part("other", { conditions: { set: [{ type: "Ready", status: false, reason: "Down" }], remove: [] } })],
      ["condition Ready"],
      { status: { conditions: [{ type: "Ready", status: "False", reason: "Down", message: "" }] } },
    ],
    [
      "a condition that a handler took away",
      [part("other", { conditions: { set: [], remove: ["Ready"] } })],
      ["condition Ready"],
      { status: { conditions: [] } },
    ],
  ])("is %s", (_, by, fields, more) => {
    expect(news(by, more)).toMatchObject({ fields, by: ["other"] });
  });

  it("names those who did it, and whether they were reconcilers alone", () => {
    const timer = wants("tick", { status: { t: 1 } }, "timer");
    const peer = wants("peer", { status: { p: 1 } }, "reconcile");
    const idle = wants("idle", { status: { v: 1 } }, "change");
    expect(news([timer, peer, idle])).toMatchObject({ by: ["tick", "peer"], peers: false });
    expect(news([peer, idle])).toMatchObject({ by: ["peer"], peers: true });
  });

  it("is told apart from the rest for those who look at some changes only", () => {
    const own = wants("look", { spec: { size: 5 }, status: { own: 1 } });
    const status = news([own, wants("other", { status: { v: 2 } })], { metadata: { generation: 2 } });
    expect(status?.before()).toMatchObject({
      metadata: { generation: 2, resourceVersion: "1" },
      spec: { size: 5 },
      status: { own: 1, v: 1 },
    });
    const spec = news([own, wants("other", { spec: { colour: "red" } })], { metadata: { generation: 2 } });
    expect(spec?.before()).toMatchObject({ metadata: { generation: 1 }, spec: { size: 5 }, status: { own: 1, v: 1 } });
    expect(spec?.before().spec).not.toHaveProperty("colour");
    const set = [{ type: "Ready", status: false, reason: "Down" } as const];
    const said = news([part("other", { conditions: { set, remove: [] } })], { status: { conditions: [] } });
    expect(said?.before().status).toEqual(SAW.status);
  });

  const value = fc.constantFrom<JsonObject[string]>(1, 2, "x", null, { a: 1 }, { a: 2, b: 1 }, [1], [1, 2]);
  const patch = fc.dictionary(fc.constantFrom("v", "w", "x"), value, { maxKeys: 3, noNullPrototype: true });

  it("is nothing exactly when the write is what its own part alone comes to", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), patch), { maxLength: 4 }), (list) => {
        const by = list.map(([own, status]) => wants(own ? "look" : "other", { status }));
        const mine = by.filter(({ handler }) => handler === "look");
        const written = answer(by);
        const found = newsFor("look", SAW, written, by);
        if (found === undefined) {
          // Whatever another one wanted, at its fields the object is as this one alone would have left it.
          expect(written.status).toEqual(answer(mine).status);
        } else {
          expect(found.fields.length).toBeGreaterThan(0);
          expect(found.before().status).not.toEqual(written.status);
        }
      }),
    );
  });
});
