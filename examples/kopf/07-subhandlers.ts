/**
 * Parts of a handler that are known only at run time: each step runs once for a change, is tried again by itself and is
 * skipped after a restart. A step runs where it is awaited, so what follows can use its result.
 */
import { Operator } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-subhandlers" });

operator.on.create(KopfExample, async function createFn({ spec, step, logger }) {
  for (const item of spec.items ?? []) {
    await step(item, () => logger.info("the item is handled", { item }));
  }
});

export default operator;
