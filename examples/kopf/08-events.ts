/**
 * The raw stream: every event that the server sends, without a memory on the object and without another try. A handler
 * that fails is told in the log and disturbs nobody; the object is never written.
 */
import { Operator } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-stream" });

operator.on.event(KopfExample, function failingEventFn() {
  throw new Error("oops");
});

operator.on.event(KopfExample, function normalEventFn({ event, logger }) {
  logger.info("an event", { type: event.type, name: event.object.metadata?.name });
});

export default operator;
