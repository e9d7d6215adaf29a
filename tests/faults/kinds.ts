import { resource } from "lotse";
import { z } from "zod";

/** What the scenario's operator handles. */
export const Thing = resource({
  group: "faults.example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({ size: z.number() }),
  status: z.object({ built: z.number().optional(), size: z.number().optional(), audited: z.number().optional() }),
});

/** What the misbehaving operator handles. Its status takes anything, results of handlers too. */
export const Trouble = resource({
  group: "faults.example.com",
  version: "v1",
  kind: "Trouble",
  spec: z.object({ size: z.number() }),
  status: z.object({ handled: z.boolean().optional(), size: z.number().optional() }).loose(),
});
