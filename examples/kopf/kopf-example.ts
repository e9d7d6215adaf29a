/** The kind that all of these examples are about: Kopf's demo resource, whose CRD comes from these lines. */
import { resource } from "lotse";
import { z } from "zod";

export const KopfExample = resource({
  group: "kopf.dev",
  version: "v1",
  kind: "KopfExample",
  spec: z.object({
    duration: z.string().optional(),
    field: z.string().optional(),
    injected: z.int().optional(),
    items: z.array(z.string()).optional(),
    lst: z.array(z.string()).optional(),
  }),
  shortNames: ["kopfexes", "kopfex", "kexes", "kex"],
  columns: [
    { name: "Duration", type: "string", path: ".spec.duration" },
    { name: "Children", type: "string", path: ".status.createFn.children" },
    { name: "Message", type: "string", path: ".status.createFn.message" },
  ],
});
