// Compiled, never run: what a stranger's compiler must know, and what it must refuse.
import { Operator } from "lotse";
import { Greeting } from "./operator.ts";

const operator = new Operator({ name: "types" });

operator.on.create(Greeting, async function typed({ spec, patch }) {
  const text: string = spec.text;
  patch.status.published = text.length > 0;
  // @ts-expect-error the schema's status has no such field
  patch.status.nonsense = text;
  // @ts-expect-error a string is no number
  spec.text.toFixed();
});

operator.timer(Greeting, { interval: "1h30m", field: "spec.text" }, function right({ status }) {
  const ready: "True" | "False" | "Unknown" | undefined = status.conditions?.[0]?.status;
  return ready;
});
// @ts-expect-error hours are written h
operator.timer(Greeting, { interval: "1 hour" }, function wrongTime() {});
// @ts-expect-error the schema's spec has no such field
operator.timer(Greeting, { field: "spec.txt" }, function wrongField() {});
operator.children(Greeting, ({ name }) => [
  // @ts-expect-error metadata have no such field
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name, lables: {} } },
]);

export const lengthOf = (spec: typeof Greeting.Spec): number => spec.text.length;
