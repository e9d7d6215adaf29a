import { apiVersionOf, type KindClass, type KindDescription } from "@lotse/client";
import { describeSelector, parseSelector, type ResourceInput } from "../declare/index.ts";
import type { Operator } from "../operator/index.ts";
import type { LoadedOperator } from "./load.ts";

/** The kinds that operators handle, as they were declared. */
export function kindsOf(operators: readonly LoadedOperator[]): ResourceInput[] {
  return operators.flatMap(({ operator }) => operator.resources.map(({ resource }) => resource));
}

/** What to call a kind in a shell: `xr`, `pods`. */
export function kubectlName(resource: ResourceInput): string {
  const description = descriptionOf(resource);
  if (description) return description.shortNames[0] ?? description.plural;
  return typeof resource === "string" ? resource : "all";
}

/** `ExchangeRate (rates.example.com/v1), pods` */
export function kindNames({ resources }: Pick<Operator, "resources">): string {
  const names = resources.map(({ resource }) => {
    const description = descriptionOf(resource);
    return description
      ? `${description.kind} (${apiVersionOf(description)})`
      : describeSelector(parseSelector(resource));
  });
  return names.join(", ") || "none";
}

function descriptionOf(resource: ResourceInput): KindDescription | undefined {
  if (parseSelector(resource).type !== "exact") return undefined;
  return typeof resource === "function" ? (resource as KindClass).description : (resource as KindDescription);
}
