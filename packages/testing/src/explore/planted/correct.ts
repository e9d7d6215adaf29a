/** Operators without a mistake, of every sort. */
import { ConfigMap, Secret } from "@lotse/client";
import { Operator, PermanentError, TemporaryError } from "lotse";
import { external } from "../../world/index.ts";
import type { Scenario } from "../stage.ts";
import { life, Shop, shop } from "./kinds.ts";

/** An operator that does what it should, whatever happens. */
export interface Correct {
  readonly name: string;
  readonly make: () => Operator;
  readonly scenario: Scenario;
}

const growth: Scenario = async ({ client, settle }) => {
  const one = await client.create(shop("one", 2));
  await client.create(shop("two", 1));
  await settle();
  await one.patch({ spec: { size: 3 } });
  await settle();
  await one.patch({ spec: { size: 1 } });
  await settle();
};

const operator = () => new Operator({ name: "correct" });

/** All of them. */
export const correct: readonly Correct[] = [
  {
    name: "handlers that apply children by their names, with a finalizer",
    scenario: life,
    make: () => {
      const one = operator();
      one.on(["create", "update"], Shop, async function open({ name, spec, client, patch }) {
        await client.apply(ConfigMap.gen({ name, data: { size: String(spec.size) } }));
        patch.status.size = spec.size;
      });
      one.on.delete(Shop, async function close({ name, client }) {
        await client.delete(ConfigMap, name, { ignoreNotFound: true });
      });
      return one;
    },
  },
  {
    name: "a handler that looks for its child of a generated name before it makes one",
    scenario: growth,
    make: () => {
      const one = operator();
      one.on(["create", "update"], Shop, async function open({ name, uid, spec, adopt, client, patch }) {
        const labels = { shop: uid };
        const data = { size: String(spec.size) };
        const found = await client.list(ConfigMap, { labelSelector: labels }).first();
        const child = found ?? (await client.create(adopt(ConfigMap.gen({ generateName: `${name}-`, labels, data }))));
        if (child.data.size !== data.size) await child.patch({ data });
        patch.status.child = child.name;
      });
      return one;
    },
  },
  {
    name: "children that are kept",
    scenario: growth,
    make: () => {
      const one = operator();
      one.children(Shop, ({ name, spec }) =>
        Array.from({ length: spec.size }, (_, i) =>
          ConfigMap.gen({ name: `${name}-${i}`, data: { of: String(spec.size) } }),
        ),
      );
      return one;
    },
  },
  {
    name: "a reconciler that keeps as many children as are wanted, by generated names",
    scenario: growth,
    make: () => {
      const one = operator();
      one.reconcile(Shop, { owns: [Secret] }, async function fill({ object, name, spec, list, client, adopt, patch }) {
        const there = await list(Secret, { ownedBy: object });
        for (let i = there.length; i < spec.size; i++) {
          await client.create(adopt(new Secret({ metadata: { generateName: `${name}-` } })));
        }
        for (const surplus of there.slice(spec.size)) {
          await client.delete(Secret, surplus.name, { ignoreNotFound: true });
        }
        patch.status.count = (await list(Secret, { ownedBy: object })).length;
      });
      return one;
    },
  },
  {
    name: "a handler that refuses an invalid spec and keeps what it made of the last good one",
    scenario: async ({ client, settle }) => {
      const one = await client.create(shop("one", 2));
      await settle();
      await one.patch({ spec: { size: -1 } });
      await settle();
    },
    make: () => {
      const one = operator();
      one.on(["create", "update"], Shop, async function open({ name, spec, adopt, client, patch }) {
        if (spec.size < 0) {
          patch.status.phase = "refused";
          throw new PermanentError("nothing is smaller than nothing");
        }
        await client.apply(adopt(ConfigMap.gen({ name, data: { size: String(spec.size) } })));
        patch.status.phase = "open";
      });
      return one;
    },
  },
  {
    name: "a handler that waits, and steps that are remembered",
    scenario: async ({ client, settle, advance }) => {
      await client.create(shop("one", 2));
      await settle();
      await advance("10s");
    },
    make: () => {
      const one = operator();
      const charge = external(async function charge(_name: string) {});
      one.on.create(Shop, async function open({ name, spec, adopt, client, patch, step, runtime }) {
        await step("charge", async () => {
          await charge(name);
          return null;
        });
        if (runtime < 5_000) throw new TemporaryError("not yet", { delay: 5_000 - runtime });
        await client.apply(adopt(ConfigMap.gen({ name, data: { size: String(spec.size) } })));
        patch.status.phase = "open";
      });
      return one;
    },
  },
  {
    name: "something outside of the cluster, with a finalizer and a look before",
    scenario: life,
    make: () => {
      const buckets = new Map<string, string>();
      let made = 0;
      const createBucket = external(async function createBucket(name: string) {
        buckets.set(name, `bucket-${++made}`);
      });
      const deleteBucket = external(async function deleteBucket(name: string) {
        buckets.delete(name);
      });
      const one = operator();
      one.on(["create", "update"], Shop, async function open({ name, spec, client, adopt }) {
        if (!buckets.has(name)) await createBucket(name);
        await client.apply(adopt(ConfigMap.gen({ name, data: { size: String(spec.size) } })));
      });
      one.on.delete(Shop, async function close({ name }) {
        await deleteBucket(name);
      });
      return one;
    },
  },
  {
    name: "timers and a daemon",
    scenario: async ({ client, settle, advance }) => {
      const one = await client.create(shop("one", 2));
      await advance("30s");
      await one.patch({ spec: { size: 5 } });
      await advance("30s");
      await one.delete();
      await settle();
    },
    make: () => {
      const one = operator();
      one.timer(Shop, { interval: "10s" }, async function tick({ spec, name, client, adopt, patch, status }) {
        await client.apply(adopt(ConfigMap.gen({ name, data: { size: String(spec.size) } })));
        if (status.size !== spec.size) patch.status.size = spec.size;
      });
      return one;
    },
  },
  {
    name: "an operator that judges requests, which are refused while it is down",
    scenario: life,
    make: () => {
      const one = operator();
      one.on.validate(Shop, function judge({ object }) {
        if (object.body.spec.size > 100) throw new PermanentError("too large");
      });
      one.on(["create", "update"], Shop, async function open({ name, spec, adopt, client }) {
        await client.apply(adopt(ConfigMap.gen({ name, data: { size: String(spec.size) } })));
      });
      return one;
    },
  },
  {
    name: "handlers of fields, of what is found at the start, and of raw events, with an index",
    scenario: growth,
    make: () => {
      const one = operator();
      one.index(Shop, function bySize({ name, spec }) {
        return { [String(spec.size)]: name };
      });
      one.on.field(Shop, { field: "spec.size" }, async function follow({ name, spec, client, adopt, patch }) {
        await client.apply(adopt(ConfigMap.gen({ name, data: { size: String(spec.size) } })));
        patch.status.size = spec.size;
      });
      one.on.resume(Shop, async function again({ name, spec, client, adopt }) {
        await client.apply(adopt(ConfigMap.gen({ name, data: { size: String(spec.size) } })));
      });
      one.on.event(Shop, function see() {});
      return one;
    },
  },
];
