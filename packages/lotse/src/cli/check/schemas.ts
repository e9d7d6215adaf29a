/** What the schemas of an operator's kinds say and no API server would check. */
import { isResourceClass, type ResourceClass } from "../../declare/index.ts";
import type { LoadedOperator } from "../project/index.ts";
import type { Finding } from "./findings.ts";

/** A warning for each, with its place in the source and in the schema. */
export function schemaFindings(operators: readonly LoadedOperator[]): Finding[] {
  const kinds = new Set<ResourceClass<unknown, unknown>>();
  for (const { operator } of operators) {
    for (const { resource } of operator.resources) if (isResourceClass(resource)) kinds.add(resource);
  }
  return [...kinds].flatMap(({ description: { kind, version }, sourceLocation: file, gaps }) =>
    gaps().map(({ path, what, todo }) => ({
      level: "warning",
      check: "definitions",
      place: [file, kind, version, path].filter((part) => part !== undefined).join(" "),
      message: what,
      todo,
    })),
  );
}
