// A reconciler that only reads: $BENCH_READS names for each Widget, which nobody else reads and nothing has.
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
import { Widget } from "./widget.mjs";

const operator = new Operator({ name: "bench" });
const reads = Number(process.env.BENCH_READS);

operator.reconcile(Widget, { owns: [ConfigMap] }, async function look({ name, get }) {
  for (let at = 0; at < reads; at++) await get(ConfigMap, `${name}-${at}`);
});

export default operator;
