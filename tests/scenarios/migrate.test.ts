/**
 * A kind that grows: objects of its first version are read and written in both, nothing of them is lost, and when all of
 * them are rewritten the first version can go.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { type Client, CustomResourceDefinition, type KubeBody, Namespace } from "@lotse/client";
import { resource } from "lotse";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { TestHooks } from "../../packages/cluster/src/test-hooks.ts";
import {
  answerConversion,
  conversionPath,
  convertedKind,
  KEPT_ANNOTATION,
  withConversion,
} from "../../packages/lotse/src/admission/conversion/test-served.ts";
import { runCommand } from "../../packages/lotse/src/cli/terminal/test-io.ts";
import { clustersUnderTest, describeOn } from "../fixture.ts";

const v1beta1 = {
  spec: z.object({ size: z.string().regex(/^\d+m2$/), colour: z.string().optional() }),
  status: z.object({ phase: z.string().optional() }),
};

const First = resource({ group: "shops.example.com", version: "v1beta1", kind: "Shop", ...v1beta1 });

const Shop = resource({
  group: "shops.example.com",
  kind: "Shop",
  versions: {
    v1beta1: { ...v1beta1, deprecated: "use v1" },
    v1: {
      spec: z.object({
        squareMetres: z.int32().min(0),
        floors: z.int32().min(1).default(1),
        ports: z.array(z.object({ number: z.int32(), name: z.string().optional() })).optional(),
      }),
      status: z.object({ phase: z.string().optional() }),
      storage: true,
    },
  },
  convert: {
    v1beta1: {
      to: ({ spec: { size } }) => ({ spec: { squareMetres: Number.parseInt(size, 10), floors: 1 } }),
      from: ({ spec: { squareMetres } }) => ({ spec: { size: `${squareMetres}m2` } }),
    },
  },
});

const OldShop = Shop.version("v1beta1");
const NAME = "shops.shops.example.com";

describeOn(clustersUnderTest(), "a kind with two versions", (cluster) => {
  let client: Client;
  let hooks: TestHooks;
  let failures: string[];

  beforeAll(async () => {
    const kinds = [convertedKind(Shop)];
    hooks = await TestHooks.start(
      ({ body }) => answerConversion(kinds, body, ({ message }) => failures.push(message)).body as object,
    );
    client = await cluster().connect();
    await install(First.crd());
    for (const namespace of ["default", "team-a"]) {
      if (namespace !== "default") await client.create(Namespace.gen({ name: namespace }));
      for (let i = 0; i < 4; i++) await client.create(old(`shop-${i}`, namespace, { size: `${i}m2`, colour: "red" }));
    }
    await install(grown());
  });

  afterAll(async () => {
    await hooks?.[Symbol.asyncDispose]();
  });

  beforeEach(() => {
    failures = [];
  });

  const old = (name: string, namespace: string, spec: { size: string; colour?: string }) =>
    new First({ metadata: { name, namespace }, spec });

  async function install(body: CustomResourceDefinition["body"]): Promise<void> {
    const crd = await new CustomResourceDefinition(body, client).apply({ force: true });
    await crd.wait("condition=Established", { timeout: "30s" });
  }

  const grown = () =>
    withConversion(Shop.crd(), { url: hooks.at("").url }, Buffer.from(hooks.caBundle, "base64").toString());

  const stored = async () => (await client.get(CustomResourceDefinition, NAME)).body.status?.storedVersions;

  /** A real server serves the new form of a definition a little later than it has taken it. */
  const soon = (check: () => Promise<unknown>) => vi.waitFor(check, { timeout: 60_000, interval: 100 });

  /** As kubectl does it, which is at hand beside the real server; beside the other one in its words. */
  const apply = async (spec: { size: string }) => {
    const metadata = { name: "applied", namespace: "default" };
    const manifest = { apiVersion: "shops.example.com/v1beta1", kind: "Shop", metadata, spec };
    const text = JSON.stringify(manifest);
    if (cluster().kind === "real") {
      const file = path.join(path.dirname(cluster().kubeconfigPath), "shop.json");
      writeFileSync(file, text);
      expect(await cluster().kubectl(["apply", "-f", file])).toMatchObject({ exitCode: 0 });
      return;
    }
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": text };
    await client.patch(OldShop, "applied", { metadata: { annotations }, spec });
  };

  it("shows each object in both", async () => {
    expect(conversionPath(Shop.crd())).toBe(`/convert/${NAME}`);
    await soon(async () => expect((await client.get(Shop, "shop-3")).spec).toEqual({ squareMetres: 3, floors: 1 }));
    expect((await client.get(OldShop, "shop-3")).spec).toEqual({ size: "3m2", colour: "red" });
    expect((await client.list(Shop, { namespace: "*" }).toArray()).map(({ spec }) => spec.squareMetres).sort()).toEqual(
      [0, 0, 1, 1, 2, 2, 3, 3],
    );
    expect(failures).toEqual([]);
  });

  it("keeps what only one of them can hold, whoever writes it in whichever", async () => {
    const ports = [{ number: 80, name: "http" }, { number: 443 }];
    await client.create(new Shop({ metadata: { name: "rich" }, spec: { squareMetres: 9, floors: 3, ports } }));
    await client.patch(OldShop, "rich", { spec: { size: "10m2", colour: "green" } });
    const rich = await client.get(Shop, "rich");
    expect(rich.spec).toEqual({ squareMetres: 10, floors: 3, ports });
    expect(rich.annotations[KEPT_ANNOTATION]).toContain("green");
    await rich.patch({ spec: { floors: 2 } });
    const poor = await client.get(OldShop, "rich");
    expect(poor.spec).toEqual({ size: "10m2", colour: "green" });
    expect(poor.annotations[KEPT_ANNOTATION]).toContain("http");
    await client.replace(poor);
    await poor.patch({ spec: { colour: null } });
    await client.apply(
      {
        apiVersion: "shops.example.com/v1beta1",
        kind: "Shop",
        metadata: { name: "rich", namespace: "default" },
        spec: { size: "11m2" },
      } as KubeBody,
      { force: true },
    );
    await client.patch(OldShop, "rich", { status: { phase: "Open" } }, { subresource: "status" });
    const home = await client.get(Shop, "rich");
    expect(home.spec).toEqual({ squareMetres: 11, floors: 2, ports });
    expect(home.annotations).toEqual({});
    expect(home.body.status).toEqual({ phase: "Open" });
  });

  it("keeps it over kubectl apply of the old version, too", async () => {
    await client.create(new Shop({ metadata: { name: "applied" }, spec: { squareMetres: 5, floors: 4 } }));
    for (const size of ["6m2", "7m2"]) await apply({ size });
    expect((await client.get(Shop, "applied")).spec).toEqual({ squareMetres: 7, floors: 4 });
  });

  it("answers with the object, the versions and the field when a conversion fails", async () => {
    await client.create(new Shop({ metadata: { name: "odd" }, spec: { squareMetres: 1 } }));
    const kinds = [
      convertedKind(
        Shop,
        new Map([["v1beta1", { to: () => ({}), from: (one: { spec: { a: { b: 1 } } }) => ({ spec: one.spec.a.b }) }]]),
      ),
    ];
    const broken = await TestHooks.start(({ body }) => answerConversion(kinds as never, body, () => {}).body as object);
    try {
      await install(
        withConversion(Shop.crd(), { url: broken.at("").url }, Buffer.from(broken.caBundle, "base64").toString()),
      );
      await soon(() =>
        expect(client.get(OldShop, "odd")).rejects.toThrow(
          "Shop default/odd cannot be converted from v1 to v1beta1: spec.a: Cannot read properties of undefined (reading 'b')",
        ),
      );
    } finally {
      await install(grown());
      await broken[Symbol.asyncDispose]();
    }
    await soon(() => client.get(OldShop, "odd"));
  });

  it("is rewritten by lotse migrate, and then the first version can go", async () => {
    const migrate = (...more: string[]) =>
      runCommand(["migrate", "shops", "--kubeconfig", cluster().kubeconfigPath, ...more], {});
    expect(await stored()).toEqual(["v1beta1", "v1"]);
    const without = { ...Shop.crd() };
    without.spec = { ...(without.spec as NonNullable<typeof without.spec>) };
    without.spec.versions = without.spec.versions.filter(({ name }) => name === "v1");
    await expect(new CustomResourceDefinition(without, client).apply({ force: true })).rejects.toThrow(
      /storedVersions\[0\]: Invalid value: "v1beta1"/,
    );
    expect(await migrate("--dry-run")).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^shops\.shops\.example\.com: 11 objects would be rewritten into v1, and storedVersions would lose v1beta1; nothing was done\n$/,
      ) as string,
    });
    expect(await stored()).toEqual(["v1beta1", "v1"]);
    expect(await migrate("-o", "json")).toMatchObject({
      code: 0,
      out:
        `{"definition":"${NAME}","type":"progress","done":11}\n` +
        `{"definition":"${NAME}","type":"dropped","versions":["v1beta1"]}\n` +
        `{"definition":"${NAME}","type":"end","done":11,"failed":0,"storage":"v1","dropped":["v1beta1"],"dryRun":false}\n`,
    });
    expect(await stored()).toEqual(["v1"]);
    expect((await client.get(OldShop, "shop-3")).spec).toEqual({ size: "3m2", colour: "red" });
    expect(await migrate()).toMatchObject({
      code: 0,
      out: `${NAME}: nothing to do, all objects are stored in v1\n`,
    });
    await install(without);
    await soon(async () => expect((await client.get(Shop, "shop-3")).spec.squareMetres).toBe(3));
  });
});
