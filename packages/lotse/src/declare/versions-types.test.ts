import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { Declarations } from "./declarations.ts";
import { resource } from "./resource.ts";

const names = { group: "rates.example.com", kind: "Rate" } as const;

/** Names may come from elsewhere, the version among them. */
const VERSIONED = { group: "rates.example.com", version: "v1" } as const;

const Spread = resource({
  ...VERSIONED,
  kind: "Spread",
  spec: z.object({ size: z.int() }),
  status: z.object({ big: z.boolean().optional() }),
  columns: [
    { name: "Size", type: "integer", path: ".spec.size" },
    { name: "Big", type: "boolean", path: ".status.big" },
  ],
});

const Rate = resource({
  ...names,
  versions: {
    v1beta1: {
      spec: z.object({ cur: z.string(), amount: z.number().default(1) }),
      status: z.object({ rate: z.string().optional() }),
      columns: [{ name: "Rate", type: "string", path: ".status.rate" }],
      deprecated: "use v1",
    },
    v1: {
      spec: z.object({ currency: z.string(), replicas: z.int().default(1) }),
      status: z.object({ rate: z.number().optional(), replicas: z.int().optional() }),
      columns: [
        { name: "Rate", type: "number", path: ".status.rate" },
        { name: "Ready", type: "string", path: '.status.conditions[?(@.type=="Ready")].status' },
        { name: "Tier", type: "string", path: ".metadata.labels.example\\.com/tier" },
      ],
      scale: { spec: ".spec.replicas", status: ".status.replicas" },
      selectableFields: [".spec.currency"],
      storage: true,
    },
  },
  convert: {
    v1beta1: {
      to: (old) => {
        expectTypeOf(old.spec.cur).toEqualTypeOf<string>();
        expectTypeOf(old.spec.amount).toEqualTypeOf<number>();
        expectTypeOf(old.status?.rate).toEqualTypeOf<string | undefined>();
        return { spec: { currency: old.spec.cur, replicas: 1 }, status: { rate: Number(old.status?.rate ?? 0) } };
      },
      from: (stored) => {
        expectTypeOf(stored.spec.currency).toEqualTypeOf<string>();
        return { spec: { cur: stored.spec.currency, amount: 1 } };
      },
    },
  },
});

describe("the types of a kind with versions", () => {
  it("are those of the storage version, and of another by its name", () => {
    expectTypeOf<(typeof Rate.Spec)["currency"]>().toEqualTypeOf<string>();
    const Old = Rate.version("v1beta1");
    expectTypeOf<typeof Old.Spec>().toEqualTypeOf<{ cur: string; amount: number }>();
    expectTypeOf(new Old({ spec: { cur: "EUR" } }).spec.amount).toEqualTypeOf<number>();
    expectTypeOf(Old.version("v1")).toEqualTypeOf<typeof Rate>();
    // @ts-expect-error: there is no such version
    const nope = () => Rate.version("nope");
    expectTypeOf(nope).toBeFunction();
  });

  it("reach the handlers", () => {
    const { on } = new Declarations();
    on.create(Rate, { id: "new" }, ({ spec }) => {
      expectTypeOf(spec.currency).toEqualTypeOf<string>();
    });
    on.create(Rate.version("v1beta1"), { id: "old" }, ({ spec, status }) => {
      expectTypeOf(spec.cur).toEqualTypeOf<string>();
      expectTypeOf(status.rate).toEqualTypeOf<string | undefined>();
    });
  });

  it("follow `handles`", () => {
    const make = () =>
      resource({
        ...names,
        versions: {
          v1alpha1: { spec: z.object({ a: z.string() }) },
          v1: { spec: z.object({ b: z.string() }), storage: true },
        },
        convert: "on.convert",
        handles: "v1alpha1",
      });
    expectTypeOf<ReturnType<typeof make>["Spec"]>().toEqualTypeOf<{ a: string }>();
    const one = () => resource({ ...names, versions: { v1: { spec: z.object({ b: z.string() }) } } });
    expectTypeOf<ReturnType<typeof one>["Spec"]>().toEqualTypeOf<{ b: string }>();
  });
});

describe("the short form", () => {
  it("has one version, under the name that it has", () => {
    expectTypeOf<typeof Spread.Spec>().toEqualTypeOf<{ size: number }>();
    expectTypeOf(Spread.version).parameter(0).toEqualTypeOf<"v1">();
    expectTypeOf(Spread.version("v1")).toEqualTypeOf<typeof Spread>();
  });
});

describe("what does not compile", () => {
  const spec = z.object({ size: z.int(), name: z.string() });
  it("is told by these", () => {
    const wrong = () => {
      resource({
        ...names,
        version: "v1",
        spec,
        // @ts-expect-error: there is no such path
        columns: [{ name: "Size", type: "integer", path: ".spec.sise" }],
      });
      resource({
        ...names,
        version: "v1",
        spec,
        // @ts-expect-error: a path begins with a dot
        selectableFields: ["spec.name"],
      });
      resource({
        ...names,
        version: "v1",
        spec,
        // @ts-expect-error: there is no such path
        scale: { spec: ".spec.replicas", status: ".status.replicas" },
      });
      resource({
        ...names,
        versions: {
          v1: {
            spec,
            // @ts-expect-error: there is no such path
            columns: [{ name: "Size", type: "integer", path: ".spec.sise" }],
          },
        },
      });
      resource({
        ...names,
        versions: {
          v1: {
            spec,
            // @ts-expect-error: there is no such option
            colums: [],
          },
        },
      });
      resource({
        ...names,
        versions: { v1: { spec } },
        // @ts-expect-error: there is no such version
        handles: "v2",
      });
      resource({
        ...names,
        versions: { v1alpha1: { spec: z.object({ a: z.string() }) }, v1: { spec, storage: true } },
        convert: {
          v1alpha1: {
            // @ts-expect-error: that is not the stored form
            to: (old) => ({ spec: { size: old.spec.a } }),
            from: () => ({ spec: { a: "" } }),
          },
        },
      });
      resource({
        ...names,
        versions: { v1alpha1: { spec: z.object({ a: z.string() }) }, v1: { spec, storage: true } },
        // @ts-expect-error: the storage version needs no conversion
        convert: { v1: { to: () => ({}), from: () => ({}) } },
      });
    };
    expectTypeOf(wrong).toBeFunction();
  });
});
