// Lotse as its users write it: what shall be there.
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
import { partsOf, Widget } from "./widget.mjs";

const operator = new Operator({ name: "bench" });

operator.children(Widget, { id: "parts", owns: [ConfigMap] }, ({ name, spec, patch }) => {
  patch.status.size = spec.size;
  return partsOf(name, spec.size);
});

export default operator;
