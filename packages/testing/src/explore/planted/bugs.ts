/** Operators with one mistake each, and what shows it. */
import { randomBytes } from "node:crypto";
import { ConfigMap, NotFoundError, Secret } from "@lotse/client";
import { Operator } from "lotse";
import { external } from "../../world/index.ts";
import type { Scenario } from "../stage.ts";
import { life, Shop, shop } from "./kinds.ts";

/** A mistake. */
export interface Planted {
  readonly mistake: string;
  /** What its story has to tell. */
  readonly shows: RegExp;
  readonly make: () => Operator;
  readonly scenario: Scenario;
}

const birth: Scenario = async ({ client, settle }) => {
  await client.create(shop("one"));
  await settle();
};

const operator = () => new Operator({ name: "planted" });

/** All of them. */
export const planted: readonly Planted[] = [
  {
    mistake: "a child with a generated name is made before it is written down",
    shows: /one-\* there are 2 of them instead of 1/,
    scenario: birth,
    make: () => {
      const one = operator();
      one.on.create(Shop, async function open({ name, adopt, client, patch }) {
        const made = await client.create(adopt(ConfigMap.gen({ generateName: `${name}-`, data: {} })));
        patch.status.child = made.name;
      });
      return one;
    },
  },
  {
    mistake: "of two children the second is made only together with the first",
    shows: /one-b is missing/,
    scenario: birth,
    make: () => {
      const one = operator();
      one.on(["create", "resume"], Shop, async function open({ name, adopt, client }) {
        const first = await client.get(ConfigMap, `${name}-a`).catch(() => undefined);
        if (first) return;
        await client.create(adopt(ConfigMap.gen({ name: `${name}-a`, data: {} })));
        await client.create(adopt(ConfigMap.gen({ name: `${name}-b`, data: {} })));
      });
      return one;
    },
  },
  {
    mistake: "a child is deleted when the copy of the cluster does not show its parent",
    shows: /configmaps default\/one (is missing|was deleted)/,
    scenario: async ({ client, settle }) => {
      await client.create(shop("one"));
      await client.create(ConfigMap.gen({ name: "one", labels: { app: "shop" }, data: { money: "1" } }));
      await settle();
      await client.patch(ConfigMap, "one", { data: { money: "2" } });
      await settle();
    },
    make: () => {
      const one = operator();
      one.on.event(Shop, function see() {});
      one.reconcile(ConfigMap, async function sweep({ object, name, get, client }) {
        if (object.labels.app !== "shop") return;
        const parent = await get(Shop, name);
        if (!parent) await client.delete(ConfigMap, name, { ignoreNotFound: true });
      });
      return one;
    },
  },
  {
    mistake: "how many children there are is asked of a copy that may be old",
    shows: /secrets default\/one-\* there are 2/,
    scenario: birth,
    make: () => {
      const one = operator();
      one.reconcile(Shop, async function fill({ object, name, spec, list, client, adopt }) {
        const there = await list(Secret, { ownedBy: object });
        if (there.length >= spec.size) return;
        await client.create(adopt(new Secret({ metadata: { generateName: `${name}-` } })));
      });
      return one;
    },
  },
  {
    mistake: "what is to be taken away is known only from the change that asks for it",
    shows: /one-backup is left over/,
    scenario: async ({ client, settle }) => {
      const one = await client.create(shop("one", 1, "backup"));
      await settle();
      await one.patch({ spec: { mode: "none" } });
      await settle();
      await one.patch({ spec: { mode: "plain" } });
      await settle();
    },
    make: () => {
      const one = operator();
      one.on(["create", "update"], Shop, async function follow({ name, spec, old, adopt, client }) {
        if (spec.mode === "backup") await client.apply(adopt(ConfigMap.gen({ name: `${name}-backup`, data: {} })));
        const before = (old as { spec?: { mode?: string } } | undefined)?.spec?.mode;
        if (spec.mode === "none" && before === "backup") {
          await client.delete(ConfigMap, `${name}-backup`, { ignoreNotFound: true });
        }
      });
      return one;
    },
  },
  {
    mistake: "something outside of the cluster is taken away by whoever happens to see the deletion",
    shows: /deleteBucket\("one"\) was never called/,
    scenario: life,
    make: () => {
      const createBucket = external(async function createBucket(_name: string) {}, { idempotent: true });
      const deleteBucket = external(async function deleteBucket(_name: string) {}, { idempotent: true });
      const one = operator();
      one.on.create(Shop, async function open({ name }) {
        await createBucket(name);
      });
      one.on.event(Shop, async function close({ type, name }) {
        if (type === "DELETED") await deleteBucket(name);
      });
      return one;
    },
  },
  {
    mistake: "a counter is raised by each attempt",
    shows: /\.status\.count is 2 instead of 1/,
    scenario: birth,
    make: () => {
      const one = operator();
      one.on.create(Shop, async function open({ object, client, name, adopt }) {
        const fresh = await client.get(Shop, name);
        const count = ((fresh.body.status as { count?: number } | undefined)?.count ?? 0) + 1;
        await object.patch({ status: { count } }, { subresource: "status" });
        await client.apply(adopt(ConfigMap.gen({ name, data: {} })));
      });
      return one;
    },
  },
  {
    mistake: "a child lives on under the owner that was there before",
    shows: /<uid of a former shops/,
    scenario: birth,
    make: () => {
      const one = operator();
      one.on.create(Shop, async function open({ name, uid, client }) {
        await client.get(ConfigMap, name).catch(async (error: unknown) => {
          if (!(error instanceof NotFoundError)) throw error;
          await client.create(ConfigMap.gen({ name, labels: { shop: uid }, data: {} }));
        });
      });
      return one;
    },
  },
  {
    mistake: "the status says that it is done before it is",
    shows: /configmaps default\/one is missing/,
    scenario: birth,
    make: () => {
      const one = operator();
      one.on(["create", "resume"], Shop, async function open({ object, name, adopt, client }) {
        const fresh = await client.get(Shop, name);
        if ((fresh.body.status as { phase?: string } | undefined)?.phase === "open") return;
        await object.patch({ status: { phase: "open" } }, { subresource: "status" });
        await client.create(adopt(ConfigMap.gen({ name, data: {} })));
      });
      return one;
    },
  },
  {
    mistake: "what is to be taken away is remembered by the process alone",
    shows: /one-till is left over/,
    scenario: life,
    make: () => {
      const one = operator();
      const children = new Map<string, string>();
      one.on.create(Shop, async function open({ name, client }) {
        await client.apply(ConfigMap.gen({ name: `${name}-till`, data: {} }));
        children.set(name, `${name}-till`);
      });
      one.on.delete(Shop, async function close({ name, client }) {
        const child = children.get(name);
        if (child !== undefined) await client.delete(ConfigMap, child, { ignoreNotFound: true });
      });
      return one;
    },
  },
  {
    mistake: "a handler expects that the first one has run in the same process",
    shows: /configmaps default\/one \.data\.growth is/,
    scenario: life,
    make: () => {
      const one = operator();
      one.on.create(Shop, async function open({ memo, spec, patch }) {
        (memo as { first?: number }).first = spec.size;
        patch.status.size = spec.size;
      });
      one.on.update(Shop, async function grow({ memo, spec, client, name, adopt, patch }) {
        const { first = 0 } = memo as { first?: number };
        await client.apply(adopt(ConfigMap.gen({ name, data: { growth: String(spec.size - first) } })));
        patch.status.size = spec.size;
      });
      return one;
    },
  },
  {
    mistake: "a delete handler fails when what it takes away is gone already",
    shows: /shops\.planted\.example\.com default\/one is left over/,
    scenario: life,
    make: () => {
      const one = operator();
      one.on.create(Shop, async function open({ name, client }) {
        await client.apply(ConfigMap.gen({ name, data: {} }));
      });
      one.on.delete(Shop, async function close({ name, client }) {
        await client.delete(ConfigMap, name);
      });
      return one;
    },
  },
  {
    mistake: "something outside of the cluster is made anew by each attempt",
    shows: /has made two things: disk-\d+ and disk-\d+/,
    scenario: birth,
    make: () => {
      let disks = 0;
      const createDisk = external(async function createDisk(_shop: string) {
        return { id: `disk-${++disks}` };
      });
      const one = operator();
      one.on.create(Shop, async function open({ name, patch }) {
        const { id } = await createDisk(name);
        patch.status.id = id.replace(/\d+/, "n");
      });
      return one;
    },
  },
  {
    mistake: "a card is charged before anything is written down",
    shows: /charge\("one", 1\) was called 2 times/,
    scenario: birth,
    make: () => {
      const charge = external(async function charge(_shop: string, _amount: number) {});
      const one = operator();
      one.on.create(Shop, async function open({ name, spec, client, adopt }) {
        await charge(name, spec.size);
        await client.apply(adopt(ConfigMap.gen({ name, data: {} })));
      });
      return one;
    },
  },
  {
    mistake: "an answer that is lost is taken for a write that was not made",
    shows: /status/,
    scenario: life,
    make: () => {
      const one = operator();
      one.on.create(Shop, { errors: "permanent" }, async function open({ name, client, adopt, patch }) {
        await client.create(adopt(ConfigMap.gen({ name, data: {} })));
        patch.status.phase = "open";
      });
      return one;
    },
  },
  {
    mistake: "a write that fails is taken for done",
    shows: /configmaps default\/one is missing/,
    scenario: birth,
    make: () => {
      const one = operator();
      one.on.create(Shop, async function open({ name, client, adopt, patch }) {
        await client.create(adopt(ConfigMap.gen({ name, data: {} }))).catch(() => {});
        patch.status.phase = "open";
      });
      return one;
    },
  },
  {
    mistake: "a child's name is made up by the operator and written down afterwards",
    shows: /there are 2 of them instead of 1/,
    scenario: birth,
    make: () => {
      const one = operator();
      one.on.create(Shop, async function open({ name, client, adopt, patch }) {
        const child = `${name}-${randomBytes(3).toString("hex")}`;
        await client.create(adopt(ConfigMap.gen({ name: child, data: {} })));
        patch.status.child = child;
      });
      return one;
    },
  },
];
