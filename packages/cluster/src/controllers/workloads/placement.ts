import type { corev1 } from "@lotse/client/kinds";
import { type LabelSelectorInput, lookup, matchesLabels, parseLabelSelector, SelectorError } from "@lotse/client/meta";
import { type ApiObject, isRecord, listAt, objectAt } from "../../registry/index.ts";

type Fields = Record<string, unknown>;

/** Whether a node has what a pod asks for by its node selector and its required node affinity. */
export function matchesNode(node: ApiObject, podSpec: unknown): boolean {
  const { nodeSelector } = objectAt({ podSpec }, "podSpec");
  const labels = node.metadata.labels ?? {};
  if (isRecord(nodeSelector) && Object.entries(nodeSelector).some(([key, value]) => lookup(labels, key) !== value))
    return false;
  const path = ["podSpec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
  const terms = listAt({ podSpec }, ...path, "nodeSelectorTerms");
  return terms.length === 0 || terms.some((term) => matchesTerm(node, term));
}

function matchesTerm(node: ApiObject, term: Fields): boolean {
  const expressions = listAt(term, "matchExpressions");
  const fields = listAt(term, "matchFields");
  if (expressions.length === 0 && fields.length === 0) return false;
  return matches(expressions, node.metadata.labels ?? {}) && matches(fields, { "metadata.name": node.metadata.name });
}

function matches(requirements: readonly Fields[], values: Record<string, string>): boolean {
  if (requirements.length === 0) return true;
  try {
    const selector = { matchExpressions: requirements } as unknown as LabelSelectorInput;
    return matchesLabels(parseLabelSelector(selector), values);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** Whether any of the tolerations covers the taint. */
export function tolerates(tolerations: readonly corev1.Toleration[], taint: corev1.Taint): boolean {
  return tolerations.some(
    ({ key, operator = "Equal", value = "", effect }) =>
      (!effect || effect === taint.effect) &&
      (key === undefined || key === "" ? operator === "Exists" : key === taint.key) &&
      (operator === "Exists" || value === (taint.value ?? "")),
  );
}
