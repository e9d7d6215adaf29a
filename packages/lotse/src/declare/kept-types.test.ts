import { Pod } from "@lotse/client";
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { Declarations } from "./declarations.ts";
import { resource } from "./resource.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number(), owner: z.object({ name: z.string(), mail: z.string() }) }),
  status: z.object({ phase: z.string().optional() }),
});

it("an index function sees the fields that are kept, with their types, and no others", () => {
  const operator = new Declarations();
  operator.index(Machine, { id: "some", keep: ["spec.owner.name", "status.phase"] }, ({ spec, status, name, body }) => {
    expectTypeOf(spec.owner.name).toEqualTypeOf<string>();
    expectTypeOf(status.phase).toEqualTypeOf<string | undefined>();
    expectTypeOf(body.metadata?.uid).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: it is not kept
    void spec.size;
    // @ts-expect-error: it is not kept
    void spec.owner.mail;
    return { [spec.owner.name]: name };
  });
  operator.index(Pod, { id: "node", keep: ["spec.nodeName"] }, ({ spec, status, body, name }) => {
    expectTypeOf(spec.nodeName).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: it is not kept
    void spec.containers;
    // @ts-expect-error: it is not kept
    void status.phase;
    // @ts-expect-error: it is not kept
    void body.status?.phase;
    return { [spec.nodeName ?? ""]: name };
  });
  operator.index(Pod, { id: "none", keep: [] }, ({ spec, labels, name }) => {
    // @ts-expect-error: it is not kept
    void spec.nodeName;
    return { [labels.app ?? ""]: name };
  });
  expect(operator.resources).toHaveLength(2);
});

it("an index keeps the types of its keys and values", () => {
  const operator = new Declarations();
  const sizes = operator.index(
    Machine,
    { id: "sizes", keep: ["spec.size"] },
    ({ spec }) => new Map([[spec.size, true]]),
  );
  expectTypeOf<NonNullable<(typeof sizes)["~types"]>>().toEqualTypeOf<{
    readonly key: number;
    readonly value: boolean;
  }>();
});

it("a path that leads to no field does not compile", () => {
  const operator = new Declarations();
  // @ts-expect-error: it is called size
  operator.index(Machine, { id: "wrong", keep: ["spec.sise"] }, ({ name }) => name);
  operator.index("machines.machines.example.com", { id: "any", keep: ["spec.size"] }, ({ spec }) => `${spec.size}`);
  expect(operator.resources).toHaveLength(2);
});

it("without keep all is seen", () => {
  const operator = new Declarations();
  operator.index(Machine, { id: "all", field: "spec.size" }, ({ spec }) => {
    expectTypeOf(spec.owner.mail).toEqualTypeOf<string>();
    return spec.size;
  });
});
