// Lotse as its users write it: read what is there, write what differs. The same requests as those of the Go program.
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
import { partsOf, Widget } from "./widget.mjs";

const operator = new Operator({ name: "bench" });

operator.reconcile(Widget, { owns: [ConfigMap] }, async function fitParts({ name, spec, get, client, adopt, patch }) {
  for (const part of partsOf(name, spec.size)) {
    const live = await get(ConfigMap, part.name);
    const differs = Object.entries(part.data).some(([key, value]) => live?.data[key] !== value);
    if (!live) await client.create(adopt(part));
    else if (differs) await client.patch(ConfigMap, part.name, { data: part.data });
    // Read again what was written: else this is a reason to run once more.
    if (differs) await get(ConfigMap, part.name);
  }
  patch.status.size = spec.size;
});

export default operator;
