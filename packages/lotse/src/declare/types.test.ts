import { type Client, Pod } from "@lotse/client";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Difference } from "./cause.ts";
import type { Condition } from "./context.ts";
import { Declarations } from "./declarations.ts";
import type { IndexView } from "./indexes.ts";
import { resource } from "./resource.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number(), tags: z.array(z.string()).optional(), owner: z.object({ name: z.string() }) }),
  status: z.object({ phase: z.string().optional() }),
});

const shopSpec = z.object({
  name: z.string(),
  size: z.number().default(10),
  shelves: z.array(z.object({ label: z.string(), boards: z.number().default(4) })).optional(),
});

const Shop = resource({
  group: "shops.example.com",
  version: "v1",
  kind: "Shop",
  spec: shopSpec,
  status: z.object({ address: z.string().optional() }),
});

describe("the types of an object of an own kind", () => {
  it("let fields with a default be left out where it is written, and have them where it is read", () => {
    const shop = new Shop({ metadata: { name: "corner" }, spec: { name: "Corner", shelves: [{ label: "tea" }] } });
    expectTypeOf(shop.spec.size).toEqualTypeOf<number>();
    expectTypeOf(shop.spec.shelves).toEqualTypeOf<{ label: string; boards: number }[] | undefined>();
    const made = Shop.gen({ name: "corner", spec: { name: "Corner" }, labels: { open: "yes" } });
    expectTypeOf(made).toEqualTypeOf<InstanceType<typeof Shop>>();
    expect(made.body).toMatchObject({ kind: "Shop", metadata: { name: "corner", labels: { open: "yes" } } });
    const write = async (client: Client) => {
      expectTypeOf((await client.create(new Shop({ spec: { name: "Corner" } }))).spec.size).toEqualTypeOf<number>();
      expectTypeOf((await client.apply(made)).spec.size).toEqualTypeOf<number>();
      expectTypeOf((await client.get(Shop, "corner")).spec.size).toEqualTypeOf<number>();
      expectTypeOf((await Shop.get("corner")).spec.size).toEqualTypeOf<number>();
      await client.patch(Shop, "corner", { spec: { shelves: [{ label: "tea" }] } });
      // @ts-expect-error: shops have no colour
      await client.patch(Shop, "corner", { spec: { colour: "red" } });
      // @ts-expect-error: shops have no colour
      await shop.patch({ spec: { colour: "red" } });
      // @ts-expect-error: a name is needed
      new Shop({ spec: {} });
      // @ts-expect-error: shops have no colour
      new Shop({ spec: { name: "Corner", colour: "red" } });
      // @ts-expect-error: a shop needs a spec
      Shop.gen({ name: "corner" });
    };
    expectTypeOf(write).toBeFunction();
  });

  it("have conditions and the observed generation in the status, also of a kind whose status takes anything", () => {
    const Free = resource({ group: "shops.example.com", version: "v1", kind: "Free", spec: z.object({}) });
    const Own = resource({
      group: "shops.example.com",
      version: "v1",
      kind: "Own",
      spec: z.object({}),
      status: z.object({ conditions: z.array(z.string()).optional() }),
    });
    const read = (shop: InstanceType<typeof Shop>, free: InstanceType<typeof Free>, own: InstanceType<typeof Own>) => {
      expectTypeOf(shop.status?.conditions).toEqualTypeOf<Condition[] | undefined>();
      expectTypeOf(shop.status?.observedGeneration).toEqualTypeOf<number | undefined>();
      expectTypeOf(free.status?.conditions).toEqualTypeOf<Condition[] | undefined>();
      expectTypeOf(free.status?.anything).toBeUnknown();
      expectTypeOf(own.status?.conditions).toEqualTypeOf<string[] | undefined>();
    };
    expectTypeOf(read).toBeFunction();
    new Declarations().on.create(Shop, function opened({ status, patch, object }) {
      expectTypeOf(status.conditions?.[0]?.status).toEqualTypeOf<"True" | "False" | "Unknown" | undefined>();
      expectTypeOf(status.conditions?.[0]?.lastTransitionTime).toEqualTypeOf<string | undefined>();
      expectTypeOf(object.status?.observedGeneration).toEqualTypeOf<number | undefined>();
      patch.status.observedGeneration = 1;
      const write = () => {
        // @ts-expect-error: conditions are set by conditions.set(…), which keeps their times and those of others
        patch.status.conditions = [];
      };
      write satisfies () => void;
    });
  });

  it("are named by the kind", () => {
    expectTypeOf<typeof Shop.Spec>().toEqualTypeOf<z.output<typeof shopSpec>>();
    expectTypeOf<(typeof Shop.Status)["address"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<(typeof Shop.Status)["conditions"]>().toEqualTypeOf<Condition[] | undefined>();
    const areaOf = (spec: typeof Shop.Spec): number => spec.size;
    expectTypeOf(areaOf).toBeCallableWith({ name: "Corner", size: 1 });
  });
});

describe("the types of a handler's context", () => {
  const operator = new Declarations();

  it("follow from the resource", () => {
    operator.on.create(Machine, function created({ spec, status, patch, old, new: now, diff, object }) {
      expectTypeOf(spec.size).toEqualTypeOf<number>();
      expectTypeOf(spec.owner.name).toEqualTypeOf<string>();
      expectTypeOf(spec.tags).toEqualTypeOf<readonly string[] | undefined>();
      expectTypeOf(status.phase).toEqualTypeOf<string | undefined>();
      expectTypeOf(old?.spec?.size).toEqualTypeOf<number | undefined>();
      expectTypeOf(now?.spec?.owner.name).toEqualTypeOf<string | undefined>();
      expectTypeOf(diff).toEqualTypeOf<readonly Difference[]>();
      expectTypeOf(patch.status.phase).toEqualTypeOf<string | null | undefined>();
      expectTypeOf(object.body.spec.size).toEqualTypeOf<number>();
    });
  });

  it("give the object with the verbs of its class", () => {
    operator.on.create(Pod, function created({ object }) {
      expectTypeOf(object).toEqualTypeOf<Pod>();
    });
    operator.timer(Machine, { interval: "1h" }, function tick({ object }) {
      expectTypeOf(object).toEqualTypeOf<InstanceType<typeof Machine>>();
      // @ts-expect-error machines have no containers
      object.exec;
    });
  });

  it("know the built-in kinds", () => {
    operator.on.update(Pod, function updated({ spec, old }) {
      expectTypeOf(spec.nodeName).toEqualTypeOf<string | undefined>();
      expectTypeOf(old?.spec?.hostname).toEqualTypeOf<string | undefined>();
    });
  });

  it("are reduced to the field that a handler names", () => {
    operator.on.field(Machine, { field: "spec.size" }, function sized({ old, new: now, spec }) {
      expectTypeOf(old).toEqualTypeOf<number | undefined>();
      expectTypeOf(now).toEqualTypeOf<number | undefined>();
      expectTypeOf(spec.size).toEqualTypeOf<number>();
    });
    operator.on.field(Machine, { field: ["spec", "owner", "name"] }, function owned({ new: now }) {
      expectTypeOf(now).toEqualTypeOf<string | undefined>();
    });
    operator.on.update(Machine, { field: "spec.tags" }, function tagged({ old }) {
      expectTypeOf(old).toEqualTypeOf<readonly string[] | undefined>();
    });
    operator.on(["create", "update"], Machine, { field: "status.phase" }, function phased({ new: now }) {
      expectTypeOf(now).toEqualTypeOf<string | undefined>();
    });
  });

  it("refuse what the resource does not have", () => {
    operator.on.create(Machine, function strict({ spec, patch, body }) {
      // @ts-expect-error: no such field
      spec.colour;
      // @ts-expect-error: a phase is a text
      patch.status.phase = 1;
      // @ts-expect-error: no such field
      patch.status.colour = "red";
      const write = () => {
        // @ts-expect-error: bodies are readonly, all the way down
        body.spec.owner.name = "me";
      };
      write satisfies () => void;
    });
    operator.on.create(
      Machine,
      // @ts-expect-error: a filter cannot look at a field that is not there
      { when: ({ spec }) => spec.colour === "red" },
      function filtered() {},
    );
  });

  it("give indexes the keys and values that their functions contribute", () => {
    const byOwner = operator.index(Machine, { id: "byOwner" }, ({ spec, name }) => ({ [spec.owner.name]: name }));
    const bySize = operator.index(Machine, { id: "bySize" }, ({ spec, name }) => new Map([[spec.size, { name }]]));
    const bodies = operator.index(Machine, { id: "bodies" }, ({ body }) => body);
    operator.on.event(Machine, function look({ indexes }) {
      expectTypeOf(indexes(byOwner)).toEqualTypeOf<IndexView<string, string>>();
      expectTypeOf(indexes(bySize)).toEqualTypeOf<IndexView<number, { name: string }>>();
      expectTypeOf(indexes(bodies).get(null)[0]?.spec.size).toEqualTypeOf<number | undefined>();
      // @ts-expect-error: the keys are sizes
      indexes(bySize).get("large");
    });
  });
});
