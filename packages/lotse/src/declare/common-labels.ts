/** What can a server be asked for by what the filters of handlers say? Pure. */
import {
  formatLabelSelector,
  type LabelRequirement,
  type LabelSelector,
  parseLabelSelector,
  SelectorError,
} from "@lotse/client/meta";
import { absent, present } from "./filters.ts";
import type { Handler } from "./handler.ts";
import { distinct } from "./server-selectors.ts";

/**
 * What the labels of all objects have in common that any of these handlers looks at; empty: nothing. Only indexes count:
 * for them an object that no longer matches and one that is deleted are the same. All others have to see an object that
 * stops matching, because it may have their record or their finalizer.
 */
export function commonLabels(handlers: readonly Handler[]): LabelSelector {
  const wanted = handlers.map((handler) => (handler.type === "index" ? requirementsOf(handler.filters.labels) : []));
  const [first = [], ...others] = wanted;
  const isIn = (term: LabelRequirement, terms: readonly LabelRequirement[]) =>
    terms.some((one) => formatLabelSelector([one]) === formatLabelSelector([term]));
  const common = first.filter((term) => others.every((terms) => isIn(term, terms)));
  return distinct(common, (term) => formatLabelSelector([term]));
}

/** What of a filter a server understands; the rest of it is asked of what the server sends. */
function requirementsOf(labels: Readonly<Record<string, unknown>> = {}): LabelRequirement[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    if (value === present) return read(key, "Exists");
    if (value === absent) return read(key, "DoesNotExist");
    return typeof value === "string" ? read(key, "In", value) : [];
  });
}

/** Nothing where no object can have such a label: the server would refuse the question. */
function read(key: string, operator: string, ...values: readonly string[]): readonly LabelRequirement[] {
  try {
    return parseLabelSelector({ matchExpressions: [{ key, operator, values }] });
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}
