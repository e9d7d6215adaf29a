/** From what a handler has written to the operations that the API server applies to the object it has sent. Pure. */
import type { KubeBody } from "@lotse/client";
import {
  applyMergePatch,
  deepClone,
  deepEqual,
  formatJsonPointer,
  isObject,
  type JsonPatchOperation,
  parseJsonPointer,
} from "@lotse/client/meta";
import type { PatchDraft } from "../../turn/index.ts";
import type { FieldSchema } from "../configurations/index.ts";

/** The object with everything that the handler wants; throws when that is no JSON. */
export function patchedBody(sent: KubeBody, draft: Pick<PatchDraft, "mergePatch" | "transforms">): KubeBody {
  const { mergePatch, transforms } = draft;
  if (mergePatch === undefined && transforms.length === 0) return sent;
  const body = deepClone(mergePatch === undefined ? sent : applyMergePatch<KubeBody>(sent, mergePatch));
  for (const change of transforms) change(body);
  return transforms.length === 0 ? body : (JSON.parse(JSON.stringify(body)) as KubeBody);
}

/**
 * The operations that make `wanted` of `sent`. What is replaced or taken away is tested first: a patch that was made for
 * another object than the one that it is applied to changes nothing.
 */
export function jsonPatchOf(sent: unknown, wanted: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare(sent, wanted, [], operations);
  return operations;
}

function compare(sent: unknown, wanted: unknown, path: readonly string[], operations: JsonPatchOperation[]): void {
  const at = (key: string) => formatJsonPointer([...path, key]);
  if (!isObject(sent) || !isObject(wanted)) {
    if (deepEqual(sent, wanted)) return;
    const pointer = formatJsonPointer(path);
    operations.push({ op: "test", path: pointer, value: sent }, { op: "replace", path: pointer, value: wanted });
    return;
  }
  for (const key of Object.keys(sent)) {
    if (wanted[key] !== undefined && Object.hasOwn(wanted, key)) continue;
    operations.push({ op: "test", path: at(key), value: sent[key] }, { op: "remove", path: at(key) });
  }
  for (const key of Object.keys(wanted)) {
    if (wanted[key] === undefined) continue;
    if (Object.hasOwn(sent, key)) compare(sent[key], wanted[key], [...path, key], operations);
    else operations.push({ op: "add", path: at(key), value: wanted[key] });
  }
}

/** The part of the metadata that a webhook may change; all else is the API server's, or names the object. */
const OPEN_METADATA: ReadonlySet<string> = new Set(["labels", "annotations", "finalizers", "ownerReferences"]);

/** The first thing in a patch that a webhook must not do, as a sentence that goes on from "wants to"; undefined when all is well. */
export function forbiddenChange(
  operations: readonly JsonPatchOperation[],
  { kind, schema }: { readonly kind: string; readonly schema: FieldSchema | undefined },
): string | undefined {
  for (const operation of operations) {
    if (operation.op === "test") continue;
    const path = parseJsonPointer(operation.path) ?? [];
    const [first, second] = path;
    if (first === undefined) return "replace the whole object";
    if (first === "apiVersion" || first === "kind") return `change ${first}, which says what the object is`;
    if (first === "metadata") {
      const inside = second === undefined ? keysOf(operation) : [second];
      const closed = inside.find((key) => !OPEN_METADATA.has(key));
      if (second === undefined && operation.op !== "add") return "replace the metadata as a whole";
      if (closed !== undefined) return `change metadata.${closed}, which no webhook may change`;
      continue;
    }
    if (!schema || !("value" in operation)) continue;
    const unknown = unknownField(schema, path, operation.value);
    if (unknown) return `write ${unknown.join(".")}, which ${kind} does not have`;
  }
  return undefined;
}

function keysOf(operation: JsonPatchOperation): string[] {
  return "value" in operation && isObject(operation.value) ? Object.keys(operation.value) : [];
}

/** The path of the first field that the schema has no place for; such fields the API server would drop in silence. */
function unknownField(schema: FieldSchema, path: readonly string[], value: unknown): readonly string[] | undefined {
  let node: unknown = schema;
  const seen: string[] = [];
  for (const key of path) {
    const next = below(node, key);
    seen.push(key);
    if (next === undefined) return seen;
    if (next === "anything") return undefined;
    node = next;
  }
  return unknownInside(node, value, path);
}

function unknownInside(node: unknown, value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const next = isObject(node) && isObject(node.items) ? node.items : undefined;
      const unknown = next && unknownInside(next, item, [...path, String(at)]);
      if (unknown) return unknown;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  for (const key of Object.keys(value)) {
    const next = below(node, key);
    if (next === "anything") continue;
    const unknown = next === undefined ? [...path, key] : unknownInside(next, value[key], [...path, key]);
    if (unknown) return unknown;
  }
  return undefined;
}

/** What the schema says of a key: its own node, that anything may be there, or that nothing may. */
function below(node: unknown, key: string): FieldSchema | "anything" | undefined {
  if (!isObject(node)) return "anything";
  if (isObject(node.properties) && Object.hasOwn(node.properties, key)) return node.properties[key] as FieldSchema;
  if (isObject(node.items) && /^\d+$/.test(key)) return node.items;
  if (isObject(node.additionalProperties)) return node.additionalProperties;
  if (node.additionalProperties === true || node["x-kubernetes-preserve-unknown-fields"] === true) return "anything";
  if (node["x-kubernetes-embedded-resource"] === true) return "anything";
  return isObject(node.properties) || node.type !== undefined ? undefined : "anything";
}
