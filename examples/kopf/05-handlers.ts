/**
 * Several handlers for one object and one cause: all of them run in one turn, in this order, and each is remembered by
 * itself. `on.resume` is for objects that were handled before the operator was started; `on.field` sees one field alone.
 */
import { Operator } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-handlers" });

operator.on.resume(KopfExample, function resumeFn1({ logger }) {
  logger.info("resumed, the first");
});

operator.on.create(KopfExample, function createFn1({ logger }) {
  logger.info("created, the first");
});

operator.on.resume(KopfExample, function resumeFn2({ logger }) {
  logger.info("resumed, the second");
});

operator.on.create(KopfExample, function createFn2({ logger }) {
  logger.info("created, the second");
});

operator.on.update(KopfExample, function updateFn({ diff, logger }) {
  logger.info("updated", { changes: diff.map(({ path }) => path.join(".")) });
});

operator.on.delete(KopfExample, function deleteFn1({ logger }) {
  logger.info("deleted, the first");
});

operator.on.delete(KopfExample, function deleteFn2({ logger }) {
  logger.info("deleted, the second");
});

operator.on.field(KopfExample, { field: "spec.field" }, function fieldFn({ old, new: now, logger }) {
  logger.info("the field has changed", { old, new: now });
});

export default operator;
