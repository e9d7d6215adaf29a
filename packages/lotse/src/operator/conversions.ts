/** The kinds whose objects this operator converts. Pure. */
import { type ConvertedKind, convertedKind } from "../admission/index.ts";
import { DeclarationError, type Declarations, isResourceClass, type ResourceClass } from "../declare/index.ts";

/** All kinds of the operator that have conversions; each version but the one in which objects are kept has to have one. */
export function convertedKinds({ kinds, conversions }: Pick<Declarations, "kinds" | "conversions">): ConvertedKind[] {
  const byName = new Map<string, ConvertedKind>();
  for (const resource of kinds.filter(isResourceClass)) {
    const name = resource.crd().metadata?.name ?? "";
    if (byName.has(name) || resource.versions.length < 2) continue;
    const declared = [...conversions].filter(([other]) => other.crd().metadata?.name === name);
    const others = new Map(declared.flatMap(([, one]) => [...one]));
    const converted = convertedKind(resource as never, others as never);
    if (converted.conversions.size === 0 && resource.crd().spec?.conversion?.strategy === "None") continue;
    checkComplete(resource, converted);
    byName.set(name, converted);
  }
  return [...byName.values()];
}

function checkComplete(resource: ResourceClass<unknown, unknown>, { conversions }: ConvertedKind): void {
  const { kind } = resource.description;
  const without = resource.versions.find(({ name }) => name !== resource.storageVersion && !conversions.has(name));
  if (!without) return;
  // With the class a version may do without one where it looks like the stored one; that was checked there.
  if (resource.conversions.size > 0) return;
  throw new DeclarationError(`${kind} ${without.name} has no conversion to ${resource.storageVersion}`, {
    hint: `declare operator.on.convert(${kind}, "${without.name}", { to, from })`,
  });
}
