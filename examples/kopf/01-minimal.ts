/**
 * One handler for one kind: it is called once for each new object. What it returns is kept in the object's status under
 * the handler's name, and `kubectl get kex` shows it in a column.
 */
import { Operator } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-minimal" });

operator.on.create(KopfExample, function createFn({ spec, logger }) {
  logger.info("a new object", { spec });
  return { message: "hello world" };
});

export default operator;
