/**
 * Timers run at an interval, here only for objects that nobody has changed for a while. They cost nothing while they
 * wait, and whatever they patch goes with the object's one write.
 */
import { Operator } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-timers" });

operator.timer(KopfExample, { idle: "5s", interval: "2s" }, function everyTwoSeconds({ spec, logger }) {
  logger.info("ping from a function", { field: spec.field });
});

operator.timer(KopfExample, { idle: "10s", interval: "4s" }, async function everyFourSeconds({ spec, logger }) {
  logger.info("ping from a promise", { field: spec.field });
});

export default operator;
