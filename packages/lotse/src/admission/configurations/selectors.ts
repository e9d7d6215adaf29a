/** Filters in the form that the API server applies by itself: label selectors of objects and of namespaces. Pure. */
import { isLabelValue, isQualifiedName } from "@lotse/client/meta";
import {
  type AdmissionNamespaces,
  absent,
  type MapFilter,
  type NamespaceSelector,
  present,
} from "../../declare/index.ts";

/** A requirement of a label selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** A label selector, as Kubernetes has it. */
export interface LabelSelectorBody {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/**
 * The selector of what a label filter asks for, as far as a server can ask it; patterns, predicates and texts that no
 * label can be are left for the operator. Undefined when nothing is left.
 */
export function objectSelectorOf(labels: MapFilter | undefined): LabelSelectorBody | undefined {
  const matchLabels: Record<string, string> = {};
  const matchExpressions: LabelRequirement[] = [];
  for (const [key, wanted] of Object.entries(labels ?? {})) {
    if (!isQualifiedName(key)) continue;
    if (wanted === present) matchExpressions.push({ key, operator: "Exists" });
    else if (wanted === absent) matchExpressions.push({ key, operator: "DoesNotExist" });
    else if (typeof wanted === "string" && isLabelValue(wanted)) matchLabels[key] = wanted;
  }
  return selector(matchLabels, matchExpressions);
}

/** The label that every namespace has. */
const NAME = "kubernetes.io/metadata.name";

/** Where an operator works, beside what its handlers say. */
export interface NamespaceSurroundings {
  /** Those in which an operator that is down must not be in the way: of the cluster, and its own. */
  readonly spared: readonly string[];
  /** The only ones that the operator serves; undefined when it serves all, or such as no selector can name. */
  readonly served: readonly string[] | undefined;
}

/** The selector of namespaces; undefined means all. */
export function namespaceSelectorOf(
  namespaces: AdmissionNamespaces | undefined,
  { spared, served }: NamespaceSurroundings,
): LabelSelectorBody | undefined {
  const within: LabelRequirement[] = served ? [{ key: NAME, operator: "In", values: [...served].sort() }] : [];
  if (namespaces === "all") return selector({}, within);
  if (namespaces === undefined) {
    // Namespaces that are named to the operator are asked for.
    return selector({}, within.length > 0 ? within : without(spared));
  }
  if (!Array.isArray(namespaces)) {
    const { matchLabels = {}, matchExpressions = [] } = namespaces as NamespaceSelector;
    return selector(matchLabels, [...matchExpressions, ...within]);
  }
  const names = [...(namespaces as readonly string[])].sort();
  if (!names[0]?.startsWith("!")) return selector({}, [{ key: NAME, operator: "In", values: names }]);
  return selector({}, [...within, ...without([...spared, ...names.map((name) => name.slice(1))])]);
}

function without(names: readonly string[]): LabelRequirement[] {
  const values = [...new Set(names)].sort();
  return values.length > 0 ? [{ key: NAME, operator: "NotIn", values }] : [];
}

function selector(
  matchLabels: Readonly<Record<string, string>>,
  matchExpressions: readonly LabelRequirement[],
): LabelSelectorBody | undefined {
  const labelled = Object.keys(matchLabels).length > 0;
  if (!labelled && matchExpressions.length === 0) return undefined;
  return { ...(labelled && { matchLabels }), ...(matchExpressions.length > 0 && { matchExpressions }) };
}
