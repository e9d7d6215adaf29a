/**
 * Which objects of a kind is the server asked for, by the settings? Pure. What follows from the filters of handlers is in
 * common-labels.ts.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import {
  type FieldSelector,
  type FieldSelectorInput,
  formatFieldSelector,
  formatLabelSelector,
  isObject,
  type LabelSelector,
  type LabelSelectorInput,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from "@lotse/client/meta";
import { valueAt } from "./filters.ts";
import { describeSelector, parseSelector, type SelectorInput, selects } from "./selectors.ts";

/**
 * Kinds with what is asked for of each: by their names, or, where a name is not enough, as pairs.
 *
 * @example
 * ```ts
 * const byName: KindSelectors<string> = { pods: "app=web", "deployments.apps": "tier in (web,db)" };
 * const asPairs: KindSelectors<string> = [[everything.in({ group: "example.com" }), "managed=yes"]];
 * ```
 */
export type KindSelectors<S> = Readonly<Record<string, S>> | readonly (readonly [SelectorInput, S])[];

/** One entry of the settings, read. */
export interface SelectorRule<S> {
  /** The kinds, in words. */
  readonly resource: string;
  readonly selects: (kind: KindDescription) => boolean;
  readonly selector: S;
}

/** Which objects are asked for. Empty: all. */
export interface ServerSelection {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** What the settings say. */
export interface SelectorPlan {
  readonly labels: readonly SelectorRule<LabelSelector>[];
  readonly fields: readonly SelectorRule<FieldSelector>[];
}

/** An entry that is for no kind. */
export interface IdleSelector {
  readonly setting: "settings.watching.labelSelectors" | "settings.watching.fieldSelectors";
  readonly resource: string;
}

/** Reads `settings.watching.labelSelectors`; throws where a kind or a selector cannot be read. */
export function planLabelSelectors(input: KindSelectors<LabelSelectorInput>): SelectorPlan["labels"] {
  return rulesOf(input, parseLabelSelector);
}

/** Reads `settings.watching.fieldSelectors`; throws where a kind or a selector cannot be read. */
export function planFieldSelectors(input: KindSelectors<FieldSelectorInput>): SelectorPlan["fields"] {
  return rulesOf(input, parseFieldSelector);
}

function rulesOf<I, S>(input: KindSelectors<I>, parse: (input: I) => S): SelectorRule<S>[] {
  const pairs: readonly (readonly [SelectorInput, I])[] = isPairs(input) ? input : Object.entries(input);
  return pairs.map(([resource, selector]) => ({
    resource: describeSelector(parseSelector(resource)),
    selects: (kind) => selects(resource, kind),
    selector: parse(selector),
  }));
}

function isPairs<I>(input: KindSelectors<I>): input is readonly (readonly [SelectorInput, I])[] {
  return Array.isArray(input);
}

/** All that the settings say of a kind, joined; undefined when they say nothing. */
export function selectionOf(plan: SelectorPlan, kind: KindDescription): ServerSelection | undefined {
  const labels = plan.labels.filter((rule) => rule.selects(kind)).flatMap(({ selector }) => selector);
  const fields = plan.fields.filter((rule) => rule.selects(kind)).flatMap(({ selector }) => selector);
  if (labels.length + fields.length === 0) return undefined;
  return {
    labels: distinct(labels, (one) => formatLabelSelector([one])),
    fields: distinct(fields, (one) => formatFieldSelector([one])),
  };
}

/** Entries of the settings that are for none of these kinds: perhaps they are misspelt, and all objects are sent. */
export function idleSelectors(plan: SelectorPlan, kinds: readonly KindDescription[]): IdleSelector[] {
  const idle = (setting: IdleSelector["setting"], rules: readonly SelectorRule<unknown>[]) =>
    rules.filter((rule) => !kinds.some(rule.selects)).map(({ resource }) => ({ setting, resource }));
  return [
    ...idle("settings.watching.labelSelectors", plan.labels),
    ...idle("settings.watching.fieldSelectors", plan.fields),
  ];
}

/** Sorted, so that the same question is always asked in the same words. */
export function distinct<T>(terms: readonly T[], format: (term: T) => string): T[] {
  const byText = new Map(terms.map((term) => [format(term), term]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, term]) => term);
}

/** A selection in words, for people: `app=web, status.phase=Running`. */
export function describeSelection({ labels, fields }: ServerSelection): string {
  return [formatLabelSelector(labels), formatFieldSelector(fields)].filter(Boolean).join(",");
}

/**
 * Whether an object is one that the server sends. Of fields it is a guess, though nearly always right: how a server reads
 * one is its own affair, but it is named like the place where the value is.
 */
export function isSelected({ labels, fields }: ServerSelection, body: KubeBody): boolean {
  return matchesLabels(labels, body.metadata?.labels) && matchesFields(fields, (path) => fieldOf(body, path));
}

function fieldOf(body: KubeBody, path: string): string {
  const value = valueAt(body, path.split("."));
  return value === undefined || value === null || isObject(value) ? "" : String(value);
}
