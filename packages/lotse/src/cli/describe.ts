import { apiVersionOf, type KindDescription } from "@lotse/client";
import type { Operator } from "../operator/index.ts";
import type { LoadedOperator } from "./load.ts";

/** The kinds that operators handle, as far as they are described in their files. */
export function kindsOf(operators: readonly LoadedOperator[]): KindDescription[] {
  return operators.flatMap(({ operator }) =>
    operator.resources.flatMap(({ resource }) => descriptionOf(resource) ?? []),
  );
}

/** `ExchangeRate (rates.example.com/v1), pods` */
export function kindNames({ resources }: Pick<Operator, "resources">): string {
  const names = resources.map(({ resource }) => {
    const description = descriptionOf(resource);
    return description ? `${description.kind} (${apiVersionOf(description)})` : String(resource);
  });
  return names.join(", ") || "none";
}

function descriptionOf(resource: Operator["resources"][number]["resource"]): KindDescription | undefined {
  if (typeof resource === "string") return undefined;
  return "description" in resource ? resource.description : resource;
}
