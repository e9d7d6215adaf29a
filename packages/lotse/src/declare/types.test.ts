import { Pod } from "@lotse/client";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Difference } from "./context.ts";
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
