import { ConfigMap, type KindClass, Pod } from "@lotse/client";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { AdmissionOperation, UserInfo } from "./admission-context.ts";
import { Declarations } from "./declarations.ts";
import { AdmissionError, PermanentError } from "./errors.ts";
import { resource } from "./resource.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number(), owner: z.object({ name: z.string() }).optional() }),
  status: z.object({ phase: z.string().optional() }),
});

describe("a handler of requests", () => {
  it("is called for creations and updates of the object itself unless it says otherwise", () => {
    const operator = new Declarations();
    operator.on.validate(Machine, function check() {});
    operator.on.mutate(
      Machine,
      { operations: ["DELETE"], subresource: "*", timeout: "2500ms", order: 3 },
      function fill() {},
    );
    const [{ resource, handlers }] = operator.admission as [(typeof operator.admission)[0]];
    expect(resource).toBe(Machine);
    expect(handlers).toMatchObject([
      {
        type: "validate",
        id: "check",
        operations: ["CREATE", "UPDATE"],
        subresource: undefined,
        ignoreFailures: false,
        sideEffects: false,
        persistent: undefined,
        timeoutSeconds: 10,
        order: 0,
      },
      { type: "mutate", id: "fill", operations: ["DELETE"], subresource: "*", timeoutSeconds: 3, order: 3 },
    ]);
    expect(handlers[0]?.sourceLocation).toMatch(/admission\.test\.ts:\d+$/);
  });

  it("is no reason to watch its kind, and its kind is known nevertheless", () => {
    const operator = new Declarations();
    operator.on.validate(Machine, function check() {});
    operator.policy(Pod, { rules: [{ expression: "true" }] });
    expect(operator.resources).toEqual([]);
    operator.on.create(Machine, function make() {});
    expect(operator.kinds).toEqual([Machine, Pod]);
  });

  it.each<[string, (operator: Declarations) => void, string, string]>([
    [
      "two with one name",
      (operator) => {
        operator.on.validate(Machine, { id: "check" }, () => {});
        operator.on.mutate(Machine, { id: "check" }, () => {});
      },
      'handler id "check" is used twice for machines.v1.machines.example.com (first at declare/admission.test.ts:',
      'name one of them with { id: "…" }',
    ],
    [
      "one with the name of a handler of changes",
      (operator) => {
        operator.on.create(Machine, { id: "check" }, () => {});
        operator.on.validate(Machine, { id: "check" }, () => {});
      },
      'handler id "check" is used twice for machines.v1.machines.example.com',
      'name one of them with { id: "…" }',
    ],
    [
      "an operation that there is not",
      (operator) => operator.on.validate(Machine, { operations: ["create" as "CREATE"] }, () => {}),
      '"create" is no operation of on.validate',
      "the operations are CREATE, UPDATE, DELETE, CONNECT",
    ],
    [
      "no operation at all",
      (operator) => operator.on.validate(Machine, { operations: [] }, () => {}),
      "on.validate without an operation is never called",
      'write { operations: ["CREATE"] }',
    ],
    [
      "a timeout that no API server waits for",
      (operator) => operator.on.mutate(Machine, { timeout: "1m" }, () => {}),
      "the timeout of on.mutate has to be from 1 to 30 seconds, and not 60",
      "an API server waits no longer; do what takes longer in on.create or on.update",
    ],
    [
      "an option of another sort of handler",
      (operator) => operator.on.validate(Machine, { retries: 3 } as object, () => {}),
      'on.validate has no option "retries"',
      "its options are id, param, labels",
    ],
    [
      "an id that no path can have",
      (operator) => operator.on.validate(Machine, { id: "../check" }, () => {}),
      'the id "../check" cannot be part of a path',
      "use letters, digits and dashes",
    ],
    [
      "namespaces that contradict each other",
      (operator) => operator.on.validate(Machine, { namespaces: ["a", "!b"] }, () => {}),
      "the namespaces of on.validate name some, and all but some",
      "who is named is judged",
    ],
    [
      "two conditions with one name",
      (operator) =>
        operator.on.validate(
          Machine,
          {
            matchConditions: [
              { name: "x", expression: "true" },
              { name: "x", expression: "false" },
            ],
          },
          () => {},
        ),
      'two match conditions are called "x"',
      "give one another name",
    ],
  ])("is refused where it is declared: %s", (_, declare, message, hint) => {
    const operator = new Declarations();
    const attempt = () => declare(operator);
    expect(attempt).toThrow(expect.objectContaining({ code: "LOTSE_DECLARATION" }));
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
  });
});

describe("a policy", () => {
  it("has an id of its own", () => {
    const operator = new Declarations();
    operator.policy(Machine, { rules: [{ expression: "object.spec.size < 10" }] });
    operator.policy(Machine, { rules: [{ expression: "object.spec.size > 1" }] });
    operator.policy(Machine, { id: "named", mutate: [{ apply: "Object{}" }], enforce: "warn" });
    expect(operator.policies.map(({ id, enforce }) => [id, enforce])).toEqual([
      ["policy-1", "deny"],
      ["policy-2", "deny"],
      ["named", "warn"],
    ]);
  });

  it.each<[string, Parameters<Declarations["policy"]>[1], string]>([
    ["without rules", {}, "a policy without rules does nothing"],
    ["with an empty rule", { rules: [{ expression: " " }] }, "a rule of a policy needs an expression"],
    [
      "with a message of two lines",
      { rules: [{ expression: "true", message: "a\nb" }] },
      "the message of a rule has to be one line",
    ],
    [
      "that nobody would notice",
      { rules: [{ expression: "true" }], enforce: "none" },
      'a policy with { enforce: "none" } and no audit does nothing',
    ],
    [
      "for labels that only a program could compare",
      { rules: [{ expression: "true" }], labels: { tier: /gold/ } },
      'the API server cannot compare the label "tier" with a function or a pattern',
    ],
    [
      "whose params could be anything",
      { rules: [{ expression: "true" }], params: { kind: ConfigMap } },
      "the params of a policy need a name or labels",
    ],
    ["with an option that there is not", { rule: [] } as object, 'policy has no option "rule"'],
  ])("is refused where it is declared: %s", (_, options, message) => {
    expect(() => new Declarations().policy(Machine, options)).toThrow(message);
  });

  it("cannot share its id with a handler of its kind", () => {
    const operator = new Declarations();
    operator.on.validate(Machine, { id: "size" }, () => {});
    const declare = () => operator.policy(Machine, { id: "size", rules: [{ expression: "true" }] });
    expect(declare).toThrow(/policy id "size" is used twice for machines\.v1\.machines\.example\.com \(first at /);
  });
});

describe("an AdmissionError", () => {
  it("is permanent, and has a status that fits", () => {
    const plain = new AdmissionError("no");
    expect(plain).toBeInstanceOf(PermanentError);
    expect([plain.status, plain.reason, plain.causes]).toEqual([403, undefined, []]);
    expect(new AdmissionError("no", { causes: [{ message: "too large" }] }).status).toBe(422);
    expect(new AdmissionError("no", { code: 409, reason: "Conflict" })).toMatchObject({
      status: 409,
      reason: "Conflict",
    });
    expect(() => new AdmissionError("no", { code: 200 })).toThrow(
      "the code of an AdmissionError is an HTTP status from 400 to 599, and not 200",
    );
  });
});

describe("a conversion beside the handlers", () => {
  const Gizmo = resource({
    group: "machines.example.com",
    kind: "Gizmo",
    versions: {
      v1beta1: { spec: z.object({ small: z.number() }) },
      v1: { spec: z.object({ size: z.number() }), storage: true },
    },
    convert: "on.convert",
  });
  const there = { to: () => ({ spec: { size: 1 } }), from: () => ({ spec: { small: 1 } }) };

  it("is kept by kind and version, with the types of both", () => {
    const operator = new Declarations();
    operator.on.convert(Gizmo, "v1beta1", {
      to: ({ spec }) => {
        expectTypeOf(spec.small).toEqualTypeOf<number>();
        return { spec: { size: spec.small } };
      },
      from: ({ spec }) => {
        expectTypeOf(spec.size).toEqualTypeOf<number>();
        return { spec: { small: spec.size } };
      },
    });
    expect([...(operator.conversions.get(Gizmo as never)?.keys() ?? [])]).toEqual(["v1beta1"]);
    expect(operator.kinds).toEqual([Gizmo]);
    // @ts-expect-error: what is kept has a size
    const wrong = () => operator.on.convert(Gizmo, "v1beta1", { ...there, to: () => ({ spec: { small: 1 } }) });
    expect(wrong).toThrow("the conversion of Gizmo v1beta1 is declared twice");
  });

  it.each<[string, (operator: Declarations) => void, string]>([
    [
      "a version that there is not",
      (operator) => operator.on.convert(Gizmo, "v2" as "v1", there as never),
      'Gizmo has no version "v2"',
    ],
    [
      "the version that is kept",
      (operator) => operator.on.convert(Gizmo, "v1", there as never),
      "Gizmo is kept as v1, which needs no conversion",
    ],
    [
      "half of it",
      (operator) => operator.on.convert(Gizmo, "v1beta1", { to: there.to } as never),
      "the conversion of Gizmo v1beta1 needs two functions",
    ],
  ])("is refused where it is declared: %s", (_, declare, message) => {
    expect(() => declare(new Declarations())).toThrow(message);
  });
});

describe("the types of a handler of requests", () => {
  it("follow from the class", () => {
    const operator = new Declarations();
    operator.on.validate(Machine, function check(context) {
      expectTypeOf(context.spec.size).toEqualTypeOf<number>();
      expectTypeOf(context.old?.spec.size).toEqualTypeOf<number | undefined>();
      expectTypeOf(context.new?.spec.owner?.name).toEqualTypeOf<string | undefined>();
      expectTypeOf(context.object).toEqualTypeOf<InstanceType<typeof Machine>>();
      expectTypeOf(context.operation).toEqualTypeOf<AdmissionOperation>();
      expectTypeOf(context.userInfo).toEqualTypeOf<UserInfo>();
      expectTypeOf(context.warn).toEqualTypeOf<(text: string) => void>();
      // @ts-expect-error: only on.mutate changes objects
      context.patch;
      // @ts-expect-error: what is given is not to be changed
      context.spec.size = 1;
    });
    operator.on.mutate(Machine, { field: "spec.owner.name", operations: ["CREATE"] }, function fill({ patch }) {
      patch.spec.size = 3;
      patch.metadata.labels.tier = "gold";
      patch.spec.owner = null;
      patch.transform((body) => expectTypeOf(body.spec.size).toEqualTypeOf<number>());
      // @ts-expect-error: machines have no colour
      patch.spec.colour = "red";
    });
    operator.on.validate("pods", function any({ spec }) {
      expectTypeOf(spec.anything).toEqualTypeOf<unknown>();
    });
    // @ts-expect-error: there is no such field
    operator.on.validate(Machine, { field: "spec.colour" }, function wrong() {});
    const neither = () => {
      // @ts-expect-error: there is no such operation
      operator.on.validate(Machine, { operations: ["PATCH"] }, function never() {});
    };
    expect(neither).toThrow('"PATCH" is no operation of on.validate');
  });

  it("take params of policies by class or by name", () => {
    const kinds: Parameters<Declarations["policy"]>[1]["params"][] = [
      { kind: ConfigMap as KindClass, name: "limits" },
      { kind: { apiVersion: "v1", kind: "ConfigMap" }, labels: { limits: "yes" } },
    ];
    expect(kinds).toHaveLength(2);
  });
});
