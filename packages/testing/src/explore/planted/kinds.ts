/** What the planted operators work for. */
import { resource } from "lotse";
import { z } from "zod";

/** Something that has children. */
export const Shop = resource({
  group: "planted.example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({ size: z.number().int(), mode: z.string().optional() }),
  status: z.object({
    child: z.string().optional(),
    count: z.number().optional(),
    phase: z.string().optional(),
    size: z.number().optional(),
    id: z.string().optional(),
  }),
});

/** A Shop. */
export const shop = (name: string, size = 1, mode?: string) =>
  new Shop({ metadata: { name }, spec: mode === undefined ? { size } : { size, mode } });
