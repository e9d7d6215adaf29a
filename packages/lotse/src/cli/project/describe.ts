import { apiVersionOf, type KindClass, type KindDescription } from "@lotse/client";
import { describeSelector, parseSelector, type ResourceInput } from "../../declare/index.ts";
import type { Operator } from "../../operator/index.ts";
import type { LoadedOperator } from "./load.ts";

/** The kinds that operators handle and that have a name: an operator that handles everything is not asked for all of it. */
export function kindsOf(operators: readonly LoadedOperator[]): (KindClass | KindDescription | string)[] {
  const resources = operators.flatMap(({ operator }) => operator.resources.map(({ resource }) => resource));
  return resources.flatMap((resource): (KindClass | KindDescription | string)[] => {
    if (typeof resource === "string") return [resource];
    return parseSelector(resource).type === "exact" ? [resource as KindClass | KindDescription] : [];
  });
}

/** What to call the first kind of operators that has a name in a shell: `xr`, `pods`, `kopfexamples.zalando.org`. */
export function kubectlName(operators: readonly Pick<LoadedOperator, "operator">[]): string | undefined {
  const resources = operators.flatMap(({ operator }) => operator.resources.map(({ resource }) => resource));
  return resources.map(nameInShell).find((name) => name !== undefined);
}

function nameInShell(resource: ResourceInput): string | undefined {
  const description = descriptionOf(resource);
  if (description) return description.shortNames[0] ?? description.plural;
  const selector = parseSelector(resource);
  if (selector.type !== "named") return undefined;
  return selector.group ? `${selector.name}.${selector.group}` : selector.name;
}

/** `ExchangeRate (rates.example.com/v1), pods`: those that are handled, and those whose requests are judged. */
export function kindNames(operator: Pick<Operator, "resources"> & Partial<Pick<Operator, "kinds">>): string {
  // Another copy of the package may not know of the others.
  const kinds = operator.kinds ?? operator.resources.map(({ resource }) => resource);
  const names = kinds.map((resource) => {
    const description = descriptionOf(resource);
    return description
      ? `${description.kind} (${apiVersionOf(description)})`
      : describeSelector(parseSelector(resource));
  });
  return [...new Set(names)].join(", ") || "none";
}

function descriptionOf(resource: ResourceInput): KindDescription | undefined {
  if (parseSelector(resource).type !== "exact") return undefined;
  return typeof resource === "function" ? (resource as KindClass).description : (resource as KindDescription);
}
