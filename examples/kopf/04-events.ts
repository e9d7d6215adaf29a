/**
 * Kubernetes Events about the handled object, or about others: `kubectl describe` shows them. By default an operator
 * posts only those that warn; here all of them.
 */
import { Operator } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-events", events: "all" });

operator.on.create(KopfExample, function createFn({ info, warn, namespace }) {
  info("SomeReason", "all is well");
  warn("SomeReason", "something is odd");
  warn("SomeReason", new RangeError("an error says its own message"));

  const somebodyElse = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "somebody-else", namespace: namespace ?? "" },
  };
  info("OtherReason", "any object can be spoken of", somebodyElse);
});

export default operator;
