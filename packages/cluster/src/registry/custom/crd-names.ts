import type { Catalog } from "../catalog.ts";
import { type Crd, type CrdCondition, type CrdNames, conditionOf, withCondition } from "./crd.ts";
import { needsApproval } from "./crd-validation.ts";

/** The names that a group has already given away. */
function takenNames(catalog: Catalog, crd: Crd): { resources: Map<string, string>; kinds: Map<string, string> } {
  const resources = new Map<string, string>();
  const kinds = new Map<string, string>();
  for (const resource of catalog.all()) {
    if (resource.group !== crd.spec.group || resource.plural === crd.spec.names.plural) continue;
    for (const name of [resource.plural, resource.singular, ...resource.shortNames])
      resources.set(name, resource.plural);
    for (const kind of [resource.kind, resource.listKind]) kinds.set(kind, resource.plural);
  }
  return { resources, kinds };
}

/**
 * The status of a definition that was just written: which of its names it may have, and whether it is served. Names that
 * another definition of the group has are refused, and then nothing is served.
 */
export function decideNames(catalog: Catalog, crd: Crd, now: string): Crd["status"] {
  const { resources, kinds } = takenNames(catalog, crd);
  const wanted = crd.spec.names;
  const accepted: { -readonly [K in keyof CrdNames]: CrdNames[K] } = { ...crd.status.acceptedNames };
  let refusal: { reason: string; message: string } | undefined;
  const claim = (reason: string, names: readonly string[], taken: ReadonlyMap<string, string>, take: () => void) => {
    const clash = names.find((name) => taken.has(name));
    if (clash === undefined) take();
    else refusal = { reason, message: `${JSON.stringify(clash)} is already in use` };
  };
  claim("PluralConflict", [wanted.plural], resources, () => (accepted.plural = wanted.plural));
  claim("SingularConflict", wanted.singular ? [wanted.singular] : [], resources, () => {
    if (wanted.singular) accepted.singular = wanted.singular;
  });
  claim("ShortNamesConflict", wanted.shortNames ?? [], resources, () => {
    if (wanted.shortNames?.length) accepted.shortNames = wanted.shortNames;
    else delete accepted.shortNames;
  });
  claim("KindConflict", [wanted.kind], kinds, () => (accepted.kind = wanted.kind));
  claim("ListKindConflict", wanted.listKind ? [wanted.listKind] : [], kinds, () => {
    if (wanted.listKind) accepted.listKind = wanted.listKind;
  });
  if (wanted.categories?.length) accepted.categories = wanted.categories;
  else delete accepted.categories;

  const condition = (type: string, status: "True" | "False", reason: string, message: string): CrdCondition => ({
    type,
    status,
    lastTransitionTime: now,
    reason,
    message,
  });
  let conditions = withCondition(
    crd.status.conditions,
    refusal
      ? condition("NamesAccepted", "False", refusal.reason, refusal.message)
      : condition("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
  );
  // Once established, always established: a later clash only keeps the new names from being taken.
  if (conditionOf(crd, "Established")?.status !== "True") {
    conditions = withCondition(
      conditions,
      refusal
        ? condition("Established", "False", "NotAccepted", "not all names are accepted")
        : condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
    );
  }
  if (needsApproval(crd.spec.group)) {
    const value = crd.metadata.annotations?.["api-approved.kubernetes.io"] ?? "";
    const type = "KubernetesAPIApprovalPolicyConformant";
    conditions = withCondition(
      conditions,
      // Nothing else passes validation: a link to the approval, or why there is none.
      value.startsWith("unapproved")
        ? condition(type, "False", "UnapprovedAnnotation", `not approved: ${JSON.stringify(value)}`)
        : condition(type, "True", "ApprovedAnnotation", `approved in ${value}`),
    );
  }
  return { ...crd.status, conditions, acceptedNames: accepted };
}
