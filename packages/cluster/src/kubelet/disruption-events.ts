import type { EventNote } from "../controllers/index.ts";
import { type ApiObject, listAt, objectAt } from "../registry/index.ts";

/** What was found when the pods of a budget were counted. */
export interface BudgetObservation {
  readonly pods: number;
  /** Pods of which no controller says how many there should be. */
  readonly unmanaged: number;
  /** Why it is not known how many pods there should be. */
  readonly failure?: string;
}

/** What people are told about a budget that does not do what it looks like. Pure; in kube-controller-manager's words. */
export function budgetNotes(budget: ApiObject, { pods, unmanaged, failure }: BudgetObservation): EventNote[] {
  const notes: EventNote[] = [];
  if (pods === 0) notes.push({ type: "Normal", reason: "NoPods", message: "No matching pods found" });
  if (!needsScale(budget)) return notes;
  if (failure !== undefined) {
    const message = `Failed to calculate the number of expected pods: ${failure}`;
    notes.push({ type: "Warning", reason: "CalculateExpectedPodCountFailed", message });
  } else if (unmanaged > 0) {
    const message =
      `Pods selected by this PodDisruptionBudget (selector: ${selectorText(budget)}) were found to be unmanaged. ` +
      "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
      'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
    notes.push({ type: "Warning", reason: "UnmanagedPods", message });
  }
  return notes;
}

/** A share, or what may be missing, is one of a whole that only the controllers of the pods know. */
function needsScale(budget: ApiObject): boolean {
  const { minAvailable, maxUnavailable } = objectAt(budget, "spec");
  return maxUnavailable !== undefined || typeof minAvailable === "string";
}

/** As Go prints it. */
function selectorText(budget: ApiObject): string {
  const { selector } = objectAt(budget, "spec");
  if (selector === undefined) return "nil";
  const labels = Object.entries(objectAt(budget, "spec", "selector", "matchLabels")).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const expressions = listAt(budget, "spec", "selector", "matchExpressions").map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${Array.isArray(values) ? values.join(" ") : ""}],},`,
  );
  const map = `map[string]string{${labels.map(([key, value]) => `${key}: ${value},`).join("")}}`;
  return `&LabelSelector{MatchLabels:${map},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
