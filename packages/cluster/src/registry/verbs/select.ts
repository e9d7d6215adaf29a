import {
  type FieldSelector,
  formatShardSelector,
  type LabelSelector,
  lookup,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
  shardMatcher,
} from "@lotse/client/meta";
import { badRequest } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import type { Endpoint } from "../resource.ts";
import { parseShardSelector } from "./shard.ts";

/** Which objects of a collection a request is about. */
export interface Selection {
  readonly namespace: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** A part of the collection by the hash of uids or namespaces, in words and as a question; undefined: all of it. */
  readonly shard?: { readonly selector: string; readonly has: (object: ApiObject) => boolean } | undefined;
}

/** Reads the selectors of a query; what cannot be understood is a bad request. */
export function parseSelection(
  endpoint: Endpoint,
  namespace: string | undefined,
  labelSelector: string | null,
  fieldSelector: string | null,
  shardSelector: string | null = null,
): Selection {
  const shard = shardSelector ? parseShard(shardSelector) : undefined;
  try {
    const labels = parseLabelSelector(labelSelector ?? undefined);
    const fields = parseFieldSelector(fieldSelector ?? undefined);
    for (const { field } of fields) checkField(endpoint, field);
    return { namespace, labels, fields, ...(shard && { shard }) };
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

/** What is understood here is what clients write that know the form; a server of Kubernetes reads more of CEL. */
function parseShard(text: string): Selection["shard"] {
  const parsed = parseShardSelector(text);
  if (!parsed) throw badRequest(`unable to parse shardSelector: ${JSON.stringify(text)}`);
  return { selector: formatShardSelector(parsed), has: shardMatcher(parsed) };
}

function checkField(endpoint: Endpoint, field: string): void {
  if (field === "metadata.name") return;
  const { strategy, namespaced } = endpoint.resource;
  if (field === "metadata.namespace" && (namespaced || !endpoint.resource.custom)) return;
  if (Object.hasOwn(strategy.fieldLabels, field) || fieldsOf(endpoint).includes(field)) return;
  throw badRequest(
    strategy.ownFieldLabels
      ? `field label not supported: ${field}`
      : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** Fields that this version of a custom resource declares selectable. */
function fieldsOf(endpoint: Endpoint): readonly string[] {
  return Object.keys(endpoint.version.selectable ?? {});
}

/** Whether a list or a watch shows the object. */
export function selects(selection: Selection, endpoint: Endpoint, object: ApiObject): boolean {
  if (selection.namespace !== undefined && object.metadata.namespace !== selection.namespace) return false;
  if (selection.shard && !selection.shard.has(object)) return false;
  if (!matchesLabels(selection.labels, object.metadata.labels)) return false;
  if (selection.fields.length === 0) return true;
  return matchesFields(selection.fields, (field) => {
    if (field === "metadata.name") return object.metadata.name;
    if (field === "metadata.namespace") return object.metadata.namespace ?? "";
    return (lookup(endpoint.resource.strategy.fieldLabels, field) ?? lookup(endpoint.version.selectable, field))?.(
      object,
    );
  });
}

/** Whether neither labels nor fields nor a shard are asked for, so that no object has to be looked at. */
export function selectsEverything(selection: Selection): boolean {
  return selection.shard === undefined && selection.labels.length === 0 && selection.fields.length === 0;
}
