/** What the planted operators work for. */
import { resource, schema } from "lotse";

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
