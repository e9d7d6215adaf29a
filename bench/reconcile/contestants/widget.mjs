// What both forms of the operator share: the kind, and the three ConfigMaps of a Widget.
import { resource } from "lotse";
import { ConfigMap } from "lotse/client";
import { z } from "zod";

export const Widget = resource({
  group: "bench.example.com",
  version: "v1",
  kind: "Widget",
  spec: z.object({ size: z.number() }),
  status: z.object({ size: z.number().optional() }),
});

export const partsOf = (name, size) => [
  ConfigMap.gen({ name: `${name}-settings`, data: { size: String(size) } }),
  ConfigMap.gen({ name: `${name}-rules`, data: { of: name } }),
  ConfigMap.gen({ name: `${name}-pages`, data: { of: name } }),
];
