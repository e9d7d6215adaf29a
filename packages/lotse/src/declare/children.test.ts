import { ConfigMap, Deployment, type KubeObject } from "@lotse/client";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { child, externalChild } from "./child.ts";
import type { DesiredChild, DesiredChildren } from "./children.ts";
import { Declarations } from "./declarations.ts";
import { resource } from "./resource.ts";

const Site = resource({
  group: "sites.example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({ host: z.string(), secret: z.boolean().default(false) }),
});
const operator = new Declarations();

describe("the types of children", () => {
  it("take objects, manifests, wrapped ones, external things and holes, in any list, alone, or promised", () => {
    const right = (declared: DesiredChildren, list: DesiredChild[], objects: KubeObject[]) => {
      operator.children(Site, ({ name, spec }) => [
        spec.secret && ConfigMap.gen({ name }),
        { apiVersion: "v1", kind: "Secret", metadata: { name, labels: { tier: "front" } }, stringData: { a: "b" } },
        { child: ConfigMap.gen({ name: `${name}-2` }), key: "second", after: ["secret/x"] },
        { key: "dns", read: () => spec.host, create: () => {}, delete: () => {}, readyWhen: () => true },
        undefined,
      ]);
      operator.children(Site, ({ name }) => ConfigMap.gen({ name }));
      operator.children(Site, ({ name }) => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, data: {} }));
      operator.children(Site, async ({ name }) => new Set([ConfigMap.gen({ name })]));
      operator.children(Site, ({ name }) => ["a", "b"].map((end) => ConfigMap.gen({ name: `${name}-${end}` })));
      operator.children(Site, ({ name, spec }) => {
        if (spec.secret) return [];
        return { key: "dns", read: () => name, create: () => {}, delete: () => {} };
      });
      operator.children(Site, () => undefined);
      operator.children(Site, () => declared);
      operator.children(Site, async () => list);
      operator.children(Site, () => objects);
    };
    expectTypeOf(right).toBeFunction();
  });

  it("name the field of an item that is wrong", () => {
    const wrong = () => {
      operator.children(Site, ({ name }) => [
        // @ts-expect-error: metadata has no field lables
        { apiVersion: "v1", kind: "Secret", metadata: { name, lables: { tier: "front" } } },
        // @ts-expect-error: a label is a text
        { apiVersion: "v1", kind: "Secret", metadata: { name, labels: { size: 3 } } },
        // @ts-expect-error: the name is misspelled
        { apiVersion: "v1", kind: "Secret", metadata: { nam: name } },
        // @ts-expect-error: a manifest has a kind
        { apiVersion: "v1", metadata: { name } },
        // @ts-expect-error: a child has no field afer
        { child: ConfigMap.gen({ name }), afer: "dns" },
        // @ts-expect-error: metadata of a wrapped manifest
        { child: { apiVersion: "v1", kind: "Secret", metadata: { name, lables: {} } } },
        // @ts-expect-error: what cannot be deleted cannot be kept
        { key: "dns", read: () => name, create: () => {} },
        // @ts-expect-error: what is read is a text
        { key: "dns", read: () => name, create: () => {}, delete: (found: number) => found },
        // @ts-expect-error: a text is no child
        "settings",
      ]);
      operator.children(Site, ({ name }) => ({
        apiVersion: "v1",
        kind: "Secret",
        // @ts-expect-error: also of one alone
        metadata: { name, labels: { size: 3 } },
      }));
      // @ts-expect-error: and of those that are returned after some work
      operator.children(Site, ({ name }) => {
        return [{ apiVersion: "v1", kind: "Secret", metadata: { name, lables: { tier: "front" } } }];
      });
    };
    expectTypeOf(wrong).toBeFunction();
  });
});

describe("a helper for children", () => {
  it("gives readyWhen the live object as one of the child's class", () => {
    const map = ConfigMap.gen({ name: "page" });
    const readyWhen = (live: ConfigMap) => live.body.data?.done === "yes";
    expect(child(map, { key: "page", after: "web", readyWhen })).toEqual({
      child: map,
      key: "page",
      after: "web",
      readyWhen,
    });
    expect(child(map)).toEqual({ child: map });
    const typed = (name: string) => [
      child(Deployment.gen({ name, image: "nginx" }), {
        readyWhen: (live) => {
          expectTypeOf(live).toEqualTypeOf<Deployment>();
          return live.status?.readyReplicas === live.spec.replicas;
        },
      }),
      child(Site.gen({ name, spec: { host: "a" } }), { readyWhen: ({ spec }) => spec.secret }),
      child({ apiVersion: "v1", kind: "Secret", metadata: { name } }, { readyWhen: ({ labels }) => labels.a === "b" }),
    ];
    operator.children(Site, { id: "typed" }, ({ name }) => typed(name));
    const wrong = () => {
      // @ts-expect-error: there is no afer
      child(ConfigMap.gen({ name: "page" }), { afer: "web" });
      // @ts-expect-error: metadata has no field lables
      child({ apiVersion: "v1", kind: "Secret", metadata: { name: "a", lables: {} } });
      // @ts-expect-error: a ConfigMap has no replicas
      child(ConfigMap.gen({ name: "page" }), { readyWhen: (live) => live.spec.replicas === 1 });
    };
    expectTypeOf(wrong).toBeFunction();
  });

  it("gives the functions of an external thing what is read", () => {
    const thing = externalChild({
      key: "dns",
      read: async () => ({ id: 7 }),
      create: () => {},
      update: ({ id }) => expectTypeOf(id).toEqualTypeOf<number>(),
      delete: ({ id }) => expectTypeOf(id).toEqualTypeOf<number>(),
      readyWhen: ({ id }) => id > 0,
    });
    expect(thing.key).toBe("dns");
    operator.children(Site, { id: "dns", external: true }, () => [thing]);
    const wrong = () => {
      // @ts-expect-error: it cannot be deleted
      externalChild({ key: "dns", read: () => 1, create: () => {} });
      // @ts-expect-error: there is no delte
      externalChild({ key: "dns", read: () => 1, create: () => {}, delete: () => {}, delte: () => {} });
    };
    expectTypeOf(wrong).toBeFunction();
  });
});
