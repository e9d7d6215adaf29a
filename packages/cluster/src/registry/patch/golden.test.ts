import { expect, test } from "vitest";
import { createSchemaTable } from "../tables/index.ts";
import { cases } from "./strategic.golden.ts";
import { applyStrategicMergePatch } from "./strategic.ts";

const table = createSchemaTable();
const pod = { $ref: table.refOfKind("", "v1", "Pod") as string };

test.each(cases.map((text, i) => [i, JSON.parse(text)] as const))(
  "patch %i does what it does on a real server",
  (_, one) => {
    const run = () => applyStrategicMergePatch(one.doc, one.patch, pod, (ref) => table.get(ref));
    if (one.error !== undefined) expect(run).toThrow(one.error);
    else expect(withoutNulls(run())).toEqual(one.value);
  },
);

/** The recording is of typed objects, which cannot hold null. */
function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, member) => (member === null ? undefined : member));
}
