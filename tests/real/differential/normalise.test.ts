import { describe, expect, it } from "vitest";
import { compare, complaints } from "./compare.ts";
import { normalise } from "./normalise.ts";
import type { Json, Step } from "./script.ts";

const uid = (digit: number) => `${digit}1111111-1111-4111-8111-111111111111`;

function transcript(steps: readonly (Partial<Step> & { body?: never; answer: Json; status?: number })[]) {
  const records = steps.map(({ answer, status = 200, ...step }, index) => ({
    step: { name: `step ${index + 1}`, path: "/", ...step },
    answer: { status, headers: {}, body: answer },
  }));
  return normalise(records, "https://127.0.0.1:4242");
}

const bodies = (steps: Parameters<typeof transcript>[0]) =>
  [...transcript(steps).steps.values()].map(({ body }) => body);

describe("normalise", () => {
  it("names a uid after the step that saw it first, and keeps equal ones equal", () => {
    const [first, second] = bodies([
      { answer: { metadata: { uid: uid(1) } } },
      { answer: { a: `uid ${uid(1)} is not ${uid(2)}` } },
    ]);
    expect(first).toEqual({ metadata: { uid: '<uid of "step 1">' } });
    expect(second).toEqual({ a: 'uid <uid of "step 1"> is not <uid of "step 2">' });
  });

  it("gives the versions of two servers the same names, whatever their numbers are", () => {
    const play = (offset: number) => [
      { answer: { metadata: { resourceVersion: String(10 + offset) } } },
      { answer: { metadata: { resourceVersion: String(20 + offset) } } },
    ];
    expect(transcript(play(0))).toEqual(transcript(play(500)));
  });

  it("tells a version that did not move from one that did", () => {
    const play = (second: string) => [
      { answer: { metadata: { resourceVersion: "10" } } },
      { answer: { metadata: { resourceVersion: second } } },
    ];
    expect(bodies(play("10"))).not.toEqual(bodies(play("11")));
  });

  it("keeps the order in which versions were made", () => {
    const play = (first: string, second: string) =>
      transcript([
        { answer: { metadata: { resourceVersion: first } } },
        { answer: { metadata: { resourceVersion: second } } },
      ]).history;
    expect(play("10", "11")).not.toEqual(play("11", "10"));
  });

  it("replaces a version inside a sentence, and leaves other numbers alone", () => {
    const [, message] = bodies([
      { answer: { metadata: { resourceVersion: "17" } } },
      { answer: { message: "record (17) does not match 17 nor (18)" } },
    ]);
    expect(message).toEqual({ message: 'record (<version of "step 1">) does not match 17 nor (18)' });
  });

  it("does not compare the revision of a list", () => {
    const play = (resourceVersion: string) =>
      bodies([{ answer: { kind: "ConfigMapList", metadata: { resourceVersion }, items: [] } }]);
    expect(play("10")).toEqual(play("99"));
    expect(play("10")).not.toEqual(play(""));
  });

  it("tells seconds from fractions of a second", () => {
    const [times] = bodies([{ answer: { a: "2026-01-02T03:04:05Z", b: "2026-01-02T03:04:05.123456Z" } }]);
    expect(times).toEqual({ a: "<time>", b: "<time with 6 digits>" });
  });

  it("replaces the random end of a generated name", () => {
    const records = [
      {
        step: { name: "create", path: "/", body: { metadata: { generateName: "gen-" } } },
        answer: { status: 201, headers: {}, body: { metadata: { name: "gen-bcdfg", generateName: "gen-" } } },
      },
    ];
    expect(normalise(records, "https://h:1").steps.get("create")?.body).toEqual({
      metadata: { name: "gen-<generated>", generateName: "gen-" },
    });
  });

  it("shows errors as they are, whatever the step looks at", () => {
    const view = () => "nothing";
    expect(bodies([{ answer: { kind: "Status" }, status: 404, view }])).toEqual([{ kind: "Status" }]);
    expect(bodies([{ answer: { kind: "ConfigMap" }, view }])).toEqual(["nothing"]);
  });

  it("orders causes, in the sentence too, where their order means nothing", () => {
    const play = (fields: readonly string[]) =>
      bodies([
        {
          anyOrder: true,
          status: 422,
          answer: {
            message: `x is invalid: [${fields.map((field) => `${field}: wrong`).join(", ")}]`,
            details: { causes: fields.map((field) => ({ field, message: "wrong" })) },
          },
        },
      ]);
    expect(play(["a", "b"])).toEqual(play(["b", "a"]));
    expect(play(["a", "b"])).not.toEqual(play(["a", "c"]));
  });
});

describe("compare", () => {
  it("names the deepest place that differs", () => {
    expect(compare({ a: { b: [1, 2] } }, { a: { b: [1, 3] } })).toEqual([{ path: "a.b.1", embedded: 2, real: 3 }]);
  });

  it("finds what only one side has", () => {
    expect(compare({ a: 1 }, { b: 1 }).map(({ path }) => path)).toEqual(["b", "a"]);
  });

  it("does not look into objects of different kinds", () => {
    const [difference] = compare({ body: { kind: "A", x: 1 } }, { body: { kind: "B", y: 1 } });
    expect(difference?.path).toBe("body");
  });
});

describe("complaints", () => {
  const differences = compare({ body: { a: 1, b: 1 } }, { body: { a: 2, b: 2 } });
  const accept = (...at: string[]) => ({ script: "s", step: "t", at, reason: "r" });

  it("are silent about what is accepted and nothing else", () => {
    expect(complaints(differences, accept("body"))).toEqual([]);
    expect(complaints(differences, accept("body.a", "body.b"))).toEqual([]);
    expect(complaints(differences, accept("body.a"))).toHaveLength(1);
  });

  it("tell when an accepted difference is gone", () => {
    expect(complaints([], accept("body.a"))).toEqual([expect.stringContaining("no longer deviates")]);
    expect(complaints([], { script: "s", step: "t", reason: "r" })).toHaveLength(1);
  });
});
