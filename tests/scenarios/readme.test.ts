/** The operator that the README shows, as it stands there. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConfigMap, type KubeBody } from "@lotse/client";
import type { Operator } from "lotse";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describeOn(clustersUnderTest(), "the operator of the README", (cluster) => {
  const stage = useStage(cluster, "readme");
  let folder: string;
  let operator: Operator;

  beforeAll(async () => {
    const [, code = ""] =
      /```ts\n(\/\/ operator\.ts\n[\s\S]*?)```/.exec(readFileSync(path.join(ROOT, "README.md"), "utf8")) ?? [];
    // Inside of the repository, whose packages it imports.
    mkdirSync(path.join(ROOT, ".lotse"), { recursive: true });
    folder = mkdtempSync(path.join(ROOT, ".lotse/readme-"));
    const file = path.join(folder, "operator.ts");
    writeFileSync(file, code);
    ({ default: operator } = (await import(pathToFileURL(file).href)) as { default: Operator });
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("may die at any moment: a second run leaves one ConfigMap, not two", async () => {
    const { client, start, eventually, quiet } = stage;
    const wire = await Wire.to(client);
    // It works, and what it has done is never written down.
    wire.fault = ({ verb, path: address }) =>
      verb === "write" && address.includes("/exchangerates/") ? { type: "reset" } : undefined;
    const first = await start(operator, { client: wire.client });
    const rate: KubeBody = {
      apiVersion: "rates.example.com/v1",
      kind: "ExchangeRate",
      metadata: { name: "usd" },
      spec: { currency: "USD" },
    };
    const usd = await client.create(rate);
    const published = async () => {
      const maps = await client.list(ConfigMap).toArray();
      return maps.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === usd.uid));
    };
    await eventually(async () => expect(await published()).toHaveLength(1));
    await first.stop();
    expect((await usd.refresh()).status).toBeUndefined();

    await start(operator);
    await eventually(async () => expect((await usd.refresh()).status).toMatchObject({ rate: 1.08 }));
    await quiet();
    const maps = await published();
    expect(maps.map(({ name, body }) => [name, body.data])).toEqual([["usd-rate", { rate: "1.08" }]]);
  });
});
