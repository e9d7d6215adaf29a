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
