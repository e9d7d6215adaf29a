/**
 * What a list asks for, in a form that can be found quickly: a query is filed under one of its equalities (its place),
 * so that an event has to look at the few places that the object is in and not at every query. Pure.
 */
import type { KubeBody } from "@lotse/client";
import {
  type FieldSelector,
  type FieldSelectorInput,
  formatFieldSelector,
  formatLabelSelector,
  type LabelSelector,
  type LabelSelectorInput,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from "@lotse/client/meta";
import { valueAt } from "../declare/index.ts";

/** A property that objects are found by: `l:app` a label, `f:spec.nodeName` a field, `u` an owner, `n` nothing but the namespace. */
export type Dimension = `l:${string}` | `f:${string}` | "u" | "n";

/** What is asked for. */
export interface QueryInput {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly fieldSelector?: FieldSelectorInput | undefined;
  /** The uid of an owner. */
  readonly owner?: string | undefined;
}

/** A query, ready to be filed. */
export interface Query {
  readonly namespace: string | undefined;
  readonly dimension: Dimension;
  readonly value: string;
  /** What an object at its place still has to satisfy; undefined when being there is enough. */
  readonly test: ((body: KubeBody) => boolean) | undefined;
  /** The test as a text, from which {@link testFrom} makes it again; undefined where there is none. */
  readonly rest: string | undefined;
  /** In words, for people. */
  readonly text: string;
}

/** Stands between the labels and the fields of a text. */
const MARK = "\u0000";

/** See the module comment. */
export function readQuery({ namespace, labelSelector, fieldSelector, owner }: QueryInput): Query {
  const labels = parseLabelSelector(labelSelector);
  const fields = parseFieldSelector(fieldSelector);
  const parts = [formatLabelSelector(labels), formatFieldSelector(fields), owner && `owner ${owner}`];
  const text = parts.filter(Boolean).join(" ");
  const rest = `${parts[0]}${MARK}${parts[1]}`;
  const at = <D extends Dimension>(dimension: D, value: string, left: readonly [LabelSelector, FieldSelector]) => {
    const test = testOf(...left);
    return { namespace, dimension, value, test, rest: test && rest, text };
  };
  if (owner !== undefined) return at("u", owner, [labels, fields]);
  const label = labels.find(isEquality);
  if (label) return at(`l:${label.key}`, label.values[0] ?? "", [labels.filter((one) => one !== label), fields]);
  const field = fields.find(({ operator }) => operator === "=");
  if (field) return at(`f:${field.field}`, field.value, [labels, fields.filter((one) => one !== field)]);
  return at("n", "", [labels, fields]);
}

function isEquality({ operator, values }: LabelSelector[number]): boolean {
  return (operator === "=" || operator === "in") && values.length === 1;
}

function testOf(labels: LabelSelector, fields: FieldSelector): Query["test"] {
  if (labels.length === 0 && fields.length === 0) return undefined;
  return (body) => matchesLabels(labels, body.metadata?.labels) && matchesFields(fields, (path) => fieldOf(body, path));
}

/** The test behind a text. A text takes a tenth of the memory, and is needed only when an object is at its place. */
export function testFrom(rest: string): (body: KubeBody) => boolean {
  const [labels, fields] = rest.split(MARK);
  return testOf(parseLabelSelector(labels), parseFieldSelector(fields)) ?? (() => true);
}

/** A text as people read it. */
export function restText(rest: string): string {
  return rest.split(MARK).filter(Boolean).join(" ");
}

/** The values that an object has in a dimension. */
export function valuesIn(dimension: Dimension, body: KubeBody): readonly string[] {
  if (dimension === "n") return [""];
  if (dimension === "u") return body.metadata?.ownerReferences?.map(({ uid }) => uid) ?? [];
  const key = dimension.slice(2);
  if (dimension.startsWith("f:")) return [fieldOf(body, key)];
  const value = body.metadata?.labels?.[key];
  return value === undefined ? [] : [value];
}

/** Field selectors compare texts; what is not there is empty. */
function fieldOf(body: KubeBody, path: string): string {
  const value = valueAt(body, path.split("."));
  return value === undefined || value === null ? "" : String(value);
}

/** Where a query is filed, and where an object that it may be about is looked for. `namespace` undefined: all. */
export function placeOf(dimension: Dimension, value: string, namespace: string | undefined): string {
  return `${dimension}=${value}@${namespace ?? "*"}`;
}
