/**
 * An operator to be tested. `@lotse/testing` starts it on a cluster of its own, waits until everything is quiet, and shows
 * what was logged and written: `kopf.test.ts` tests all of these examples that way, without a sleep.
 */
import { Operator } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-testing" });

operator.on.create(KopfExample, function createFn({ logger }) {
  logger.info("something is logged here");
});

export default operator;
