import { ConfigMap, type KubeBody } from "@lotse/client";
import { ConfigError } from "@lotse/client/meta";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { Declarations } from "./declarations.ts";
import { isRequeue, planReconciler, type ReconcileHandler, type Requeue, requeue } from "./reconcile.ts";
import { resource } from "./resource.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number() }),
  status: z.object({ phase: z.string().optional() }),
});

function reconcilers(declare: (declarations: Declarations) => void): ReconcileHandler[] {
  const declarations = new Declarations();
  declare(declarations);
  const all = declarations.resources.flatMap(({ handlers }) => handlers);
  return all.filter((handler): handler is ReconcileHandler => handler.type === "reconcile");
}

describe("requeue", () => {
  it("asks for a time from now on", () => {
    expect(requeue("5s").afterMs).toBe(5_000);
    expect(requeue(0).afterMs).toBe(0);
    expect(() => requeue(-1)).toThrow(ConfigError);
  });

  it("is told from everything else that a reconciler may return", () => {
    expect(isRequeue(requeue("1s"))).toBe(true);
    for (const other of [undefined, null, 5, "5s", {}, { afterMs: 5 }]) expect(isRequeue(other)).toBe(false);
  });
});

describe("the options of a reconciler", () => {
  it("have defaults that ask for nothing", () => {
    expect(planReconciler({})).toEqual({
      owns: [],
      watches: [],
      concurrency: undefined,
      resyncMs: undefined,
      priority: "normal",
      changes: [],
      rateLimit: undefined,
      conditions: false,
      onDelete: undefined,
    });
  });

  it("are read once", () => {
    const plan = planReconciler({
      resync: "10m",
      filter: "generation",
      rateLimit: { runs: 2, per: "1s" },
      concurrency: 3,
    });
    expect(plan).toMatchObject({
      resyncMs: 600_000,
      changes: ["generation"],
      rateLimit: { runs: 2, perMs: 1_000 },
      concurrency: 3,
    });
    expect(planReconciler({ filter: ["labels", "annotations"] }).changes).toEqual(["labels", "annotations"]);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuse a concurrency of %d", (concurrency) => {
    expect(() => planReconciler({ concurrency })).toThrow(`the concurrency of a reconciler is ${concurrency}`);
  });

  it.each([
    { runs: 0, per: "1s" },
    { runs: 1.5, per: "1s" },
    { runs: 1, per: 0 },
  ] as const)("refuse a rate limit of %j", (rateLimit) => {
    expect(() => planReconciler({ rateLimit })).toThrow("the rate limit of a reconciler allows nothing");
  });
});

describe("declaring", () => {
  it("names a reconciler by its id, else by its function", () => {
    const found = reconcilers((declarations) => {
      declarations.reconcile(Machine, async function look() {});
      declarations.reconcile(Machine, { id: "named" }, async () => {});
      declarations.children(Machine, { id: "parts" }, () => []);
    });
    expect(found.map(({ id, children }) => [id, children !== undefined])).toEqual([
      ["look", false],
      ["named", false],
      ["parts", true],
    ]);
    expect(found[0]?.sourceLocation).toMatch(/declare\/reconcile\.test\.ts:\d+/);
  });

  it("plans how children are deleted", () => {
    const [plain, reverse, external] = reconcilers((declarations) => {
      declarations.children(Machine, { id: "a" }, () => []);
      declarations.children(Machine, { id: "b", deletion: "reverse" }, () => []);
      declarations.children(Machine, { id: "c", external: true, conditions: false }, () => []);
    });
    expect(plain).toMatchObject({ children: { reverse: false, external: false }, conditions: true });
    expect(reverse?.children).toEqual({ reverse: true, external: false, onDrift: "repair", onMismatch: "delete" });
    expect(external).toMatchObject({ children: { reverse: false, external: true }, conditions: false });
  });

  it.each([
    [{ onDrift: "ignore" }, 'children has no { onDrift: "ignore" }', 'write "repair" or "keep" or a function'],
    [{ onMismatch: true }, "children has no { onMismatch: true }", 'write "delete" or "keep"'],
    [{ deletion: "foreground" }, 'children has no { deletion: "foreground" }', 'write "background" or "reverse"'],
  ])("refuses %j", (options, message, hint) => {
    const declare = () => new Declarations().children(Machine, options as never, () => []);
    expect(declare).toThrow(expect.objectContaining({ message: expect.stringContaining(message), hint }));
  });
});

describe("the types of a reconciler's context", () => {
  const operator = new Declarations();

  it("follow from the kinds that it reads", () => {
    operator.reconcile(Machine, { id: "types" }, async ({ spec, get, list, exists, requeue: again, patch }) => {
      expectTypeOf(spec.size).toEqualTypeOf<number>();
      expectTypeOf(patch.status.phase).toEqualTypeOf<string | null | undefined>();
      expectTypeOf(await get(ConfigMap, "a")).toEqualTypeOf<ConfigMap | undefined>();
      expectTypeOf(await get.live(ConfigMap, "a")).toEqualTypeOf<ConfigMap | undefined>();
      expectTypeOf(await list(Machine)).toEqualTypeOf<readonly InstanceType<typeof Machine>[]>();
      expectTypeOf(await exists("secrets", "a")).toEqualTypeOf<boolean>();
      expectTypeOf(again("5s")).toEqualTypeOf<Requeue>();
      // @ts-expect-error there is no such status
      patch.status.colour = "red";
    });
  });

  it("let children be objects, manifests, and things outside", () => {
    operator.children(Machine, { id: "parts", external: true }, ({ spec, name }) => [
      ConfigMap.gen({ name }),
      spec.size > 1 && { apiVersion: "v1", kind: "Secret", metadata: { name } },
      {
        child: ConfigMap.gen({ name: "b" }),
        after: "configmap/a",
        readyWhen: ({ body }: { body: KubeBody }) => !!body,
      },
      { key: "dns", read: () => 1 as number | undefined, create: () => {}, delete: (current: number) => current },
    ]);
    // @ts-expect-error a text is no child
    operator.children(Machine, { id: "wrong" }, () => ["text"]);
  });

  it("say what becomes of a child that somebody else has changed", () => {
    operator.children(
      Machine,
      {
        id: "drift",
        onDrift: async ({ fields, by, child }, { patch, spec }) => {
          expectTypeOf(by).toEqualTypeOf<readonly string[]>();
          expectTypeOf(fields[0]?.path).toEqualTypeOf<string | undefined>();
          expectTypeOf(spec.size).toEqualTypeOf<number>();
          patch.status.phase = `${child.name} drifted`;
          return fields.length > 1 ? "repair" : "keep";
        },
      },
      () => [],
    );
    operator.children(
      Machine,
      { id: "silent", onDrift: ({ by }, { logger }) => void logger.info("drift", { by }) },
      () => [],
    );
    // @ts-expect-error there is no such answer
    operator.children(Machine, { id: "odd", onDrift: () => "ignore" }, () => []);
  });
});
