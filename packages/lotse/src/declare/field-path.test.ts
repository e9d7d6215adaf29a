import { CustomResourceDefinition, Deployment, Pod } from "@lotse/client";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { Declarations } from "./declarations.ts";
import { resource } from "./resource.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({
    size: z.number(),
    tags: z.array(z.object({ name: z.string() })).optional(),
    owner: z.object({ name: z.string() }).optional(),
    limits: z.record(z.string(), z.number()).optional(),
    extra: z.unknown(),
    drive: z
      .discriminatedUnion("by", [
        z.object({ by: z.literal("coal"), tons: z.number() }),
        z.object({ by: z.literal("wind"), sails: z.string() }),
      ])
      .optional(),
  }),
  status: z.object({ phase: z.string().optional() }),
});

describe("a path to a field", () => {
  const operator = new Declarations();

  it("that the kind does not have does not compile, whatever the handler", () => {
    const wrong = () => {
      // @ts-expect-error: a machine has a size
      operator.on.field(Machine, { field: "spec.sise" }, function f() {});
      // @ts-expect-error: as a list of keys, too
      operator.on.field(Machine, { field: ["spec", "sise"] }, function f() {});
      // @ts-expect-error: a machine has a size
      operator.on.update(Machine, { field: "spec.sise" }, function f() {});
      // @ts-expect-error: a machine has a size
      operator.on(["create", "update"], Machine, { field: "spec.sise" }, function f() {});
      // @ts-expect-error: a machine has a size
      operator.on.event(Machine, { field: "spec.sise" }, function f() {});
      // @ts-expect-error: a machine has a size
      operator.timer(Machine, { field: "spec.sise", interval: "1h" }, function f() {});
      // @ts-expect-error: a machine has a size
      operator.daemon(Machine, { field: "spec.sise" }, function f() {});
      // @ts-expect-error: a machine has a size
      operator.index(Machine, { field: "spec.sise" }, function f() {});
      // @ts-expect-error: a machine has a size
      operator.reconcile(Machine, { field: "spec.sise" }, function f() {});
      // @ts-expect-error: a machine has a size
      operator.children(Machine, { field: "spec.sise" }, () => []);
      // @ts-expect-error: there is a spec at the top
      operator.on.field(Machine, { field: "sepc.size" }, function f() {});
      // @ts-expect-error: the status has a phase
      operator.on.field(Machine, { field: "status.fase" }, function f() {});
      // @ts-expect-error: nothing is below a number
      operator.on.field(Machine, { field: "spec.size.unit" }, function f() {});
      // @ts-expect-error: no path leads into a list
      operator.on.field(Machine, { field: "spec.tags.0.name" }, function f() {});
      // @ts-expect-error: the dots of a key make another path: it takes a list
      operator.on.field(Machine, { field: "metadata.labels.example.com/tier" }, function f() {});
    };
    expectTypeOf(wrong).toBeFunction();
  });

  it("that the kind has compiles, and gives the handler its type", () => {
    const right = () => {
      operator.on.field(Machine, { field: "spec.size" }, function f({ old, new: now }) {
        expectTypeOf(old).toEqualTypeOf<number | undefined>();
        expectTypeOf(now).toEqualTypeOf<number | undefined>();
      });
      operator.on.field(Machine, { field: ["spec", "owner", "name"] }, function f({ new: now }) {
        expectTypeOf(now).toEqualTypeOf<string | undefined>();
      });
      operator.on.field(Machine, { field: "spec.drive.tons" }, function f({ new: now }) {
        expectTypeOf(now).toEqualTypeOf<number | undefined>();
      });
      operator.on.field(Machine, { field: ["metadata", "labels", "example.com/tier"] }, function f({ new: now }) {
        expectTypeOf(now).toEqualTypeOf<string | undefined>();
      });
      operator.on.field(Machine, { field: "status.conditions" }, function f() {});
      operator.timer(
        Machine,
        { field: "spec.size", value: 3, when: ({ spec }) => spec.size > 2 },
        function f({ spec }) {
          expectTypeOf(spec.size).toEqualTypeOf<number>();
        },
      );
    };
    expectTypeOf(right).toBeFunction();
  });

  it("is free below what may be anything, in records, and for kinds that are only named", () => {
    const right = (path: string, keys: readonly string[]) => {
      operator.on.field(Machine, { field: "spec.extra.whatever.is.there" }, function f({ new: now }) {
        expectTypeOf(now).toBeUnknown();
      });
      operator.on.field(Machine, { field: "spec.limits.speed" }, function f({ new: now }) {
        expectTypeOf(now).toEqualTypeOf<number | undefined>();
      });
      operator.on.field("machines.example.com", { field: "spec.sise" }, function f() {});
      operator.on.field(Machine, { field: path }, function f() {});
      operator.on.field(Machine, { field: keys }, function f() {});
      operator.on.field(Machine, { field: `spec.${path}` }, function f() {});
    };
    expectTypeOf(right).toBeFunction();
  });

  it("may be deep, and the type that it leads through may be large or recursive", () => {
    const deep = () => {
      operator.on.field(Pod, { field: "spec.securityContext.seLinuxOptions.level" }, function f({ new: now }) {
        expectTypeOf(now).toEqualTypeOf<string | undefined>();
      });
      // @ts-expect-error: there is no such field, four levels down
      operator.on.field(Pod, { field: "spec.securityContext.seLinuxOptions.lvl" }, function f() {});
      operator.on.field(
        Deployment,
        {
          field:
            "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
        },
        function f({ new: now }) {
          expectTypeOf(now?.[0]?.matchFields?.[0]?.key).toEqualTypeOf<string | undefined>();
        },
      );
      operator.on.field(CustomResourceDefinition, { field: "status.acceptedNames.plural" }, function f() {});
    };
    expectTypeOf(deep).toBeFunction();
  });

  it("leads through a PodSpec inside of an own kind", () => {
    const Worker = resource({
      group: "machines.example.com",
      version: "v1",
      kind: "Worker",
      spec: z.object({ template: z.looseObject({}) as unknown as z.ZodType<Pod["spec"]> }),
    });
    const deep = () => {
      operator.on.field(Worker, { field: "spec.template.dnsConfig.options" }, function f() {});
      // @ts-expect-error: there is no such field
      operator.on.field(Worker, { field: "spec.template.dnsConfig.opts" }, function f() {});
      operator.on.create(Worker, function f({ patch }) {
        patch.spec.template = { containers: [{ name: "a", image: "b" }] };
      });
    };
    expectTypeOf(deep).toBeFunction();
  });
});
