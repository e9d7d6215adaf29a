// Lotse as its users write it, run by `lotse run` from what is published.
import { Operator, resource } from "lotse";
import { ConfigMap } from "lotse/client";
import { z } from "zod";

const Widget = resource({
  group: "bench.example.com",
  version: "v1",
  kind: "Widget",
  spec: z.object({ size: z.number() }),
  status: z.object({ size: z.number().optional() }),
});

if (process.env.BENCH_STAGES) (await import("../stages-recorder.mjs")).recordStages(process.env.BENCH_STAGES);

const operator = new Operator({ name: "bench" });
const withChild = Boolean(process.env.BENCH_CHILD);

async function size({ name, spec, patch, client, adopt }) {
  if (withChild) await client.apply(adopt(ConfigMap.gen({ name, data: { size: String(spec.size) } })));
  patch.status.size = spec.size;
}

operator.on.create(Widget, { id: "created" }, size);
operator.on.update(Widget, { id: "updated" }, size);

export default operator;
