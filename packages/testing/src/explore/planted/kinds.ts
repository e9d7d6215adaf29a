/** What the planted operators work for. */
import { resource, schema } from "lotse";
import type { Scenario } from "../stage.ts";

/** Something that has children. */
export const Shop = resource({
  group: "planted.example.com",
  version: "v1",
  kind: "Shop",
  spec: schema({
    type: "object",
    properties: { size: { type: "integer" }, mode: { type: "string" } },
    required: ["size"],
  } as const),
  status: schema({
    type: "object",
    properties: {
      child: { type: "string" },
      count: { type: "integer" },
      phase: { type: "string" },
      size: { type: "integer" },
      id: { type: "string" },
    },
  } as const),
});

/** A Shop. */
export const shop = (name: string, size = 1, mode?: string) =>
  new Shop({ metadata: { name }, spec: mode === undefined ? { size } : { size, mode } });

/** A Shop comes, grows and goes. */
export const life: Scenario = async ({ client, settle }) => {
  const one = await client.create(shop("one"));
  await settle();
  await one.patch({ spec: { size: 2 } });
  await settle();
  await one.delete();
  await settle();
};
